"""The string people see is the user's own, and says exactly the words the edits mean."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from riseq.core.edits import DELETE, KEEP, MARKER, Edit, Op, apply
from riseq.text.realise import realise
from riseq.text.words import forms, split
from riseq.types import Step, TextEdit


def insert(phrase: str) -> Edit:
    return Edit(Op.INSERT, tuple(phrase.split()))


def substitute(phrase: str = "") -> Edit:
    return Edit(Op.SUBSTITUTE, tuple(phrase.split()))


def make(text: str, changes: dict[int, Edit]) -> list[Edit]:
    """Return edits that are KEEP but for ``changes``."""
    return [changes.get(position, KEEP) for position in range(len(split(text)) + 1)]


def write(text: str, changes: dict[int, Edit], *context: str) -> str:
    edits = make(text, changes)
    step = realise(text, edits, context)
    assert forms(step.text) == apply([MARKER, *forms(text)], edits)[1:]
    return step.text


S, D = substitute(), DELETE
CASES = [
    # Kept words and their spacing
    ("What did  Zappa do, eh ?", {4: insert("then")}, "What did  Zappa do then, eh ?", "untouched spacing stays"),
    ("When did Ira Hayes die?", {3: substitute("he"), 4: S}, "When did he die?", "a run becomes one phrase"),
    ("What happened to Zappa in 1969 ?", {5: D, 6: D}, "What happened to Zappa?", "no space before a touched mark"),
    ("  Is it good?  ", {3: substitute("bad")}, "  Is it bad?  ", "the ends are the user's own"),
    ("  Is it good?  ", {1: D, 4: D}, "It good", "no loose spaces where the ends were edited"),
    ("Really?", {1: D, 2: D}, "", "nothing is left"),
    ("   ", {0: insert("what else ?")}, "what else?", "a text without words"),
    # Marks
    ("Tell me about it", {4: insert("?")}, "Tell me about it?", "a question mark holds on to its word"),
    ('Who sang "Blue Monday" live?', {4: substitute("it"), 5: S}, 'Who sang "it" live?', "quotes stay around"),
    ('Who sang "Blue Monday"?', {6: insert("live")}, 'Who sang "Blue Monday" live?', "a closing quote stays closed"),
    ("Who sang it?", {3: substitute('" blue monday "')}, 'Who sang "blue monday"?', "new quotes open and close"),
    ("Who sang it?", {3: substitute("' hurt '")}, "Who sang 'hurt'?", "new single quotes open and close"),
    ("What did (the band) do?", {4: substitute("they"), 5: S}, "What did (they) do?", "brackets hold on"),
    ("What did it do?", {3: substitute("the band ( uk )")}, "What did the band (uk) do?", "new brackets"),
    ("Was it good?", {3: substitute("well - known")}, "Was it well-known?", "a hyphen joins"),
    ("Is rock/pop/jazz ok?", {4: D, 5: D}, "Is rock/jazz ok?", "a slash joins what is left"),
    ("Was it 3.5 million?", {5: substitute("7")}, "Was it 3.7 million?", "a number stays one"),
    ("Was it much?", {3: substitute("1 , 000 , 000")}, "Was it 1,000,000?", "a new number is one"),
    ("Was it in Rome?", {4: substitute("rome , italy , 2000")}, "Was it in Rome, italy, 2000?", "a list is no number"),
    ("Was it $5?", {4: substitute("10")}, "Was it $10?", "the dollar sign stays"),
    ("北京 is where?", {1: D}, "京 is where?", "ideographs have no spaces"),
    ("北京?", {2: substitute("海")}, "北海?", "a new ideograph has none either"),
    ("Is it 👍🏽 now?", {4: D, 3: substitute("good")}, "Is it good?", "an emoji with its skin tone goes as one"),
    # Possessives and contractions
    ("What was Ira Hayes' job?", {3: substitute("his"), 4: S, 5: S}, "What was his job?", "the apostrophe goes too"),
    ("What is Zappa's best song?", {3: substitute("the man")}, "What is the man's best song?", "kept 's"),
    ("Is it good?", {2: substitute("the band ' s")}, "Is the band's good?", "new 's"),
    ("Is it good?", {2: substitute("the beatles ' song")}, "Is the beatles' song good?", "a plural's possessive"),
    ("Why go?", {1: insert("didn ' t he")}, "Why didn't he go?", "a contraction"),
    ("Is it late?", {3: substitute("ten o ' clock")}, "Is it ten o'clock?", "o'clock"),
    ("What is it?", {2: substitute("' s")}, "What's it?", "a contraction on a kept word"),
    ("Zappa’s wife?", {1: substitute("he")}, "He’s wife?", "the typographic apostrophe"),
    # Capitals
    ("In 1969, what happened?", {1: D, 2: D, 3: D}, "What happened?", "the new first word gets the capital"),
    ("in 1969, what happened?", {1: D, 2: D, 3: D}, "what happened?", "unless the user had none"),
    ("What happened?", {0: insert("and")}, "And what happened?", "the old first word loses it"),
    ("I won what?", {0: insert("and")}, "And I won what?", "I is I"),
    ("Frank Zappa did what?", {0: insert("and")}, "And Frank Zappa did what?", "a name stays a name"),
    ("NASA did what?", {0: insert("and")}, "And NASA did what?", "an acronym too"),
    ("Is eBay ok?", {1: D}, "eBay ok?", "eBay has its capital elsewhere"),
    ("Did he say so?", {3: insert("that i ' m wrong")}, "Did he say that I'm wrong so?", "a new I"),
    ("How long is the Suez Canal now?", {5: D}, "How long is the canal now?", "a noun that is left of a name"),
    ("Who won the Battle of Hastings?", {5: D, 6: D}, "Who won the battle?", "the same before of"),
    ("Why did the Thirty Years' War end?", {4: D, 5: D, 6: D}, "Why did the war end?", "the same behind an owner"),
    ("Who sat in the British House of Commons?", {5: D}, "Who sat in the House of Commons?", "still a name"),
    ("Where is the old Canal Street?", {4: D}, "Where is the Canal Street?", "a name goes on"),
    ("Are the London Tower and Shard tall?", {3: D}, "Are the Tower and Shard tall?", "so it does behind and"),
    ("Who owns the Chicago Bulls?", {4: D}, "Who owns the Bulls?", "no noun that names are made with"),
    ("Was The Cult's tour good?", {3: D, 4: D, 5: D}, "Was the tour good?", "a capital of a name that is gone"),
    ("Was The Who Sell Out good?", {4: D, 5: D}, "Was The Who good?", "but not of one that is still there"),
    ("Well? The Cult toured?", {4: substitute("band")}, "Well? The band toured?", "nor a sentence's first"),
    ("Well? The Cult toured?", {3: substitute("it"), 4: S}, "Well? It toured?", "but its new first word gets it"),
    ("well? the Cult toured?", {3: substitute("it"), 4: S}, "well? it toured?", "if the old one had it"),
    ("WHO IS ZAPPA?", {3: substitute("he")}, "WHO IS HE?", "capitals throughout"),
    ("Did Zappa leave?", {4: insert("with zappa")}, "Did Zappa leave? with Zappa", "a name seen"),
    ("Is ß ok?", {1: D}, "ß ok?", "a letter whose capital would be two"),
    ("Is it on Disney+?", {5: insert("in rome")}, "Is it on Disney+ in rome?", "what held on to a plus"),
    ("Is C# hard?", {3: insert("now")}, "Is C# now hard?", "a sharp that holds on to its letter"),
]


@pytest.mark.parametrize(("text", "changes", "wanted", "why"), CASES, ids=[case[3] for case in CASES])
def test_texts_are_written_as_a_person_writes(text: str, changes: dict[int, Edit], wanted: str, why: str) -> None:
    assert write(text, changes) == wanted, why


@pytest.mark.parametrize(
    ("phrase", "context", "wanted"),
    [
        ("the grammy", "He won a Grammy.", "Did he win the Grammy?"),
        ("the beatles", "Songs by The Beatles", "Did he win The Beatles?"),
        ("the beatles", "The Beatles won.", "Did he win the Beatles?"),  # "The" only starts the sentence
        ("frank zappa", "Frank Zappa", "Did he win Frank Zappa?"),
        ("of the", "One of The Beatles", "Did he win of the?"),
        ("beyonce", "I heard Beyoncé sing", "Did he win Beyoncé?"),
        ("the u . s . army", "He joined the U.S. Army in 1970", "Did he win the U.S. Army?"),
        ("it", "He was in It, the film", "Did he win it?"),
        ("bands", "Bands won.", "Did he win bands?"),  # a capital that is only the sentence's says nothing
        ("prizes", "THE PRIZES WERE GIVEN TO ALL", "Did he win prizes?"),  # nor does a shout
        ("apple", "The Apple fell. An apple fell.", "Did he win apple?"),  # seen small: no name
        ("x - ray", "an X -ray", "Did he win X -ray?"),  # a run seen before comes with its spacing
    ],
)
def test_new_words_are_written_as_the_dialogue_writes_them(phrase: str, context: str, wanted: str) -> None:
    assert write("Did he win?", {3: insert(phrase)}, context) == wanted


def test_a_dialogue_without_capitals_says_nothing_about_them() -> None:
    context = ("he wanted a grammy", "He Won His First Grammy Today", "Was it a Grammy?")
    assert write("Did he win?", {3: insert("a grammy")}, *context) == "Did he win a Grammy?"


def test_edits_say_what_changed_where() -> None:
    text = "And when did Ira Hayes die there?"
    changes = {1: DELETE, 2: insert("exactly"), 4: substitute("he"), 5: S, 7: D}
    step = realise(text, make(text, changes), probabilities=[1, 0.9, 0.8, 1, 0.7, 0.6, 1, 0.5, 1])
    assert step == Step(
        "When exactly did he die?",
        (
            TextEdit(Op.DELETE, 0, 3, "And", "", 0.9),
            TextEdit(Op.INSERT, 8, 8, "", "exactly", 0.8),
            TextEdit(Op.SUBSTITUTE, 13, 22, "Ira Hayes", "he", 0.6),
            TextEdit(Op.DELETE, 27, 32, "there", "", 0.5),
        ),
    )


def test_edits_without_effect_are_no_edits() -> None:
    text = "What  did ZAPPA do ?"
    changes = {0: insert(""), 2: substitute("did zappa"), 3: S, 4: insert("")}
    assert realise(text, make(text, changes)) == Step(text)


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        ([KEEP], "1 edits for 3 tokens"),
        ([DELETE, KEEP, KEEP], "marker"),
        ([KEEP, substitute("a"), substitute("b")], "one phrase"),
    ],
)
def test_edits_that_do_not_fit_are_refused(edits: list[Edit], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        realise("Why not", edits)


def test_probabilities_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="1 probabilities for 2 edits"):
        realise("Why", [KEEP, DELETE], probabilities=[0.5])


@given(st.text())
@example("")
@example(" \t\u3000 ")
@example("\ufeff👩🏽\u200d🚀 cafe\u0301 ?\n")
def test_no_edits_return_the_input_exactly(text: str) -> None:
    assert realise(text, [KEEP] * (len(split(text)) + 1)) == Step(text)


ORDINARY = [
    "what",
    "did",
    "the",
    "band",
    "he",
    "i",
    "s",
    "t",
    "o",
    "ll",
    "1",
    "000",
    "2000",
    "zappa",
    "ß",
    "café",
    "北",
]
MARKS = [
    "?",
    "!",
    ".",
    ",",
    ";",
    ":",
    "(",
    ")",
    "[",
    "]",
    "'",
    "’",
    '"',
    "“",
    "”",
    "-",
    "/",
    "&",
    "$",
    "%",
    "…",
    "—",
    "+",
]
written = st.sampled_from(
    [word for each in ORDINARY for word in (each, each.title(), each.upper())] + MARKS + ["🎵", "eBay"]
)
texts = st.lists(st.tuples(written, st.sampled_from(["", " ", " ", "  ", "\n"])), max_size=12).map(
    lambda pairs: "".join(word + gap for word, gap in pairs)
)
phrases = st.lists(st.sampled_from([forms(word)[0] for word in ORDINARY + MARKS]), max_size=5).map(tuple)
ops = st.sampled_from(list(Op))


@st.composite
def edited(draw: st.DrawFn) -> tuple[str, list[Edit], list[str]]:
    text = draw(texts)
    edits = [Edit(Op.INSERT, draw(phrases)) if draw(st.booleans()) else KEEP]
    for _ in split(text):
        op = draw(ops)
        inside = op is Op.SUBSTITUTE and edits[-1].op is Op.SUBSTITUTE
        edits.append(Edit(op, () if inside or op in (Op.KEEP, Op.DELETE) else draw(phrases)))
    return text, edits, draw(st.lists(texts, max_size=2))


@given(edited())
def test_the_words_people_see_are_the_words_the_edits_mean(case: tuple[str, list[Edit], list[str]]) -> None:
    text, edits, context = case
    step = realise(text, edits, context)
    assert forms(step.text) == apply([MARKER, *forms(text)], edits)[1:]
    end = 0
    for change in step.edits:
        assert end <= change.start <= change.end
        assert text[change.start : change.end] == change.old
        end = change.end


@given(edited())
def test_kept_words_keep_their_characters(case: tuple[str, list[Edit], list[str]]) -> None:
    text, edits, _ = case
    kept = [
        text[word.start : word.end] for word, edit in zip(split(text), edits[1:], strict=True) if edit.op is Op.KEEP
    ]
    words = iter(
        realise(text, edits).text[word.start : word.end].casefold() for word in split(realise(text, edits).text)
    )
    assert all(any(surface.casefold() == word for word in words) for surface in kept)
