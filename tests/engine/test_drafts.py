"""What the network sees of a question and its dialogue, and how drafts make batches."""

from __future__ import annotations

import numpy as np
import pytest

from riseq.core.edits import DELETE, KEEP, Edit, Op
from riseq.engine.drafts import Choice, Draft, gather, split_batches, start
from riseq.model.inputs import collate
from tiny_model import make_examples, make_pieces

PIECES = make_pieces("bert")


def test_a_row_is_context_marker_question_and_a_last_mark() -> None:
    batch = gather([start("Was the film?", ("film", "band film"), PIECES, 512)], PIECES)
    cut = {word: PIECES.cut(word)[0] for word in ("film", "band", "was", "the", "?")}
    cls, sep = PIECES.cls_id, PIECES.sep_id
    row = [cls, cut["film"], sep, cut["band"], cut["film"], sep, cut["was"], cut["the"], cut["film"], cut["?"], sep]
    assert batch.ids_BL.tolist() == [row]
    assert batch.context_B.tolist() == [5]
    assert batch.firsts_BW.tolist() == [[5, 6, 7, 8, 9, 10]]


def test_a_batch_is_laid_out_as_in_training() -> None:
    drafts = [start(one.question, one.context, PIECES, 512) for one in make_examples(9)]
    assert len({draft.length for draft in drafts}) > 1
    contexts, cuts = [draft.context_ids for draft in drafts], [cut for draft in drafts for cut in draft.cuts]
    learned = collate(
        (np.concatenate(contexts), np.array(list(map(len, contexts)))),
        (np.arange(len(cuts)), np.array([len(draft.cuts) for draft in drafts])),
        (np.concatenate(cuts), np.cumsum([0, *map(len, cuts)])),
        PIECES.sep_id,
        PIECES.pad_id,
    )
    batch = gather(drafts, PIECES)
    for name in ("ids_BL", "lengths_B", "context_B", "firsts_BW", "words_B"):
        mine, theirs = getattr(batch, name), getattr(learned, name)
        assert mine.dtype == theirs.dtype
        assert np.array_equal(mine, theirs), name


def test_the_oldest_utterances_go_first_and_the_last_stays() -> None:
    context = [f"{'film ' * 10}{letter}" for letter in "abc"]
    question = "film " * 20

    def seen(max_pieces: int) -> tuple[int, int, bool]:
        draft = start(question, context, PIECES, max_pieces)
        assert draft.length <= max_pieces
        return sum(PIECES.cut(letter)[0] in draft.context_ids for letter in "abc"), len(draft.cuts), draft.truncated

    # [CLS], three utterances of 11 pieces with two marks between, the marker, 20 words and the last mark.
    assert seen(1 + 35 + 22) == (3, 21, False)
    assert seen(1 + 35 + 21) == (2, 21, True)
    assert seen(1 + 11 + 22) == (1, 21, True)
    assert seen(1 + 11 + 12) == (1, 11, True)


def test_a_network_too_small_for_anything_edits_nothing() -> None:
    draft = start("Was the film?", ("film " * 40,), PIECES, 20)
    assert not draft.editable


def test_a_draft_knows_its_row() -> None:
    for example in make_examples(40):
        draft = start(example.question, example.context, PIECES, 64)
        if draft.editable:
            assert draft.length == gather([draft], PIECES).lengths_B[0] <= 64


def make_draft(question: str) -> Draft:
    return start(question, ("A band.",), PIECES, 512)


def test_advancing_keeps_what_was_not_seen() -> None:
    # [CLS], three pieces, the marker, two words and the last mark.
    draft = start("Was the Film good?", ("film band film",), PIECES, 8)
    assert draft.unseen == 3
    choice = Choice([KEEP, KEEP, DELETE], [1.0, 1.0, 0.5])
    assert draft.advance(choice, PIECES)
    assert draft.text == "Was Film good?"
    assert draft.steps[0].edits[0].probability == 0.5
    assert draft.finish().steps == tuple(draft.steps)


def test_what_was_out_of_sight_stays_so() -> None:
    draft = start("film " * 20, ("A band.",), PIECES, 17)
    assert (len(draft.cuts), draft.unseen) == (12, 9)
    assert draft.advance(Choice([KEEP, *[DELETE] * 10, KEEP], [1.0] * 12), PIECES)
    assert (len(draft.cuts), draft.unseen) == (2, 9)


@pytest.mark.parametrize(
    "edits",
    [
        [KEEP] * 3,
        [KEEP, Edit(Op.SUBSTITUTE, ("was",)), KEEP],
        [KEEP, DELETE, DELETE],
        [Edit(Op.INSERT, ("was",)), DELETE, KEEP],
    ],
    ids=["keep", "substitute by itself", "delete all", "delete and insert"],
)
def test_a_pass_without_effect_is_no_step(edits: list[Edit]) -> None:
    draft = make_draft("Was film")
    assert not draft.advance(Choice(edits, [1.0] * 3), PIECES)
    assert (draft.text, draft.steps) == ("Was film", [])


def test_batches_hold_every_draft_once_within_the_budget() -> None:
    drafts = [start(one.question, one.context, PIECES, 512) for one in make_examples(60)]
    batches = list(split_batches(drafts, 400))
    assert sorted(map(id, drafts)) == sorted(id(draft) for batch in batches for draft in batch)
    assert all(len(batch) == 1 or len(batch) * batch[-1].length <= 400 for batch in batches)
    assert 1 < len(batches) < 40
    assert all(len(batch) == 1 for batch in split_batches(drafts, 1))
    assert list(split_batches([], 400)) == []
