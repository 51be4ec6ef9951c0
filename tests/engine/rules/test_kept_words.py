"""What a resolved question keeps of its own words."""

from __future__ import annotations

import pytest

from riseq.core.edits import DELETE, KEEP, MARKER, Edit, Op, apply, substitute_run
from riseq.engine.rules.kept_words import keep_pronouns, keep_rest, undo_losses


def replace_words(question: str, taken: str, phrase: str) -> tuple[list[str], list[Edit]]:
    """Return the words of a question, and the edits that put a phrase in the place of some of them."""
    words, run = [MARKER, *question.split()], taken.split()
    at = next(k for k in range(len(words)) if words[k : k + len(run)] == run)
    edits = [KEEP] * len(words)
    edits[at] = Edit(Op.SUBSTITUTE, tuple(phrase.split()))
    substitute_run(edits, slice(at, at + len(run)))
    return words, edits


@pytest.mark.parametrize(
    ("question", "taken", "phrase", "expected", "why"),
    [
        ("who is coaching her this season ?", "her this season", "ada", "who is coaching ada this season ?", "a noun"),
        ("how old was he then ?", "he then", "mozart", "how old was mozart then ?", "then"),
        ("how old is it there ?", "it there", "the law", "how old is the law there ?", "there"),
        ("who put it down ?", "it down", "the fire", "who put the fire down ?", "a particle"),
        ("did he win any ?", "he win", "ada", "did ada win any ?", "a verb"),
        ("tell me how long it is", "it is", "alien", "tell me how long alien is", "an auxiliary"),
        ("he ' s how old ?", "he ' s", "tom", "tom is how old ?", "a contracted verb, written out behind a name"),
        ("it ' s been sold ?", "it ' s", "the mill", "the mill has been sold ?", "the other one of its kind"),
        ("they ' re made of what ?", "they ' re", "macarons", "macarons are made of what ?", "in the plural"),
        ("they ' re made of what ?", "they '", "macarons", "macarons are made of what ?", "half of it was taken"),
        ("why is that ' s a lie ?", "that ' s", "it", "why is it is a lie ?", "a demonstrative that is no determiner"),
        ("what about her sister ?", "what about her", "how old is", "how old is her sister ?", "whose sister it is"),
        ("and his wife ?", "and his", "how old is", "how old is his wife ?", "after a conjunction"),
        ("how about the second one", "how about the second one", "who made", "who made the second one", "what is new"),
    ],
)
def test_a_name_takes_the_place_of_the_pronoun_alone(
    question: str, taken: str, phrase: str, expected: str, why: str
) -> None:
    words, edits = replace_words(question, taken, phrase)
    assert " ".join(apply(words, keep_rest(words, edits))[1:]) == expected, why


@pytest.mark.parametrize(
    ("question", "taken", "phrase", "why"),
    [
        ("is it deep ?", "it deep", "the lake deep", "the phrase says it too"),
        ("is this album good ?", "this album", "emma", "a noun phrase is replaced whole"),
        ("what about her ?", "what about her", "how old is ada", "a pronoun that nothing follows"),
        ("what about its size ?", "what about its", "how big is malta ' s", "the phrase says whose"),
        ("can they both come ?", "they both", "ada and eve", "a small word that says no more"),
        ("is that it ?", "it", "alien", "a pronoun alone"),
        ("can dogs do that too ?", "do that", "eat cheese", "a verb takes the place of one"),
    ],
)
def test_what_says_no_more_goes(question: str, taken: str, phrase: str, why: str) -> None:
    words, edits = replace_words(question, taken, phrase)
    assert keep_rest(words, edits) == edits, why


@pytest.mark.parametrize(
    ("question", "taken", "phrase", "why"),
    [
        ("give me its plot", "give me its", "what", "a request is no frame"),
        ("how did the team do ?", "team", "england calls", "a noun whose article stays"),
        ("by whom ?", "by whom", "caesar", "a question word"),
        ("were they alive at that time ?", "that time", "-", "a mark says nothing"),
        ("did they tour ?", "they", "the", "an article is no pronoun"),
        ("did they win the cup that year ?", "that year", "the", "nor a noun"),
        ("who wrote the other similar book ?", "similar", "stanford", "an adjective"),
    ],
)
def test_a_loss_is_undone(question: str, taken: str, phrase: str, why: str) -> None:
    words, edits = replace_words(question, taken, phrase)
    assert undo_losses(words, edits) == [KEEP] * len(words), why


@pytest.mark.parametrize(
    ("question", "taken", "phrase", "why"),
    [
        ("when was the band founded ?", "the band", "oasis", "a name for a noun phrase"),
        ("did this album sell ?", "this album", "emma", "or for one with a demonstrative"),
        ("who sang in that film ?", "in that film", "in emma", "with its preposition"),
        ("what about germany ?", "what about", "what is the capital of", "a frame asks nothing"),
        ("and germany ?", "and", "what is the capital of", "nor does a conjunction"),
        ("are there beaches nearby ?", "nearby", "near kotor", "an adverb becomes a place"),
        ("are its walls old ?", "its", "the", "a possessive is for other rules"),
        ("did it end after this ?", "this", "the", "what an article begins a later pass may end"),
        ("when was it released ?", "it", "alien", "the plain case"),
        ("is it made ?", "made", "making", "another form of the word"),
    ],
)
def test_what_is_no_loss_stays_edited(question: str, taken: str, phrase: str, why: str) -> None:
    words, edits = replace_words(question, taken, phrase)
    assert undo_losses(words, edits) == edits, why


def test_a_deletion_is_a_loss_too_and_a_mark_is_none() -> None:
    words = [MARKER, "is", "it", "old", ",", "too", "?"]
    assert undo_losses(words, [KEEP, KEEP, KEEP, DELETE, KEEP, KEEP, KEEP]) == [KEEP] * 7
    without_comma = [KEEP, KEEP, KEEP, KEEP, DELETE, KEEP, KEEP]
    assert undo_losses(words, without_comma) == without_comma


NO_NOUNS = [
    ("what if it doesn ' t ?", "it", "the glass is corroded", True, "a clause"),
    ("how old is it ?", "it", "the film that is new", False, "a clause of a noun"),
    ("what if it is ?", "it is", "the glass is", False, "the question's own verb"),
    ("did he win ?", "he", "james may", False, "a name like a verb"),
    ("can i glaze it again ?", "it", "the glaze on my mug", True, "the verb as its object"),
    ("can i clean it again ?", "it", "the glaze on my mug", False, "another verb"),
    ("is that so ?", "that", "what is asked", False, "that may be a clause"),
]


@pytest.mark.parametrize(("question", "taken", "phrase", "kept", "why"), NO_NOUNS, ids=[case[4] for case in NO_NOUNS])
def test_a_pronoun_is_a_noun(question: str, taken: str, phrase: str, kept: bool, why: str) -> None:
    words, edits = replace_words(question, taken, phrase)
    assert (keep_pronouns(words, edits) != edits) == kept, why
