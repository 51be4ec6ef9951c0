"""Training with phrases that are copied from what is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from killed import Killed, Killer
from riseq.core.batch import PhraseIndex, index_phrases
from riseq.core.copyable import make_copyable
from riseq.core.edits import MARKER, Edit, Op, apply
from riseq.core.packed import Interner
from riseq.train.actions import draw_guided, find_phrases, gold_actions, reach
from riseq.train.corpus import States, start_states
from riseq.train.loop import TrainResult, train
from riseq.train.policy import load_ensemble
from riseq.train.processes import Processes
from riseq.train.rise import RiseTask
from riseq.train.settings import RiseSettings
from riseq.train.tracking import Tracker
from riseq.types import InputError
from tiny_world import NAMES, THINGS, VERBS, Row, write_rows

Make = Callable[..., RiseSettings]


@pytest.fixture(scope="module")
def resolved(world: Path) -> str:
    """Pairs the other way round: "it" becomes what the dialogue is about, which the vocabulary has not got."""
    rows: list[Row] = []
    for entity in NAMES + THINGS:
        for verb in VERBS:
            row = {"context": [f"Tell me about {entity}.", f"{entity} is well known."], "question": f"Did it {verb}?"}
            rows.append({"id": str(len(rows)), **row, "target": f"Did {entity} {verb}?"})
    return str(write_rows(world / "resolved.qa.jsonl", rows))


@pytest.fixture
def make_copying(make_settings: Make, resolved: str) -> Make:
    return lambda **changes: make_settings(
        **{"train": (resolved,), "dev": (resolved,), "copies": 4, "phrases": 1, **changes}
    )


def run(settings: RiseSettings, out: Path, resume: bool = False) -> TrainResult:
    return train(settings, out, resume, Tracker(out, every=1))


def read_exact(result: TrainResult) -> float:
    (scores,) = result.scores.values()
    return float(scores["exact"])


def read_log(out: Path) -> str:
    return "".join(line.split(",")[2] for line in (out / "log.csv").read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize("changes", [{"method": "mle"}, {"joint": True, "sampler": "posterior"}], ids=str)
def test_phrases_that_the_vocabulary_lacks_are_learnt(
    make_copying: Make, tmp_path: Path, changes: dict[str, object]
) -> None:
    assert read_exact(run(make_copying(epochs=6, **changes), tmp_path / "copied")) > 80
    assert read_exact(run(make_copying(epochs=6, copies=0, **changes), tmp_path / "said")) < 20


def test_a_vocabulary_may_be_empty_where_phrases_are_copied(make_copying: Make, tmp_path: Path) -> None:
    assert read_exact(run(make_copying(epochs=6, min_count=99, method="mle"), tmp_path)) > 80


@pytest.mark.parametrize(
    "changes",
    [
        {"method": "epsilon", "above_nothing": True, "samples": 2, "reward_floor": None},
        {"joint": True, "likelihood_epochs": 1, "beside": True, "own_share": 1.0, "risk_epochs": 1, "micro_batches": 2},
        {"joint": True, "beside": True, "risk_epochs": 2, "risk_passes": 2, "risk": "baseline"},
        {"risk_epochs": 2, "risk": "baseline", "stops": True, "sampler": "posterior", "reward_scale": "bounded"},
    ],
    ids=str,
)
def test_every_method_runs(make_copying: Make, tmp_path: Path, changes: dict[str, object]) -> None:
    result = run(make_copying(epochs=3, risk_samples=4, **changes), tmp_path)
    assert read_exact(result) >= 0
    assert "nan" not in (tmp_path / "log.csv").read_text(encoding="utf-8")


def test_a_killed_run_resumes_to_the_same_result(make_copying: Make, tmp_path: Path) -> None:
    settings = make_copying(epochs=3)
    whole = run(settings, tmp_path / "whole")

    with pytest.raises(Killed):
        train(settings, tmp_path / "cut", False, Killer(tmp_path / "cut", every=1))
    assert run(settings, tmp_path / "cut", resume=True).scores == whole.scores
    assert read_log(tmp_path / "cut") == read_log(tmp_path / "whole")


def test_a_model_without_copies_goes_on_with_them_and_not_with_others(make_copying: Make, tmp_path: Path) -> None:
    begun = run(make_copying(epochs=1, copies=0), tmp_path / "begun")
    copier = run(make_copying(epochs=1, start=str(begun.folder), copies=2), tmp_path / "copier")
    assert RiseTask(make_copying(start=str(copier.folder), copies=0), Processes()).network.config.copies == 2
    with pytest.raises(InputError, match="copies is 2, the run's 3"):
        RiseTask(make_copying(start=str(copier.folder), copies=3), Processes())
    with pytest.raises(InputError, match="expected no teachers"):
        RiseTask(make_copying(start=str(copier.folder), copies=0, teachers=("any",)), Processes())
    task = RiseTask(make_copying(start=str(begun.folder)), Processes())
    with pytest.raises(InputError, match="it copies phrases"):
        load_ensemble([copier.folder], task.lexicon, torch.device("cpu"))


@pytest.mark.parametrize("changes", [{"copies": -1}, {"copies": 2, "teachers": ("large",)}], ids=str)
def test_what_cannot_be_is_refused(make_settings: Make, changes: dict[str, object]) -> None:
    with pytest.raises(InputError, match="copies"):
        make_settings(**changes)


@pytest.mark.parametrize("beside", [False, True])
def test_a_batch_says_where_its_words_are(make_copying: Make, beside: bool) -> None:
    task = RiseTask(make_copying(beside=beside), Processes())
    corpus, policy, interner = task.corpus, task.policy, task.lexicon.interner
    start = start_states(corpus)
    edited = States(start.example, corpus.targets)
    for states in (start, edited):
        batch = policy.collate(states, corpus)
        assert batch.copies is not None
        rows = interner.unpack(batch.copies.copyable.words)
        first, last = batch.copies.first_BC, batch.copies.last_BC
        for k, row in enumerate(rows):
            pieces: list[int] = []
            for at, word in enumerate(row):
                ids = batch.ids_BL[k, first[k, at] : last[k, at] + 1].tolist()
                marker = [task.lexicon.pieces.sep_id if at else task.lexicon.pieces.cls_id]
                assert ids == (marker if word == MARKER else task.lexicon.pieces.encode([word]))
                pieces += ids
            assert pieces == batch.ids_BL[k, : batch.lengths_B[k] - 1].tolist(), "every piece is some word's"
        shown = ["tell me about ada lovelace .", "ada lovelace is well known ."]
        question = interner.unpack(states.words)[0]
        asked = interner.unpack(corpus.sources)[0] if beside and states is edited else []
        assert rows[0] == [*(word for text in shown for word in (MARKER, *text.split())), *asked, *question]


WORDS = ["a", "b", "c", "d"]
sequences = st.lists(st.sampled_from(WORDS), max_size=5).map(lambda words: [MARKER, *words])
contexts = st.lists(st.sampled_from([*WORDS, MARKER]), max_size=7).map(lambda words: [MARKER, *words])
PHRASES = [["a"], ["b", "c"]]


def index_words(interner: Interner) -> PhraseIndex:
    return index_phrases(interner.pack(PHRASES))


@settings(deadline=None)
@given(st.lists(st.tuples(sequences, contexts), min_size=1, max_size=3), st.integers(1, 3), st.data())
def test_what_is_reached_is_what_lists_give(
    states: list[tuple[list[str], list[str]]], longest: int, data: st.DataObject
) -> None:
    interner = Interner(WORDS)
    sources, index = interner.pack([source for source, _ in states]), index_words(interner)
    copyable = make_copyable(interner.pack([context for _, context in states]), longest)
    ops: list[int] = []
    phrases: list[int] = []
    wanted = []
    for source, context in states:
        spans = {
            len(PHRASES) + i * longest + n - 1: tuple(context[i : i + n])
            for i in range(len(context))
            for n in range(1, longest + 1)
            if i + n <= len(context) and MARKER not in context[i : i + n]
        }
        known = {**{k: tuple(phrase) for k, phrase in enumerate(PHRASES)}, **spans}
        edits = []
        for _ in source:
            inserted = data.draw(st.sampled_from([None, *known]))
            ops.append(Op.KEEP if inserted is None else Op.INSERT)
            phrases.append(-1 if inserted is None else inserted)
            edits.append(Edit(Op(ops[-1]), () if inserted is None else known[inserted]))
        wanted.append(apply(source, edits))
    edits_and_phrases = np.array(ops, dtype=np.int8), np.array(phrases)
    assert interner.unpack(reach(sources, *edits_and_phrases, index, copyable)) == wanted
    backwards = make_copyable(interner.pack([context for _, context in states[::-1]]), longest)
    rows = np.arange(len(states))[::-1]
    assert interner.unpack(reach(sources, *edits_and_phrases, index, backwards, rows)) == wanted


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(sequences, sequences, contexts), min_size=1, max_size=3), st.integers(1, 3), st.integers(0, 9)
)
def test_draws_are_lost_only_where_they_can_be_neither_said_nor_copied(
    states: list[tuple[list[str], list[str], list[str]]], longest: int, seed: int
) -> None:
    interner = Interner(WORDS)
    sources, targets, read = (interner.pack([one[side] for one in states]) for side in range(3))
    index, copyable = index_words(interner), make_copyable(read, longest)
    policies = np.full((len(sources.values), 4), np.log(0.25), dtype=np.float32)
    drawn = draw_guided(sources, targets, policies, np.arange(len(states), dtype=np.uint64) + 7, index, "dps", copyable)
    made = interner.unpack(reach(sources, drawn.ops, drawn.phrases, index, copyable))
    for k, (_, target, _) in enumerate(states):
        lost = drawn.lost[sources.offsets[k] : sources.offsets[k + 1]].any()
        assert lost or made[k] == target
    start = np.repeat(targets.offsets[:-1], sources.lengths)
    end = np.minimum(start + 1 + seed % 4, np.repeat(targets.offsets[1:], sources.lengths))
    found = find_phrases(sources, targets, start, end, index, copyable)
    row = np.repeat(np.arange(len(states)), sources.lengths)
    for k, phrase in enumerate(found.tolist()):
        said = interner.unpack(targets)[row[k]][: end[k] - start[k]]
        context = states[row[k]][2]
        spots = [i for i in range(len(context)) if context[i : i + len(said)] == said and len(said) <= longest]
        copied = [len(PHRASES) + i * longest + len(said) - 1 for i in spots if MARKER not in said]
        assert phrase == (PHRASES.index(said) if said in PHRASES else min(copied, default=-1))


def test_gold_edits_copy_what_the_vocabulary_lacks() -> None:
    interner = Interner(["she"])
    sources, targets = (
        interner.pack([[MARKER, "did", "it", "win"]]),
        interner.pack([[MARKER, "did", "ira", "hayes", "win"]]),
    )
    index = index_phrases(interner.pack([["she"]]))
    read = interner.pack([[MARKER, "who", "is", "ira", "hayes", MARKER, "did", "it", "win"]])
    found = gold_actions(sources, targets, index, make_copyable(read, 2))
    assert found.phrases.tolist() == [-1, -1, 1 + 3 * 2 + 1, -1]
    assert not found.lost.any()
    assert gold_actions(sources, targets, index, make_copyable(read, 1)).lost.any(), "two words are too many"
