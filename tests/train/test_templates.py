"""Training with copied phrases in templates, and with phrases that are said in parts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from riseq.core.batch import PhraseIndex, index_phrases
from riseq.core.copyable import Copyable, PackedTemplates, make_copyable
from riseq.core.edits import MARKER
from riseq.core.packed import Interner, pack
from riseq.model.checkpoint import load_checkpoint
from riseq.model.folder import LAYOUT
from riseq.train.actions import find_phrases, gold_actions, reach
from riseq.train.loop import TrainResult, train
from riseq.train.phrasing import TemplateScores
from riseq.train.processes import Processes
from riseq.train.rise import RiseTask
from riseq.train.settings import RiseSettings
from riseq.train.tracking import Tracker
from riseq.types import InputError
from tiny_world import NAMES, THINGS, VERBS, Row, write_rows

Make = Callable[..., RiseSettings]
Words = tuple[int, ...]
ROWS = [[0, 1, 2, 1, 0, 3, 1, 2], [0, 2], [0, 3, 3, 0, 1]]
VOCABULARY = [(2,), (3, 1), (4,)]
TEMPLATES: list[tuple[Words, Words]] = [((), ()), ((3,), ()), ((), (2,)), ((1,), (1,))]
LONGEST = 2


def make_index() -> PhraseIndex:
    return index_phrases(pack(VOCABULARY))


def make_words() -> Copyable:
    packed = PackedTemplates(*(pack([one[side] for one in TEMPLATES]) for side in (0, 1)))
    return make_copyable(pack(ROWS), LONGEST, packed)


def make_scores(seed: int, scale: float = 1.0) -> TemplateScores:
    """Return random scores of spans in all three rows, two in the first."""
    generator, copyable = torch.Generator().manual_seed(seed), make_words()
    row = np.array([0, 0, 1, 2])
    width = max(map(len, ROWS)) * LONGEST
    raw = torch.randn(4, len(VOCABULARY) + width, generator=generator, dtype=torch.float64) * scale
    for u, k in enumerate(row):
        for number in range(width):
            i, n = number // LONGEST, number % LONGEST + 1
            if i + n > len(ROWS[k]) or 0 in ROWS[k][i : i + n]:
                raw[u, len(VOCABULARY) + number] = -1e4
    templates = torch.randn(4, len(TEMPLATES), generator=generator, dtype=torch.float64) * scale
    raw, templates = raw.log_softmax(-1).requires_grad_(), templates.log_softmax(-1).requires_grad_()
    return TemplateScores(raw, templates, row, copyable, make_index(), torch.from_numpy)


def sum_by_words(scores: TemplateScores, u: int) -> dict[Words, tuple[float, int]]:
    """Return the probability of all words that can be said at a span, and the id that stands for them."""
    found: dict[Words, float] = {}
    ids: dict[Words, list[int]] = {}
    row, size, count = ROWS[scores.row_U[u]], len(VOCABULARY), len(TEMPLATES)
    odds, by_template = scores.scores_UP[u].exp(), scores.templates_UT[u].exp()
    ways = [(words, k, odds[k].item()) for k, words in enumerate(VOCABULARY)]
    for t, (before, after) in enumerate(TEMPLATES):
        for i in range(len(row)):
            for n in range(1, LONGEST + 1):
                if i + n <= len(row) and 0 not in row[i : i + n]:
                    number = i * LONGEST + n - 1
                    mass = odds[size + number].item() * by_template[t].item()
                    ways.append(((*before, *row[i : i + n], *after), size + number * count + t, mass))
    for words, phrase, mass in ways:
        found[words] = found.get(words, 0.0) + mass
        ids.setdefault(words, []).append(phrase)
    return {words: (mass, ids[words][0]) for words, mass in found.items()}


@pytest.mark.parametrize(("seed", "scale"), [(1, 1.0), (2, 1.0), (3, 20.0)])
def test_a_phrase_has_the_sum_of_all_ways_to_say_its_words(seed: int, scale: float) -> None:
    scores = make_scores(seed, scale)
    for u in range(4):
        wanted = sum_by_words(scores, u)
        assert sum(mass for mass, _ in wanted.values()) == pytest.approx(1), "one distribution over words"
        ids = np.array([phrase for _, phrase in wanted.values()])
        assert len(set(ids.tolist())) == len(ids)
        at = np.full(len(ids), u)
        taken = scores.take(at, ids)
        assert taken.exp().tolist() == pytest.approx([mass for mass, _ in wanted.values()], abs=1e-12)
        assert scores.settle(at, ids).tolist() == ids.tolist()
    scores.take(np.array([0, 1]), np.array([0, 3 + 1 * LONGEST * len(TEMPLATES)])).sum().backward()  # type: ignore[no-untyped-call]
    assert scores.scores_UP.grad is not None
    assert scores.scores_UP.grad.isfinite().all()
    assert scores.templates_UT.grad is not None
    assert scores.templates_UT.grad.abs().sum() > 0


@pytest.mark.parametrize("seed", range(8))
def test_the_best_phrase_is_that_of_the_largest_sum(seed: int) -> None:
    scores = make_scores(seed)
    best, quick = scores.best(99, 99), scores.best()
    for u in range(4):
        wanted = sum_by_words(scores, u)
        mass, phrase = max(wanted.values())
        assert best[u] == phrase
        found = {one: odds for odds, one in wanted.values()}[int(quick[u])]
        assert found > 0.8 * mass, "a few of the likeliest ways are enough"


def test_draws_come_as_often_as_their_words_are_likely() -> None:
    scores = make_scores(5)
    torch.manual_seed(0)
    at = np.repeat(np.arange(4), 8000)
    drawn = scores.draw(at)
    for u in range(4):
        shares = np.bincount(drawn[at == u], minlength=200) / 8000
        for mass, phrase in sum_by_words(scores, u).values():
            assert shares[phrase] == pytest.approx(mass, abs=0.025)


def test_no_phrase_is_any_number_and_takes_no_part() -> None:
    scores = make_scores(1)
    taken = scores.take(np.array([0, 1, 2]), np.array([-1, 0, -1]))
    assert taken.isfinite().all()
    assert taken[0] < -1e4
    assert scores.settle(np.array([0]), np.array([-1])).tolist() == [-1]


def test_gold_edits_have_templates_and_parts() -> None:
    interner = Interner(["in"])
    texts = ["where is it", "where is it in old rome now", "in she"]
    sources, targets = (interner.pack([[MARKER, *text.split()]]) for text in texts[:2])
    index = index_phrases(interner.pack([["she"]]))
    read = interner.pack([[MARKER, "about", "old", "rome", MARKER, "where", "is", "it"]])
    templates = PackedTemplates(interner.pack([[], ["in"]]), interner.pack([[], []]))
    in_template = make_copyable(read, 2, templates)
    whole = gold_actions(sources, targets, index, in_template)
    assert whole.lost.tolist() == [False, False, False, True], "now was never said"
    found = gold_actions(sources, targets, index, in_template, parts=True)
    assert not found.lost.any()
    assert interner.unpack(reach(sources, found.ops, found.phrases, index, in_template)) == [
        [MARKER, "where", "is", "it", "in", "old", "rome"]
    ]
    bare = gold_actions(sources, targets, index, make_copyable(read, 2), parts=True)
    assert interner.unpack(reach(sources, bare.ops, bare.phrases, index, make_copyable(read, 2))) == [
        [MARKER, "where", "is", "it", "old", "rome"]
    ]
    said = find_phrases(sources, targets, np.array([-1] * 3 + [6]), np.array([-1] * 3 + [8]), index, None, True)
    assert said.tolist() == [-1] * 4, "nothing of it can be said"


@pytest.fixture(scope="module")
def nested(world: Path) -> str:
    """Pairs whose phrase is a name within words that are not in the dialogue."""
    rows: list[Row] = []
    for entity in NAMES + THINGS:
        for verb in VERBS:
            row = {"context": [f"Tell me about {entity}."], "question": f"Did it {verb}?"}
            rows.append({"id": str(len(rows)), **row, "target": f"Did the band of {entity} {verb}?"})
    return str(write_rows(world / "nested.qa.jsonl", rows))


@pytest.fixture
def make_nested(make_settings: Make, nested: str) -> Make:
    base = {"train": (nested,), "dev": (nested,), "copies": 4, "phrases": 1, "method": "mle"}
    return lambda **changes: make_settings(**{**base, **changes})


def run(settings: RiseSettings, out: Path, resume: bool = False) -> TrainResult:
    return train(settings, out, resume, Tracker(out, every=1))


def read_exact(result: TrainResult) -> float:
    (scores,) = result.scores.values()
    return float(scores["exact"])


def test_what_only_a_template_says_is_learnt_and_kept(make_nested: Make, tmp_path: Path) -> None:
    result = run(make_nested(epochs=9, templates=3), tmp_path / "run")
    assert read_exact(result) > 80
    kept = load_checkpoint(result.folder)
    assert kept.network.config.templates == len(kept.templates) - 1 > 0
    assert "the band of {}" in kept.templates.to_lines()
    task = RiseTask(make_nested(start=str(result.folder), copies=0), Processes())
    assert task.lexicon.templates == kept.templates
    assert task.predict(task.settings.dev[0]) == RiseTask(
        make_nested(start=str(result.folder), templates=9), Processes()
    ).predict(task.settings.dev[0])
    (result.folder / LAYOUT.templates).write_text("{}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"templates\.txt has 1 templates"):
        load_checkpoint(result.folder)


def test_without_templates_it_cannot_be_said_at_once(make_nested: Make, tmp_path: Path) -> None:
    assert read_exact(run(make_nested(epochs=6), tmp_path)) < 20


@pytest.fixture(scope="module")
def joined(world: Path) -> str:
    """Pairs whose phrase is two names that do not stand together in the dialogue."""
    rows: list[Row] = []
    for one, other in zip(NAMES, NAMES[1:] + NAMES[:1], strict=True):
        for verb in VERBS:
            context = [f"Tell me about {one}.", f"{other} is well known."]
            row = {"context": context, "question": f"Did it {verb}?", "target": f"Did {one} {other} {verb}?"}
            rows.append({"id": str(len(rows)), **row})
    return str(write_rows(world / "joined.qa.jsonl", rows))


def test_parts_reach_in_passes_what_one_cannot_say(make_nested: Make, joined: str, tmp_path: Path) -> None:
    base = {"train": (joined,), "dev": (joined,), "copies": 2, "min_count": 99, "stop_share": 0.5, "passes": 2}
    settings = make_nested(epochs=14, parts=True, **base)
    task = RiseTask(settings, Processes())
    states = task.pool.fill(0, np.random.default_rng(0))
    texts = [" ".join(row[1:]) for row in task.lexicon.interner.unpack(states.words)]
    assert texts[30] == "did ada lovelace win a prize ?", "half the way"
    assert 60 < len(texts) < 90, "and some that are finished"
    gold = task.pool.align(states)
    assert len(gold.ops) == len(states.words.values)
    assert not gold.lost.any()
    assert read_exact(run(settings, tmp_path / "parts")) > 80
    assert read_exact(run(make_nested(epochs=2, **base), tmp_path / "whole")) == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"method": "epsilon", "above_nothing": True, "samples": 2, "reward_floor": None},
        {"method": "rise", "joint": True, "likelihood_epochs": 1, "beside": True, "own_share": 1.0, "risk_epochs": 1},
        {"method": "rise", "risk_epochs": 2, "risk": "baseline", "stops": True, "sampler": "posterior", "parts": True},
        {"method": "rise", "risk_epochs": 2, "risk_passes": 2, "stops": True, "beside": True, "parts": True},
    ],
    ids=str,
)
def test_every_method_runs_and_resumes(make_nested: Make, tmp_path: Path, changes: dict[str, object]) -> None:
    settings = make_nested(epochs=2, risk_samples=4, templates=5, **changes)
    result = run(settings, tmp_path)
    assert read_exact(result) >= 0
    assert "nan" not in (tmp_path / "log.csv").read_text(encoding="utf-8")
    assert run(settings, tmp_path, resume=True).scores == result.scores


def test_templates_need_what_is_copied(make_settings: Make) -> None:
    with pytest.raises(InputError, match="templates"):
        make_settings(templates=3)
    with pytest.raises(InputError, match="templates"):
        make_settings(templates=-1, copies=2)


def test_the_way_back_is_trained_and_scored(make_settings: Make, world: Path, tmp_path: Path) -> None:
    data = str(world / "pairs.qa.jsonl")
    dev = f"{data}+resolve", f"{data}+complete"
    changes = {"direction": "resolve", "copies": 4, "complete": 1.0, "method": "mle", "dev": dev}
    result = run(make_settings(epochs=8, **changes), tmp_path)
    back, complete = (result.scores[name] for name in dev)
    assert back["exact"] > 80
    assert back["term_f1"] > 80
    assert complete["complete"] == complete["n"]
    assert complete["unchanged"] > 80
