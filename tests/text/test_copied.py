"""Copied words are written as the mention is, and the edit says where that is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riseq.core.edits import KEEP, MARKER, Edit, Op, apply
from riseq.text.casing import find_sentence_starts
from riseq.text.realise import Copied, find_markup, realise
from riseq.text.words import forms, split
from riseq.types import Mention

CASES = [
    ("When was it out?", ["Who directed Alien?"], "alien", "When was Alien out?"),
    ("When was it out?", ["Who directed Alien?", "An alien did."], "alien", "When was Alien out?"),
    ("When was it out?", ["Alien was a hit."], "alien", "When was Alien out?"),
    (
        "When was it out?",
        ["Solar panels are cheap.", "Are solar panels old?"],
        "solar panels",
        "When was solar panels out?",
    ),
    ("When was it out?", ["NASA's probe is gone."], "nasa ' s probe", "When was NASA's probe out?"),
    ("How old is it?", ["The dog barks."], "the dog", "How old is the dog?"),
    ("How old is it?", ["The Who played."], "the who", "How old is the Who?"),
    ("How old is it?", ["I like Björk’s café-bar."], "bjork ’ s cafe - bar", "How old is Björk’s café-bar?"),
    ("How old is it?", ["I saw my iPhone 4S here"], "iphone 4s", "How old is iPhone 4S?"),
    (
        "how old is it",
        ["tell me about marie curie", "Marie Curie was a chemist."],
        "marie curie",
        "how old is Marie Curie",
    ),
    ("HOW OLD IS IT?", ["Tell me about Rome."], "rome", "HOW OLD IS ROME?"),
    ("Is it safe?", ["What does `--force` do?"], "- - force", "Is --force safe?"),
    ("Is it safe?", ["What does the `--force` option do?"], "the ` - - force ` option", "Is the --force option safe?"),
    ("How old is it?", ["Is it $4.50 (net)?"], "$ 4 . 50 ( net )", "How old is $4.50 (net)?"),
    ("Who wrote it?", ['"The Hobbit" is old.'], '" the hobbit "', 'Who wrote "The Hobbit"?'),
    ("Who wrote it?", ['"The Hobbit" is old.'], "the hobbit", "Who wrote The Hobbit?"),
    ("Who wrote it?", ["“It” is old."], "“ it ”", "Who wrote “It”?"),
    ("Who wrote it?", ["It was a dog.", '"It" is old.'], '" it "', 'Who wrote "It"?'),
    ("Who wrote it?", ["'Don't Stop Me Now' is old."], "' don ' t stop me now '", "Who wrote 'Don't Stop Me Now'?"),
    ("Who wrote it?", ['"Alien" is old.', "An alien did."], '" alien "', 'Who wrote "Alien"?'),
    ("Who said it?", ['"The dog barks," she says.'], "the dog", "Who said the dog?"),
    ("Who wrote it?", ["To Kill a Mockingbird is old."], "to kill a mockingbird", "Who wrote To Kill a Mockingbird?"),
    ("Who wrote it?", ["Don't Look Now is old."], "don ' t look now", "Who wrote Don't Look Now?"),
    ("Who wrote it?", ["Her is old."], "her", "Who wrote Her?"),
    ("Who has it?", ["Both are old."], "both", "Who has both?"),
    ("How old is it?", ["In Paris it rains."], "in paris", "How old is in Paris?"),
    ("How old is it?", ["My Toyota broke down."], "my toyota", "How old is my Toyota?"),
    ("Why is it?", ["Can Germany win?"], "can germany", "Why is can Germany?"),
    ("Why is it?", ["Can I go?"], "can i", "Why is can I?"),
    ("Who wrote it?", ["I like _The Hobbit_."], "the hobbit _", "Who wrote The Hobbit?"),
    ("Is it bad?", ["I call `__init__` now."], "_ _ init _ _", "Is __init__ bad?"),
    ("Is it bad?", ["I call my_var now."], "my _ var", "Is my_var bad?"),
    ("Does it work?", ["How much is Apple TV+?"], "apple tv +", "Does Apple TV+ work?"),
    ("Does it work?", ["Any Galaxy S24+, new?"], "galaxy s24 +", "Does Galaxy S24+ work?"),
    ("Is it hard?", ["What is C#?"], "c #", "Is C# hard?"),
    ("Is it hard?", ["What is C++?"], "c + +", "Is C++ hard?"),
    ("Is it hard?", ["Do you know **Disney+**?"], "disney + * *", "Is Disney+ hard?"),
    ("Is it good?", ['Does the 14"?'], 'the 14 "', 'Is the 14" good?'),
    ("Is it hard?", ["Is Yahoo!?"], "yahoo !", "Is Yahoo! hard?"),
    ("Is it hard?", ["Who stars in M*A*S*H?"], "m * a * s * h", "Is M*A*S*H hard?"),
    ("Is it hard?", ["Who stars in *M*A*S*H*?"], "* m * a * s * h *", "Is M*A*S*H hard?"),
    ("Is it hard?", ["Who wrote *Titanic*'s song?"], "titanic * ' s song", "Is Titanic's song hard?"),
]


def find(context: list[str], words: list[str]) -> Copied:
    """Return the first mention of ``words``."""
    for index, text in enumerate(context):
        said = forms(text)
        for first in range(len(said)):
            if said[first : first + len(words)] == words:
                return Copied(index, first, first + len(words))
    raise AssertionError(words)


@pytest.mark.parametrize(("question", "context", "phrase", "wanted"), CASES, ids=[case[3] for case in CASES])
def test_a_mention_keeps_its_spelling(question: str, context: list[str], phrase: str, wanted: str) -> None:
    words = phrase.split()
    at = 1 + forms(question).index("it")
    edits = [KEEP] * (1 + len(split(question)))
    edits[at] = Edit(Op.SUBSTITUTE, tuple(words))
    step = realise(question, edits, context, None, {at: find(context, words)})
    assert step.text == wanted
    (said,) = [edit.refers_to for edit in step.edits]
    assert said is not None
    assert forms(context[said.utterance][said.start : said.end]) == words


def test_the_first_word_has_the_capital_that_the_question_had() -> None:
    edits = [KEEP, Edit(Op.SUBSTITUTE, ("the", "dog", "'", "s")), KEEP, KEEP]
    context = ["I like the dog."]
    assert realise("Its age?", edits, context, None, {1: Copied(0, 2, 4)}).text == "The dog's age?"
    assert realise("its age?", edits, context, None, {1: Copied(0, 2, 4)}).text == "the dog's age?"


def test_words_around_a_span_are_the_models_own() -> None:
    edits = [KEEP, KEEP, Edit(Op.INSERT, ("of", "rome", ",")), KEEP]
    step = realise("The mayor?", edits, ["Rome is old."], None, {2: Copied(0, 0, 1, before=1)})
    assert (step.text, step.edits[0].refers_to) == ("The mayor of Rome,?", Mention(0, 0, 4))


def test_what_is_copied_from_the_question_refers_to_nothing() -> None:
    edits = [KEEP, KEEP, KEEP, Edit(Op.INSERT, ("or", "rome")), KEEP]
    step = realise("Is Rome old?", edits, [], None, {3: Copied(None, 1, 2, before=1)})
    assert (step.text, step.edits[0].refers_to) == ("Is Rome old or Rome?", None)


texts = st.text(st.sampled_from("abAB éßİ'.,-$1 \t“”"), min_size=1, max_size=30).filter(lambda text: bool(forms(text)))


@given(texts, texts, st.data())
def test_the_words_people_see_are_the_words_that_were_copied(question: str, said: str, data: st.DataObject) -> None:
    words, spoken = [MARKER, *forms(question)], forms(said)
    first = data.draw(st.integers(0, len(spoken) - 1))
    stop = data.draw(st.integers(first + 1, len(spoken)))
    at = data.draw(st.integers(0, len(words) - 1))
    edits = [KEEP] * len(words)
    edits[at] = Edit(Op.INSERT, tuple(spoken[first:stop]))
    step = realise(question, edits, [said], None, {at: Copied(0, first, stop)})
    assert forms(step.text) == apply(words, edits)[1:]


def test_marks_of_markdown_are_not_copied() -> None:
    context = ["Get the 14-inch **MacBook Pro** with `zsh`."]
    for first, stop, wanted in ((1, 9, "Is the 14-inch MacBook Pro good?"), (12, 15, "Is zsh good?")):
        phrase = tuple(forms(context[0])[first:stop])
        edits = [KEEP, KEEP, Edit(Op.SUBSTITUTE, phrase), KEEP, KEEP]
        assert realise("Is it good?", edits, context, None, {2: Copied(0, first, stop)}).text == wanted


LOWER = [
    ("use sed -i on file.txt", "file . txt", "How old is file.txt?"),
    ("ask beyoncé about it", "beyonce", "How old is beyoncé?"),
    ("read https://a-b.io/c_d then", "https : / / a - b . io / c _ d", "How old is https://a-b.io/c_d?"),
    ("what does 👩‍🚀 mean", "👩🚀", "How old is 👩‍🚀?"),
    ("PLEASE READ THE README.MD OF PANDAS", "readme . md", "How old is README.MD?"),
    ("is 東京 big", "東 京", "How old is 東京?"),
]


@pytest.mark.parametrize(("said", "phrase", "wanted"), LOWER, ids=[case[1] for case in LOWER])
def test_a_dialogue_whose_capitals_say_nothing_is_copied_exactly(said: str, phrase: str, wanted: str) -> None:
    edits = [KEEP, KEEP, KEEP, KEEP, Edit(Op.SUBSTITUTE, tuple(phrase.split())), KEEP]
    assert realise("How old is it?", edits, [said], None, {4: find([said], phrase.split())}).text == wanted


PARTS = [*"abABc 1éß.,:;-_/@+#&$%()!?'’京ك", "👍🏽", "👩‍🚀", "file.txt", "3.12.1", "O'Reilly"]
spelt = st.lists(st.sampled_from(PARTS), min_size=1, max_size=30).map("".join).filter(lambda text: bool(forms(text)))


@given(spelt, st.data())
def test_what_is_copied_is_written_as_the_dialogue_writes_it(said: str, data: st.DataObject) -> None:
    words = split(said)
    first = data.draw(st.integers(0, len(words) - 1))
    stop = data.draw(st.integers(first + 1, len(words)))
    phrase = tuple(word.form for word in words[first:stop])
    if find_markup(said):
        return  # marks of Markdown go
    edits = [*[KEEP] * 4, Edit(Op.SUBSTITUTE, phrase)]
    step = realise("how old is it", edits, [said], None, {4: Copied(0, first, stop)})
    start, end = words[first].start, words[stop - 1].end
    written = " ".join(said[start:end].split())
    got = step.text.removeprefix("how old is").strip()
    assert got.lower() == written.lower()
    starts = find_sentence_starts(said)
    small = {len(" ".join((said[start : word.start] + "x").split())) - 1 for k, word in enumerate(words) if k in starts}
    assert all(a == b or at in small for at, (a, b) in enumerate(zip(got, written, strict=True))), (got, written)
