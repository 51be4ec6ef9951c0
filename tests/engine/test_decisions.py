"""Choices against a backend whose scores are written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from riseq.core.edits import DELETE, KEEP, MARKER, Edit, Op, Ops, find_runs
from riseq.engine.backends import ScoreArray
from riseq.engine.decisions import choose_phrases, decide, find_row_spans
from riseq.engine.drafts import Choice, Draft, gather, start
from riseq.engine.phrasing import BestPhrase, Phrasing
from riseq.engine.rules.neighbours import substitute_subject
from riseq.model import inputs as collate
from riseq.model.inputs import Condition, SpanBatch
from riseq.types import Direction
from tiny_model import PHRASES, make_pieces

PIECES = make_pieces("bert")


@dataclass
class Written:
    """Scores as they were given."""

    edits_BWE: ScoreArray
    phrases: dict[tuple[int, int], int]

    def score_phrases(self, spans: SpanBatch) -> ScoreArray:
        scores = np.full((len(spans.row_N), len(PHRASES)), np.log(0.4 / 6), dtype=np.float32)
        for place, key in enumerate(zip(spans.row_N.tolist(), spans.word_N.tolist(), strict=True)):
            scores[place, self.phrases[key]] = np.log(0.6)
        return scores


def write(rows: list[str], phrases: dict[tuple[int, int], int]) -> Written:
    width = max(map(len, rows))
    scores = np.full((len(rows), width, 4), np.log(0.1), dtype=np.float32)
    for row, ops in enumerate(rows):
        for word, op in enumerate(ops.ljust(width, "S")):  # what stands past a row's words must not count
            scores[row, word, "KDIS".index(op)] = np.log(0.7 if word % 2 else 0.5)
    return Written(scores, phrases)


def choose_best(drafts: list[Draft], reading: Written) -> list[Choice]:
    return choose_phrases(gather(drafts, PIECES), reading, Phrasing(PHRASES), [decide(reading.edits_BWE, drafts)])[0]


@dataclass(frozen=True)
class Said(Phrasing):
    """One phrase for every span."""

    best: BestPhrase | None = None

    def find_best(self, scores_NP: ScoreArray, read_N: Sequence[Sequence[str]]) -> list[BestPhrase]:
        assert self.best is not None
        return [self.best] * len(scores_NP)


@pytest.mark.parametrize(
    ("direction", "owner", "expected", "why"),
    [
        ("resolve", BestPhrase(("zappa", "'", "s"), 0.1), ("zappa", "'", "s"), "an article would lose whose it is"),
        ("resolve", None, None, "nobody is known: the possessive stays"),
        ("simplify", None, ("the",), "the dialogue says whose"),
    ],
)
def test_a_possessive_becomes_a_name(
    direction: Direction, owner: BestPhrase | None, expected: tuple[str, ...] | None, why: str
) -> None:
    draft = start("was its own film good", ("Zappa had a film.",), PIECES, 512, direction=direction)
    reading = write(["KKSSKK"], {(0, 2): 0})
    phrasing = Said(PHRASES, best=BestPhrase(("the",), 0.6, owner=owner))
    ((choice,),) = choose_phrases(
        gather([draft], PIECES), reading, phrasing, [decide(reading.edits_BWE, [draft])], [draft]
    )
    edits = (
        [KEEP] * 6 if expected is None else [KEEP, KEEP, Edit(Op.SUBSTITUTE, expected), Edit(Op.SUBSTITUTE), KEEP, KEEP]
    )
    assert choice.edits == edits, why


def test_edits_phrases_and_probabilities_come_together() -> None:
    drafts = [start(text, ("film",), PIECES, 512) for text in ("was the film of a band", "who")]
    reading = write(["KKSSKDI", "IK"], {(0, 2): 2, (0, 6): 4, (1, 0): 6})
    first, second = choose_best(drafts, reading)
    substitute = Edit(Op.SUBSTITUTE)
    insert = Edit(Op.INSERT, ("this", "film"))
    assert first.edits == [KEEP, KEEP, Edit(Op.SUBSTITUTE, ("it",)), substitute, KEEP, DELETE, insert]
    assert first.probabilities == pytest.approx([0.5, 0.7, 0.3, 0.42, 0.5, 0.7, 0.3])
    assert second.edits == [Edit(Op.INSERT, ("there",)), KEEP]
    assert second.probabilities == pytest.approx([0.3, 0.7])


def test_phrases_are_not_scored_where_none_is_wanted() -> None:
    class Silent(Written):
        def score_phrases(self, spans: SpanBatch) -> ScoreArray:
            raise AssertionError("asked for phrases")

    drafts = [start("was the", ("film",), PIECES, 512)]
    (choice,) = choose_best(drafts, Silent(write(["KKD"], {}).edits_BWE, {}))
    assert choice.edits == [KEEP, KEEP, DELETE]


def test_the_probability_of_a_choice_counts_every_word_and_phrase_once() -> None:
    drafts = [start("was the film", ("film",), PIECES, 512)]
    (choice,) = choose_best(drafts, write(["KKSS"], {(0, 2): 2}))
    assert np.exp(choice.log_probability) == pytest.approx(0.5 * 0.7 * 0.5 * 0.7 * 0.6)


def test_layers_say_each_phrase_once() -> None:
    asked = []

    class Counting(Written):
        def score_phrases(self, spans: SpanBatch) -> ScoreArray:
            asked.append(len(spans.row_N))
            return super().score_phrases(spans)

    batch = gather([start("was the film of", ("film",), PIECES, 512)], PIECES)
    reading = Counting(write(["KKSSK"], {(0, 2): 2, (0, 4): 0}).edits_BWE, {(0, 2): 2, (0, 4): 0})
    layers = [[["KDIS".index(op) for op in ops]] for ops in ("KKSSK", "KKSSS", "KKSSI", "KKKKK")]
    chosen = [choices[0].edits[2].phrase for choices in choose_phrases(batch, reading, Phrasing(PHRASES), layers)]
    assert chosen == [("it",), ("it",), ("it",), ()]
    assert asked == [3]


ROOM = 8
GONE = (Op.DELETE, Op.SUBSTITUTE)
QUESTION = "was the film of a band ?"
DRAFT = start(QUESTION, ("film",), PIECES, 512)
SCORES = arrays(np.float32, (1, ROOM, 4), elements=st.floats(-7, -0.0625, width=32))


def bar_marker(scores_BWE: ScoreArray) -> ScoreArray:
    scores_BWE[:, 0, [Op.DELETE, Op.SUBSTITUTE]] = -1e4
    return scores_BWE


@given(SCORES.map(bar_marker), st.lists(st.floats(-3, 8), min_size=2, max_size=5))
def test_a_lower_shift_never_keeps_more(scores_BWE: ScoreArray, shifts: list[float]) -> None:
    kept = []
    for shift in sorted(shifts):
        (ops,) = decide(scores_BWE, [DRAFT], shift)
        assert ops[0] in (Op.KEEP, Op.INSERT)
        if shift < 0 and ops == decide(scores_BWE, [DRAFT])[0]:
            continue  # nothing would be left at this shift
        kept.append({place for place, op in enumerate(ops) if op in (Op.KEEP, Op.INSERT)})
    for stronger, milder in pairwise(kept):
        assert stronger <= milder


@given(SCORES.map(bar_marker))
def test_no_shift_is_the_best_edit_and_a_high_one_keeps_all(scores_BWE: ScoreArray) -> None:
    ops_BW, best_BW = np.array(decide(scores_BWE, [DRAFT])), scores_BWE.argmax(-1)
    assert (np.isin(ops_BW, GONE) == np.isin(best_BW, GONE)).all()
    assert (ops_BW == best_BW)[~np.isin(best_BW, GONE)].all()
    for first, end in np.flatnonzero(np.diff(np.isin(ops_BW[0], GONE), prepend=False, append=False)).reshape(-1, 2):
        assert len(set(ops_BW[0, first:end].tolist())) == 1, "a block goes one way"
    assert decide(scores_BWE, [DRAFT], 20.0) == [[Op.KEEP] * ROOM]


def test_a_run_is_undone_as_one() -> None:
    scores = np.full((1, ROOM, 4), -9, dtype=np.float32)
    scores[0, :, Op.KEEP] = -1
    scores[0, [2, 3, 5], Op.SUBSTITUTE] = [0, 5, 1]  # 1 and 6 above KEEP, and 2 alone
    assert [place.start for place in find_runs(decide(scores, [DRAFT], 0.0)[0])] == [2, 5]
    assert [place.start for place in find_runs(decide(scores, [DRAFT], 3.0)[0])] == [2]
    assert find_runs(decide(scores, [DRAFT], 3.0)[0]) == [slice(2, 4)]
    assert find_runs(decide(scores, [DRAFT], 3.6)[0]) == []


def test_a_shift_that_would_leave_no_word_is_none() -> None:
    draft = start("of the film in a band ?", ("film",), PIECES, 512)
    scores = np.full((1, ROOM, 4), -9, dtype=np.float32)
    scores[0, :, Op.KEEP], scores[0, 1:, Op.DELETE] = -1, -2
    scores[0, 4:7, Op.DELETE] = 0
    assert find_runs(decide(scores, [draft], -0.5)[0]) == [slice(4, 7)]
    assert find_runs(decide(scores, [draft], -1.5)[0]) == [slice(4, 7)], "only the mark would be left"


@given(SCORES.map(bar_marker), st.lists(st.floats(-3, 8), min_size=2, max_size=4))
def test_protection_leaves_strength_monotone(scores_BWE: ScoreArray, shifts: list[float]) -> None:
    draft = start(QUESTION, ("film",), PIECES, 512, protect=[("film",)])
    kept = [np.isin(decide(scores_BWE, [draft], shift)[0], (Op.KEEP, Op.INSERT)) for shift in sorted(shifts)]
    for stronger, milder in pairwise(kept):
        assert (stronger <= milder).all()


def test_what_would_go_with_a_protected_word_stays() -> None:
    draft = start(QUESTION, ("film",), PIECES, 512, protect=[("film",)])
    scores = write(["KKSSKDDK"], {}).edits_BWE
    assert find_runs(decide(scores, [draft])[0]) == [slice(5, 7)]
    assert find_runs(decide(scores, [DRAFT])[0]) == [slice(2, 4), slice(5, 7)]


@given(SCORES.map(bar_marker), st.floats(-3, 8))
def test_protected_words_are_kept_whole(scores_BWE: ScoreArray, shift: float) -> None:
    draft = start(QUESTION, ("film",), PIECES, 512, protect=[("film", "of", "a")])
    (ops,) = decide(scores_BWE, [draft], shift)
    assert ops[3:5] == [Op.KEEP] * 2
    assert ops[5] in (Op.KEEP, Op.INSERT)


@pytest.mark.parametrize("expected", [Op.DELETE, Op.SUBSTITUTE])
def test_a_mixed_block_goes_the_more_probable_way(expected: Op) -> None:
    other = Op.SUBSTITUTE if expected == Op.DELETE else Op.DELETE
    scores = np.full((1, ROOM, 4), -9, dtype=np.float32)
    scores[0, :, Op.KEEP] = -0.1
    scores[0, 3:6, Op.KEEP] = -5
    scores[0, 3:6, expected] = [-0.1, -0.4, -0.1]
    scores[0, 3:6, other] = [-3, -0.2, -3]
    assert scores[0, 3:6].argmax(-1).tolist() == [expected, other, expected]
    assert decide(scores, [DRAFT]) == [[0, 0, 0, *[expected] * 3, 0, 0]]


def test_a_noun_phrase_that_is_replaced_at_its_article_is_replaced() -> None:
    scores = np.full((1, ROOM, 4), -9, dtype=np.float32)
    scores[0, :, Op.KEEP] = -0.1
    scores[0, 2:4, Op.KEEP] = -5
    scores[0, 2, [Op.SUBSTITUTE, Op.DELETE]] = -0.1, -0.3
    scores[0, 3, [Op.SUBSTITUTE, Op.DELETE]] = -4, -0.1
    assert decide(scores, [DRAFT]) == [[0, 0, *[Op.SUBSTITUTE] * 2, 0, 0, 0, 0]]


def test_what_stands_past_a_row_joins_none_of_its_blocks() -> None:
    drafts = [start(text, ("film",), PIECES, 512) for text in ("was the film of a band", "the film")]
    scores = np.full((2, 7, 4), -9, dtype=np.float32)
    scores[:, :, Op.KEEP] = -1
    scores[1, 2, Op.DELETE] = 0
    scores[1, 3:, Op.SUBSTITUTE] = 0
    assert decide(scores, drafts)[1] == [0, 0, Op.DELETE]
    assert decide(scores, drafts, -1.0)[1] == [0, 0, Op.DELETE]


@pytest.mark.parametrize(
    ("wanted", "gone"),
    [([4, 5, 6], [4, 5, 6]), ([5, 6], []), ([4, 5], []), ([1], []), ([2, 3, 4, 5, 6], [4, 5, 6])],
    ids=["whole", "no preposition", "its noun stays", "verb", "subject too"],
)
def test_a_higher_strength_deletes_no_scraps(wanted: list[int], gone: list[int]) -> None:
    scores = np.full((1, ROOM, 4), -9, dtype=np.float32)
    scores[0, :, Op.KEEP] = -0.5
    scores[0, wanted, Op.DELETE] = -1
    assert find_runs(decide(scores, [DRAFT])[0]) == []
    assert np.flatnonzero(decide(scores, [DRAFT], -1.0)[0]).tolist() == gone


def test_the_guard_needs_answers_and_says_how_sure() -> None:
    scores = np.full((1, ROOM, 4), -9, dtype=np.float32)
    scores[0, :, Op.KEEP] = -2
    scores[0, 4:7, Op.DELETE] = -0.5  # "of a band"
    for context, sureness, goes in (
        (("The film was a hit.",), 0.0, True),
        (("The film was a hit.",), 1.0, True),
        (("The film was a hit.",), 2.0, False),
        (("The bands were a hit.",), 2.0, True),
        (("What film was it?",), 2.0, True),
    ):
        draft = start(QUESTION, context, PIECES, 512, condition=Condition.UNKNOWN)
        (ops,) = decide(scores, [draft], 0.0, sureness)
        assert (ops[4:7] == [Op.DELETE] * 3) == goes, (context, sureness)
        assert goes or not any(ops)


def test_a_name_goes_whole_unless_the_rest_is_sure_to_stay() -> None:
    draft = start("did Ira Hayes Junior sing of a Film ?", ("film",), PIECES, 512)
    scores = np.full((1, 10, 4), -9, dtype=np.float32)
    scores[0, :, Op.KEEP] = -1
    scores[0, 2, Op.SUBSTITUTE], scores[0, 3:5, Op.SUBSTITUTE] = 0, -2
    assert np.flatnonzero(decide(scores, [draft])[0]).tolist() == [2, 3, 4]
    scores[0, 4, Op.SUBSTITUTE] = -5
    assert np.flatnonzero(decide(scores, [draft])[0]).tolist() == [2, 3]
    lower = start("did ira hayes junior sing of a film ?", ("film",), PIECES, 512)
    assert np.flatnonzero(decide(scores, [lower])[0]).tolist() == [2]
    protected = start(draft.question, ("film",), PIECES, 512, protect=[("hayes",)])
    assert np.flatnonzero(decide(scores, [protected])[0]).tolist() == [2]


@given(st.lists(st.lists(st.sampled_from(Op), min_size=2, max_size=9), min_size=1, max_size=3))
def test_the_spans_are_those_the_network_learned_from(rows: list[Ops]) -> None:
    drafts = [start(" ".join(["films"] * (len(ops) - 1)), ("film",), PIECES, 512) for ops in rows]
    batch = gather(drafts, PIECES)
    ops_BW = np.array([ops + [Op.SUBSTITUTE] * (max(map(len, rows)) - len(ops)) for ops in rows])
    learned = collate.find_spans(batch, ops_BW)
    spans = [span for row, ops in enumerate(rows) for span in find_row_spans(batch, row, ops)]
    columns = (learned.row_N, learned.word_N, learned.start_N, learned.end_N)
    assert spans == list(zip(*(column.tolist() for column in columns), strict=True))


NAMED = start("Was Ira Hayes of The Band ?", ("film",), PIECES, 512)


@given(SCORES.map(bar_marker), st.lists(st.floats(-3, 8), min_size=2, max_size=5))
def test_names_leave_strength_monotone(scores_BWE: ScoreArray, shifts: list[float]) -> None:
    plain = decide(scores_BWE, [NAMED])[0]
    kept = []
    for shift in sorted(shifts):
        (ops,) = decide(scores_BWE, [NAMED], shift)
        if shift < 0 and ops == plain:
            continue  # nothing would be left at this shift
        kept.append({place for place, op in enumerate(ops) if op in (Op.KEEP, Op.INSERT)})
    for stronger, milder in pairwise(kept):
        assert stronger <= milder


@pytest.mark.parametrize(
    ("words", "ops", "expected"),
    [
        ("can type 2 diabetes be reversed ?", "KDDDKKK", "KSSSKKK"),  # a verb needs its subject
        ("did richard nixon travel ?", "KDKKK", "KDKKK"),  # the rest of the name is the subject
        ("can he be reversed ?", "KKKKK", "KKKKK"),
        ("what is the use of being good ?", "KKDDDKKK", "KKDDDKKK"),
        ("will be paid ?", "KKKK", "KKKK"),
    ],
)
def test_a_subject_between_two_verbs_is_said(words: str, ops: str, expected: str) -> None:
    letters = {"K": Op.KEEP, "D": Op.DELETE, "S": Op.SUBSTITUTE}
    found: Ops = [Op.KEEP, *(letters[letter] for letter in ops)]
    substitute_subject(found, [MARKER, *words.split()])
    assert found[1:] == [letters[letter] for letter in expected]
