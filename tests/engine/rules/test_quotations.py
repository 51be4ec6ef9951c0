"""Copied titles end as they do in the dialogue."""

from __future__ import annotations

import pytest

from riseq.core.edits import DELETE, KEEP, MARKER, Edit, Op
from riseq.engine.rules.quotations import close_quotations
from riseq.text.realise import Copied, realise
from riseq.text.words import forms

CASES = [
    (
        "'Who Killed Cock Robin?' is old.",
        "' who killed cock robin ?",
        "Who wrote 'Who Killed Cock Robin?'?",
        "both marks",
    ),
    ('I know "Guess Who" well.', '" guess who', 'Who wrote "Guess Who"?', "the mark that is next"),
    ("“It” is old.", "“ it", "Who wrote “It”?", "a pair"),
    ("'Don't Go' is old.", "' don ' t go", "Who wrote 'Don't Go'?", "no apostrophe ends it"),
    ("“It” is old.", "“ it ”", "Who wrote “It”?", "it is there already"),
    ('I know "Guess Who is There" well.', '" guess', 'Who wrote "Guess"?', "too far off"),
    ('I know "Guess, Who is There" well.', '" guess ,', 'Who wrote "Guess"?', "and no comma before it"),
    ('The 14" screen', '14 "', 'Who wrote 14"?', "an inch opens nothing"),
    ("Guess Who? is old.", "guess who ?", "Who wrote Guess Who?", "one question mark"),
    ("Do you know Yahoo!?", "yahoo !", "Who wrote Yahoo!?", "a mark that is the name's"),
    ("Robert Downey Jr. acts.", "jr .", "Who wrote Jr.?", "and a dot"),
]


@pytest.mark.parametrize(("said", "phrase", "wanted", "why"), CASES, ids=[case[3] for case in CASES])
def test_titles_end_as_they_do_there(said: str, phrase: str, wanted: str, why: str) -> None:
    words, mention = [MARKER, *forms("Who wrote it?")], phrase.split()
    first = next(k for k in range(99) if forms(said)[k : k + len(mention)] == mention)
    edits = [KEEP, KEEP, KEEP, Edit(Op.SUBSTITUTE, tuple(mention)), KEEP]
    found, known = close_quotations(words, edits, {3: Copied(0, first, first + len(mention))}, [said])
    assert realise("Who wrote it?", found, [said], None, known).text == wanted, why


def test_what_is_around_the_copied_words_stays() -> None:
    words, said = [MARKER, *forms("Who was in it then?")], "Guess Who? is old."
    edits = [KEEP, KEEP, KEEP, Edit(Op.SUBSTITUTE, ("in", "guess", "who", "?")), Edit(Op.SUBSTITUTE), DELETE, KEEP]
    found, known = close_quotations(words, edits, {3: Copied(0, 0, 3, 1)}, [said])
    assert found[3].phrase == ("in", "guess", "who")
    assert known[3] == Copied(0, 0, 2, 1)
    edits[3] = Edit(Op.SUBSTITUTE, ("guess", "who", "?", "'", "s"))
    assert close_quotations(words, edits, {3: Copied(0, 0, 3)}, [said])[0] == edits
