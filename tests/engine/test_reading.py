"""What of a long dialogue the network reads: the last turn, and the sentences before it that a question needs."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riseq.engine import reading
from riseq.engine.dialogue import DialogueWords
from riseq.engine.drafts import start
from riseq.engine.reading import BUDGET, LAST_TURN, LONG, Reader, split_sentences
from riseq.model.inputs import ContextWindow, encode_context
from riseq.text.words import forms
from tiny_model import make_pieces

PIECES = make_pieces("bert")
WHOLE = ContextWindow(None, None)
WORDS = ("film", "band", "zappa", "song", "was", "the", "of", "she", "born")
sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(lambda words: " ".join(words) + ".")
utterances = st.lists(sentences, max_size=6).map(" ".join)
long_utterances = st.lists(sentences, min_size=4, max_size=8).map(" ".join)
contexts = st.lists(utterances, max_size=8) | st.lists(long_utterances, min_size=8, max_size=16)
questions = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8)


def make_reader(context: Sequence[str]) -> Reader:
    return Reader(DialogueWords(context), PIECES)


def read_rows(reader: Reader, question: Sequence[str], relevant: bool = True) -> list[list[int]]:
    """Return what is read of each utterance, in pieces; those of which nothing is read are left out."""
    rows: list[list[int]] = [[]]
    for piece in reader.encode(question, WHOLE, relevant).ids[1:]:
        if piece == PIECES.sep_id:
            rows.append([])
        else:
            rows[-1].append(piece)
    return [row for row in rows if row]


def is_subsequence(part: Sequence[object], whole: Sequence[object]) -> bool:
    rest = iter(whole)
    return all(any(one == other for other in rest) for one in part)


@given(contexts, questions)
def test_what_is_read_is_a_subsequence_of_the_sentences_and_the_last_turn_is_whole(
    context: list[str], question: list[str]
) -> None:
    reader = make_reader(context)
    chosen = reader.choose(question)
    assert is_subsequence(chosen, reader.sentences)
    rows, last = read_rows(reader, question), [PIECES.encode(forms(text)) for text in context[-LAST_TURN:] if text]
    assert rows[len(rows) - len(last) :] == last
    if reader.is_long:
        taken = [forms(context[one.utterance])[one.start : one.stop] for one in chosen]
        before = [piece for row in rows[: len(rows) - len(last)] for piece in row]
        assert before == PIECES.encode(word for words in taken for word in words)


@given(contexts, questions)
def test_a_dialogue_that_is_not_long_is_read_as_before(context: list[str], question: list[str]) -> None:
    reader, before = make_reader(context), encode_context(PIECES, context, WHOLE)
    assert reader.encode(question, WHOLE) == before
    assert reader.is_long == (sum(len(PIECES.encode(forms(text))) + 1 for text in context) > LONG)
    if not reader.is_long:
        assert reader.encode(question, WHOLE, relevant=True) == before


@given(contexts, questions)
def test_no_more_than_the_budget_is_read_and_truncated_is_exact(context: list[str], question: list[str]) -> None:
    reader = make_reader(context)
    if not reader.is_long:
        return
    encoded, whole = reader.encode(question, WHOLE, relevant=True), encode_context(PIECES, context, WHOLE)
    last = sum(len(PIECES.encode(forms(text))) + 1 for text in context[-LAST_TURN:])
    assert len(encoded.ids) <= max(BUDGET, last) + 1

    def count(ids: Sequence[int]) -> int:
        return sum(piece not in (PIECES.cls_id, PIECES.sep_id) for piece in ids)

    assert encoded.truncated == (count(encoded.ids) < count(whole.ids))


@given(contexts, questions)
def test_what_shares_nothing_is_not_read(context: list[str], question: list[str]) -> None:
    wanted = reading.find_subject(question)
    assert all(one.stems & wanted for one in make_reader(context).choose(question))


FILLER = ("Was the film a song? The song was of the film. " * 12, "Song of the film.")


def test_a_name_of_long_ago_is_read_and_the_talk_between_is_not() -> None:
    read = ("Who was Zappa? Born of a band.", "Was it of the song?", "It was.")
    context = (read[0], *FILLER * 3, *read[1:])
    draft = start("Was Zappa born?", context, PIECES, 512, window=WHOLE, relevant=True)
    assert draft.context_ids == encode_context(PIECES, read, WHOLE).ids
    assert draft.truncated
    assert "film" in draft.dialogue, "the rules see what the network does not"


def test_rare_words_decide_and_of_equals_the_latest() -> None:
    context = ["Zappa sang of it.", *["A band was a band of some sort there."] * 40, "So?", "Yes."]
    chosen = make_reader(context).choose(["zappa", "band"])
    assert chosen[0].utterance == 0
    assert [one.utterance for one in chosen[1:]] == list(range(41 - len(chosen[1:]), 41))
    assert 1 < len(chosen) < 41


def test_a_last_turn_longer_than_the_budget_is_read_whole_and_alone() -> None:
    context = ("Who was Zappa?", "Was the band good?", "zappa " * (LONG + 10))
    encoded = make_reader(context).encode(["zappa"], WHOLE, relevant=True)
    wanted = encode_context(PIECES, context[1:], WHOLE)
    assert (encoded.ids, encoded.truncated) == (wanted.ids, True)
    alone = make_reader(context[1:]).encode(["zappa"], WHOLE, relevant=True)
    assert alone == wanted, "there is nothing before it"
    assert not alone.truncated


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("One sentence", ["One sentence"]),
        ("First. Second! Third? Last", ["First.", "Second!", "Third?", "Last"]),
        ("Dr. No met J. Bond at 3.5 km.", ["Dr. No met J. Bond at 3.5 km."]),
        ('He said "Stop." Then he left.', ['He said "Stop."', "Then he left."]),
        ("Use these:\n- eggs\n- milk", ["Use these:", "- eggs", "- milk"]),
        ("Wait... what?", ["Wait...", "what?"]),
        ("Visit riseq.org today.", ["Visit riseq.org today."]),
        ("Café. Ünder.", ["Café.", "Ünder."]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    words = forms(text)
    assert [words[start:stop] for start, stop in split_sentences(text)] == [forms(one) for one in expected]


@given(st.text(max_size=60))
def test_sentences_are_all_of_a_text(text: str) -> None:
    found = list(split_sentences(text))
    assert [index for start, stop in found for index in range(start, stop)] == list(range(len(forms(text))))


def test_a_dialogue_is_tokenised_once_for_all_its_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    split: list[str] = []

    def count(text: str) -> list[str]:
        split.append(text)
        return forms(text)

    # A short text is remembered for every dialogue, a long one by its own.
    monkeypatch.setattr("riseq.engine.dialogue.forms", count)
    for room in ("riseq.engine.dialogue", "riseq.model.inputs"):
        monkeypatch.setattr(f"{room}.SHORT", 3)
    context = (*FILLER, "Who was Zappa?", "A band.")
    reader = make_reader(context)
    for question in ("Was Zappa born?", "Was the band good?", "Was the film of Zappa?"):
        for relevant in (False, True):
            draft = start(question, context, PIECES, 512, window=WHOLE, reader=reader, relevant=relevant)
            assert "zappa" in draft.dialogue
    assert sorted(split) == sorted(context)
