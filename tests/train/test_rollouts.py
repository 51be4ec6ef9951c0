"""Rollouts of several passes against brute force: one state at a time, one edit at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch

from riseq.core.closeness import measure_closeness
from riseq.core.edits import MARKER, Edit, Op, apply
from riseq.core.packed import pack
from riseq.model.inputs import find_spans
from riseq.train import rollouts
from riseq.train.actions import Actions, Index
from riseq.train.corpus import MAX_WORDS, States, start_states, take_rows
from riseq.train.processes import Processes
from riseq.train.rise import RiseTask
from riseq.train.risk import BEST, GUIDED, Outputs, baseline_risk, expected_risk
from riseq.train.rollouts import Pass, Recomputed, draw_outputs, find_different
from riseq.train.settings import RiseSettings
from riseq.train.step import Forward
from riseq.types import InputError
from tiny_world import NAMES, THINGS, VERBS, Row, write_rows

Make = Callable[..., RiseSettings]
SHAPES: list[dict[str, object]] = [
    {},
    {"joint": True, "copies": 3, "phrases": 1, "beside": True},
    {"copies": 3, "phrases": 1, "templates": 3, "parts": True},
]


@pytest.fixture(scope="module")
def nested(world: Path) -> str:
    """Pairs whose phrase is copied only in part: "the band of" is in no dialogue."""
    rows: list[Row] = []
    for entity in NAMES + THINGS:
        for verb in VERBS:
            row = {"context": [f"Tell me about {entity}."], "question": f"Did it {verb}?"}
            rows.append({"id": str(len(rows)), **row, "target": f"Did the band of {entity} {verb}?"})
    return str(write_rows(world / "rollouts.qa.jsonl", rows))


def make_task(make_settings: Make, nested: str, changes: dict[str, object], keep: float = 0.0) -> RiseTask:
    """Return a task without dropout, whose scores are the same whenever they are asked for, in some fixed disorder.

    The more it would ``keep``, the fewer edits does its policy make.
    """
    sets = {"train": (nested,), "dev": (nested,)} if "copies" in changes else {}
    task = RiseTask(make_settings(dropout=0.0, **sets, **changes), Processes())
    torch.manual_seed(4)
    with torch.no_grad():
        for name, parameter in task.network.named_parameters():
            if "head" in name or "edit" in name:
                parameter.add_(torch.randn_like(parameter) * 0.3)
        task.network.edit_head.bias[Op.KEEP] += keep
    task.network.train()
    return task


def start(task: RiseTask, states: States) -> tuple[Forward, Actions]:
    part = task._prepare(states, np.arange(len(states)), np.arange(len(states), dtype=np.uint64) + 5, None)
    forward = task._forward(part, None)
    return forward, task._act(forward, 1)[0]


def draw(task: RiseTask, states: States, count: int, passes: int) -> Outputs:
    return draw_outputs(task.policy, *start(task, states), count, passes, task._meet)


def first_states(task: RiseTask, count: int = 6) -> States:
    return start_states(task.corpus).take(np.arange(0, len(task.corpus), 4)[:count])


class Reader:
    """One state as the policy scores it, asked for alone and word by word."""

    def __init__(self, task: RiseTask, example: int, words: list[int]) -> None:
        self.task, self.words = task, words
        policy = task.policy
        self.batch = policy.collate(States(np.array([example]), pack([words])), task.corpus)
        self.inputs, self.copies = policy.send(self.batch), policy.send_copies(self.batch)
        self.copyable = None if self.batch.copies is None else self.batch.copies.copyable
        self.encoded = task.network.encode(self.inputs)
        self.edits = task.network.score_edits(self.encoded, self.inputs.firsts_BW)[0]

    def write(self, phrase: int) -> tuple[int, ...]:
        """Return the words of a phrase."""
        known = self.task.policy.index.phrases
        if phrase < len(known):
            return tuple(known[phrase].tolist())
        assert self.copyable is not None
        span, template = divmod(phrase - len(known), len(self.copyable.templates))
        at, more = divmod(span, self.copyable.longest)
        before, after = (
            side[template].tolist() for side in (self.copyable.templates.before, self.copyable.templates.after)
        )
        return (*before, *self.copyable.words[0][at : at + more + 1].tolist(), *after)

    def score(self, ops: list[int], phrases: list[int]) -> torch.Tensor:
        """Return the log-probability of the pass."""
        total, last = torch.zeros(()), int(Op.KEEP)
        for word, op in enumerate(ops):
            row = self.edits[word]
            total = total + (row[last, op] if row.ndim == 2 else row[op])
            last = op
        spans = find_spans(self.batch, np.array([ops]))
        if len(spans.row_N):
            policy = self.task.policy
            scores = policy.score_phrases(self.inputs, self.encoded, spans, self.copies, self.copyable)
            total = total + scores.take(np.arange(len(spans.row_N)), np.array(phrases)[spans.word_N]).sum()
        return total

    def reach(self, ops: list[int], phrases: list[int]) -> list[int]:
        """Return what the pass makes of the words."""
        texts = [str(word) for word in self.words]
        edits = []
        for op, phrase in zip(ops, phrases, strict=True):
            edits.append(Edit(Op(op), tuple(map(str, self.write(phrase))) if phrase >= 0 else ()))
        return [int(word) for word in apply(texts, edits)]


class Recorder:
    """What each rollout did, as ``take_pass`` was asked and answered."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.passes: list[tuple[States, Index, Pass]] = []
        take_pass = rollouts.take_pass

        def record(policy: object, forward: Forward, guided: Actions, row: Index, kind: Index, rng: object) -> Pass:
            made = take_pass(policy, forward, guided, row, kind, rng)  # type: ignore[arg-type]
            self.passes.append((forward.part.states.take(row), kind, made))
            return made

        monkeypatch.setattr(rollouts, "take_pass", record)


def read_taken(taken: bytes, words: int) -> tuple[list[int], list[int]]:
    """Return the operations and phrases of a pass."""
    return np.frombuffer(taken[:words], dtype=np.int8).tolist(), np.frombuffer(taken[words:], dtype=np.int64).tolist()


@pytest.mark.parametrize("changes", SHAPES, ids=str)
@pytest.mark.parametrize("passes", [1, 3])
def test_a_rollout_has_the_sum_of_its_passes_and_gradients_through_all(
    make_settings: Make, nested: str, monkeypatch: pytest.MonkeyPatch, changes: dict[str, object], passes: int
) -> None:
    task, recorder = make_task(make_settings, nested, changes), Recorder(monkeypatch)
    states = first_states(task)
    outputs = draw(task, states, 5, passes)
    count = 5 * len(states)
    assert len(recorder.passes) == passes
    # What each rollout did is followed by hand: by its kind and where it stands, one pass after the other.
    sums = [torch.zeros(()) for _ in range(count)]
    words = [states.words[n % len(states)].tolist() for n in range(count)]
    paths: list[tuple[object, ...]] = [(n % len(states),) for n in range(count)]
    lost, going = np.zeros(count, dtype=np.bool_), list(range(count))
    for met, kind, made in recorder.passes:
        assert kind.tolist() == [n // len(states) for n in going]
        next_going = []
        for k, n in enumerate(going):
            example = int(states.example[n % len(states)])
            assert (int(met.example[k]), met.words[k].tolist()) == (example, words[n])
            ops, phrases = read_taken(made.taken[k], len(words[n]))
            reader = Reader(task, example, words[n])
            sums[n] = sums[n] + reader.score(ops, phrases)
            after = reader.reach(ops, phrases)
            lost[n] |= made.lost_N[k]
            paths[n] += (tuple(ops), tuple(phrases))
            if after != words[n] and not lost[n] and 1 < len(after) <= MAX_WORDS + 1:
                next_going.append(n)
            words[n] = after
        going = next_going
    moved = sum(len(path) > 2 for path in paths)
    assert moved > 3 * (passes > 1), "the test means something only where rollouts go on"
    wanted = torch.stack(sums).view(5, -1)
    sound = torch.from_numpy(~lost).view(5, -1)
    torch.testing.assert_close(outputs.scores_KB[sound], wanted[sound], atol=2e-4, rtol=1e-4)
    repeated = np.array([path in paths[:n] for n, path in enumerate(paths)])
    assert outputs.out_KB.flatten().tolist() == (lost | repeated).tolist()
    targets = take_rows(task.corpus.targets, np.tile(states.example, 5))
    assert outputs.closeness_KB.flatten().tolist() == pytest.approx(measure_closeness(pack(words), targets))
    for loss in (expected_risk, baseline_risk):
        by_hand = Outputs(wanted, outputs.closeness_KB, outputs.before_B, outputs.out_KB)
        trained = [one for one in task.network.parameters() if one.requires_grad]
        pair = [
            torch.autograd.grad(loss(one), trained, retain_graph=True, allow_unused=True) for one in (outputs, by_hand)
        ]
        for mine, theirs in zip(*pair, strict=True):
            if mine is not None and theirs is not None:
                torch.testing.assert_close(mine, theirs, atol=1e-3, rtol=1e-2)


def list_passes(reader: Reader) -> Iterator[tuple[list[int], list[int]]]:
    """Yield every pass that the policy can take."""
    phrases = len(reader.task.policy.index.phrases)
    for ops in product(range(len(Op)), repeat=len(reader.words)):
        if ops[0] in (Op.DELETE, Op.SUBSTITUTE):
            continue  # the marker stays
        places = find_spans(reader.batch, np.array([ops])).word_N
        for chosen in product(range(phrases), repeat=len(places)):
            found = np.full(len(ops), -1)
            found[places] = chosen
            yield list(ops), found.tolist()


def test_many_draws_are_all_rollouts_and_their_risk_is_the_expected_one(make_settings: Make, nested: str) -> None:
    task = make_task(make_settings, nested, {"joint": True, "phrases": 1})
    interner, targets = task.lexicon.interner, task.corpus.targets
    words = interner.pack([[MARKER, "did"]])

    def follow(words: list[int], passes: int) -> Iterator[tuple[float, list[int]]]:
        """Yield the probability of each rollout and where it ends."""
        reader = Reader(task, 0, words)
        for ops, phrases in list_passes(reader):
            odds, after = reader.score(ops, phrases).exp().item(), reader.reach(ops, phrases)
            if after == words or len(after) == 1 or passes == 1:
                yield odds, after
            else:
                yield from ((odds * more, last) for more, last in follow(after, passes - 1))

    with torch.no_grad():
        found = list(follow(words[0].tolist(), 2))
        odds, ends = np.array([one[0] for one in found]), pack([one[1] for one in found])
        assert odds.sum() == pytest.approx(1, abs=1e-4), "every rollout ends somewhere"
        closeness = measure_closeness(ends, take_rows(targets, np.zeros(len(found), dtype=np.int64)))
        outputs = draw(task, States(np.zeros(1, dtype=np.int64), words), 6000, 2)
    counted = ~outputs.out_KB[:, 0]
    said = outputs.scores_KB[counted, 0].double().exp()
    assert 0.97 < said.sum().item() < 1.0001
    assert counted.sum() <= len(found)
    assert expected_risk(outputs).item() == pytest.approx(1 - (odds * closeness).sum(), abs=0.01)
    drawn = outputs.closeness_KB[BEST + 1 :, 0].mean().item()
    assert drawn == pytest.approx((odds * closeness).sum(), abs=4 * closeness.std() / 6000**0.5)


@pytest.mark.parametrize("changes", SHAPES, ids=str)
def test_the_best_rollout_is_what_decoding_gives_however_its_states_are_cut(
    make_settings: Make, nested: str, monkeypatch: pytest.MonkeyPatch, changes: dict[str, object]
) -> None:
    task = make_task(make_settings, nested, changes, keep=2.0)
    recorder, states = Recorder(monkeypatch), start_states(task.corpus)
    after = task.policy.roll_out(task.corpus, 2)
    task.network.train()
    wanted = [measure_closeness(words, task.corpus.targets) for words in (after[0], after[-1])]
    assert wanted[0].tolist() != wanted[1].tolist()
    for most in (64 * 300, 64 * 131_072):
        monkeypatch.setattr("riseq.train.policy.ROLLOUT_PIECES", most)
        recorder.passes.clear()
        outputs = draw(task, states, 3, 2)
        assert (len(recorder.passes) > 2) == (most < 64 * 131_072)
        assert outputs.closeness_KB[BEST].tolist() == pytest.approx(wanted[1].tolist())
    assert draw(task, states, 3, 1).closeness_KB[BEST].tolist() == pytest.approx(wanted[0].tolist())


def test_a_guided_rollout_at_its_target_stops(make_settings: Make, nested: str) -> None:
    task = make_task(make_settings, nested, {})
    index = np.arange(8)
    states = States(index, take_rows(task.corpus.targets, index))
    keeps = []
    for k in range(8):
        reader = Reader(task, k, states.words[k].tolist())
        keeps.append(reader.score([int(Op.KEEP)] * len(reader.words), [-1] * len(reader.words)).item())
    for passes in (1, 3):
        outputs = draw(task, states, 3, passes)
        assert outputs.scores_KB[GUIDED].tolist() == pytest.approx(keeps, abs=1e-4)
        assert outputs.closeness_KB[GUIDED].tolist() == [1.0] * 8


def test_a_guided_rollout_reaches_its_target_and_counts_that_it_stays(make_settings: Make, nested: str) -> None:
    task = make_task(make_settings, nested, {})
    once, twice = (draw(task, first_states(task, 12), 3, passes) for passes in (1, 2))
    sound = np.flatnonzero(~once.out_KB[GUIDED].numpy())  # the vocabulary lacks what some draws would say
    assert len(sound) > 4
    assert twice.out_KB[GUIDED].tolist() == once.out_KB[GUIDED].tolist()
    for k, example in zip(sound.tolist(), first_states(task, 12).example[sound], strict=True):
        assert once.closeness_KB[GUIDED, k] == twice.closeness_KB[GUIDED, k] == 1
        reader = Reader(task, int(example), task.corpus.targets[int(example.item())].tolist())
        stay = reader.score([int(Op.KEEP)] * len(reader.words), [-1] * len(reader.words))
        assert (twice.scores_KB - once.scores_KB)[GUIDED, k].item() == pytest.approx(stay.item(), abs=1e-4)


def test_what_is_computed_again_is_the_same_with_its_gradients(make_settings: Make) -> None:
    task = RiseTask(make_settings(dropout=0.3), Processes())
    network, found = task.network.train(), []
    part = task._prepare(first_states(task), np.arange(6), np.zeros(6, dtype=np.uint64), None)
    inputs = task.policy.send(part.batch)
    spans = task.policy.send_spans(find_spans(part.batch, np.full((6, part.batch.real_BW.shape[1] - 1), Op.INSERT)))
    for one in (network, Recomputed(network)):
        torch.manual_seed(1)
        scores = one.score_phrases(inputs, one.encode(inputs), spans)
        network.zero_grad()
        torch.rand(7)  # what is drawn between does not matter
        scores[:, 0].sum().backward()  # type: ignore[no-untyped-call]
        found.append([scores, *(p.grad for p in network.parameters() if p.grad is not None)])
    assert len(found[0]) > 20
    for first, again in zip(*found, strict=True):
        torch.testing.assert_close(first, again)


def test_states_met_twice_are_read_once() -> None:
    words = [np.array(row) for row in ([0, 1], [0, 1, 2], [0, 1], [0, 1])]
    states, which = find_different(np.array([5, 5, 4, 5]), words)
    assert which.tolist() == [0, 1, 2, 0]
    assert states.example.tolist() == [5, 5, 4]
    assert [row.tolist() for row in states.words] == [[0, 1], [0, 1, 2], [0, 1]]


def test_no_pass_is_none(make_settings: Make) -> None:
    with pytest.raises(InputError, match="risk_passes"):
        make_settings(risk_passes=0)
