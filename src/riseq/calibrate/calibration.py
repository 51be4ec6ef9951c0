"""Fits a network's confidence, its stopping and its guard to questions that it was not trained on.

The confidence is that a person accepts the text, as everyday cases tell (``riseq.metrics.behaviour``); without any,
that it is the target. The guard and the margin of later passes are fitted to the sets with targets. What is fitted is
never scored on what it was fitted to: each dialogue's probabilities are those of a model of the other four fifths of
them. The few thresholds are chosen on the same sets, so a test set is where they are to be judged.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple, Unpack

import numpy as np

from riseq.controls import MAX_PASSES, NEUTRAL, ControlOptions, Controls
from riseq.engine.backends import Backend, BatchScores, ScoreArray
from riseq.engine.confidence import FEATURES, Calibration, Logistic, list_features
from riseq.engine.drafts import Draft
from riseq.engine.editor import Editor
from riseq.metrics.behaviour import Case, judge
from riseq.metrics.content import measure_loss
from riseq.metrics.ngrams import Floats
from riseq.metrics.passes import measure_stopping
from riseq.metrics.reliability import Reliability, cross_fit, fit_logistic, measure_reliability
from riseq.metrics.scores import Scores, score
from riseq.model.inputs import Batch, SpanBatch
from riseq.terminal import track
from riseq.text.pieces import scoring_form
from riseq.types import Example, InputError

Sets = Mapping[str, Sequence[Case]]

FOLDS = 5
SAME = 0.995
"""The share of all texts that must be the same whether all passes are taken or only those that seem worth it."""
WORSE = 0.5
"""The most percent of texts that may score lower after the last pass: half the target, for dev chooses."""
COST = 0.1
"""The most percent points of BLEU-4, ROUGE-L or exact match that the guard may cost on any set."""
MARGINS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)
STAYS = 0.99
"""The share of complete questions that a resolver has to leave as they are."""
NEEDED = (*(number / 10 for number in range(2, 10)), 0.95, 1.0)
"""How likely a question must lack something before its first pass is taken; with 1 none is."""
SURENESS = (0.0, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0)
LATER = (0.0, 0.25, 0.5, 1.0)
RIDGE = 3.0
"""Few texts are wrong, and a second pass changes one in fifty: the models are held back."""
STRENGTHS = (0.2, 0.35, NEUTRAL, 0.7, 0.85, 1.0)
"""Few everyday cases are wrong, so they are asked at all of these, grounded and not."""

_SILENT = Logistic(0.0, (0.0,) * len(FEATURES))
_NEVER, _ALWAYS = 1.0, 0.0
ALONE = 1.0
"""The confidence of a question without dialogue: there is nothing to leave out, so the question itself is right."""


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A calibration, and how well it does on each set; probabilities are those of models that had not seen the row."""

    calibration: Calibration
    reliability: Mapping[str, Reliability]
    """By set, and of all together under "all"."""


def calibrate(engine: Editor, sets: Sets, network: Mapping[str, str] | None = None) -> Calibrated:
    """Return what fits the engine's network on ``sets``, those of a resolver backwards; its calibration is not used."""
    if sum(map(len, sets.values())) < 10 * FOLDS:
        raise InputError(f"a calibration needs at least {10 * FOLDS} questions with targets")
    runner = _Runner(engine, sets)
    judged = [judge(case, case.example.question).right for name in runner.everyday or sets for case in sets[name]]
    unchanged = sum(judged) / len(judged)
    start = Calibration(_SILENT, _SILENT, _NEVER, 0.0, 0.0, ALONE, unchanged, network)
    margin, margins = _choose_margin(runner, start) if runner.resolves else (0.0, [])
    start = replace(start, margin=margin)
    start, complete = _fit_needs(runner, start) if runner.resolves else (start, {})
    sureness, guard = (0.0, []) if runner.resolves else _choose_sureness(runner, start)
    patient = replace(start, sureness=sureness, enough=_ALWAYS)
    later, passes = _choose_later(runner, patient)
    patient = replace(patient, later=later)
    impatient, gate = _fit_again(runner, patient)
    right, reliability = _fit_right(runner, impatient)
    facts: dict[str, Any] = {"sets": {name: len(examples) for name, examples in sets.items()}}
    for part in ("error", "discrimination"):
        facts[part] = {name: getattr(one, part) for name, one in reliability.items()}
    facts |= {"sureness": guard, "later": passes, "passes": gate} | (
        {"margin": margins, "complete": complete} if runner.resolves else {}
    )
    return Calibrated(replace(impatient, right=right, facts=facts), reliability)


class CachedBackend:
    """A backend that keeps what another one read, so that many settings take no longer than one; rows come alone."""

    batch_pieces = 1

    def __init__(self, backend: Backend) -> None:
        self.max_pieces, self._backend = backend.max_pieces, backend
        self._rows: dict[bytes, _CachedRow] = {}

    def score(self, batch: Batch) -> BatchScores:
        """Return what the network makes of a batch of one row."""
        if len(batch.ids_BL) != 1:
            raise ValueError(f"a batch of {len(batch.ids_BL)} rows, expected 1")
        key = b"".join(array.tobytes() for array in (batch.ids_BL, batch.firsts_BW, batch.condition_B))
        if key in self._rows:
            self._rows[key].reading = None  # it is large, and phrases are asked for at the first time or not at all
        else:
            self._rows[key] = _CachedRow(self._backend, batch)
        return self._rows[key]


class _CachedRow:
    """One row's scores and those of phrases at each span asked for; it is read again where a new one is wanted."""

    def __init__(self, backend: Backend, batch: Batch) -> None:
        self._backend, self._batch = backend, batch
        self.reading: BatchScores | None = backend.score(batch)
        self.edits_BWE = self.reading.edits_BWE.copy()
        self._phrases: dict[tuple[int, int], ScoreArray] = {}

    def score_phrases(self, spans: SpanBatch) -> ScoreArray:
        wanted = list(zip(spans.start_N.tolist(), spans.end_N.tolist(), strict=True))
        if any(span not in self._phrases for span in wanted):
            scores_NP = (self.reading or self._backend.score(self._batch)).score_phrases(spans)
            self.reading = None
            self._phrases.update(zip(wanted, scores_NP.copy(), strict=True))
        return np.stack([self._phrases[span] for span in wanted])


class _Runner:
    """The sets, and an engine that reads each row of them once however often it is run."""

    def __init__(self, engine: Editor, sets: Sets) -> None:
        self.sets, self.resolves = sets, engine.direction == "resolve"
        if odd := [name for name, cases in sets.items() if any(case.resolves != self.resolves for case in cases)]:
            raise InputError(f"{odd[0]}: not the direction of the model, which is to {engine.direction} questions")
        self.everyday = [name for name, cases in sets.items() if all(case.phenomenon for case in cases)]
        self.with_targets = [name for name in sets if name not in self.everyday] or self.everyday
        self.targets = {name: [case.gold[0] for case in cases] for name, cases in sets.items()}
        self._engine = type(engine)(CachedBackend(engine.backend), engine.pieces, engine.phrasing, window=engine.window)

    def run(self, name: str, calibration: Calibration, title: str, **options: Unpack[ControlOptions]) -> list[Draft]:
        """Return the drafts of one set under ``calibration``; targets are the benchmark's, and asked for its way."""
        self._engine.calibration = calibration
        usual = Controls(grounded=False, guard=False) if self.resolves else Controls(grounded=name in self.everyday)
        controls = Controls.of(usual, **options)
        examples = [case.example for case in self.sets[name]]
        return list(track(self._engine.follow(examples, controls), len(examples), f"{title} {name}"))


def _choose_margin(runner: _Runner, start: Calibration) -> tuple[float, list[dict[str, float]]]:
    """Return the lowest margin with about the best mean BLEU-4 of questions in which a word points back.

    What each tried one does is returned too, in one pass.
    """
    rows: list[dict[str, float]] = []
    for margin in MARGINS:
        bleus = []
        for name in runner.sets:
            drafts = runner.run(name, replace(start, margin=margin), f"margin {margin:g}", max_passes=1)
            pairs = zip(drafts, runner.targets[name], strict=True)
            pointing = [(draft.text, target) for draft, target in pairs if draft.points_back]
            bleus += [score(*map(list, zip(*pointing, strict=True))).bleu4] if pointing else []
        rows.append({"margin": margin, "bleu4": float(np.mean(bleus)) if bleus else 0.0})
    best = max(row["bleu4"] for row in rows)
    return next(row["margin"] for row in rows if row["bleu4"] >= best - COST), rows


def _count_stays(runner: _Runner, name: str, calibration: Calibration) -> tuple[int, int]:
    """Return how many complete questions of a set stay, and how many there are."""
    drafts = runner.run(name, calibration, f"needed {calibration.needed:g}")
    pairs = zip(drafts, runner.targets[name], strict=True)
    stay = [draft.text == draft.question for draft, target in pairs if draft.question == target]
    return sum(stay), len(stay)


def _fit_needs(runner: _Runner, start: Calibration) -> tuple[Calibration, dict[str, Any]]:
    """Return the calibration that leaves a question alone which is likely complete, and what that does.

    It is told from the others in which no word points back by what the first pass would edit. The threshold is the
    one above the lowest of ``NEEDED`` with which ``STAYS`` of the complete questions stay after all passes and rules,
    for it is chosen by the very questions that are counted: those of sets that have no others, everyday ones where
    there are such, for a person's rewrite may still lack something.
    """
    rows: list[_Row] = []
    for name, cases in runner.sets.items():
        for case, draft in zip(cases, runner.run(name, start, "complete", max_passes=1), strict=True):
            lacks = draft.question != case.gold[0]
            if draft.steps and not draft.points_back:
                features = list_features(draft.pass_features, draft.features._replace(unsaid=0.0))
                rows.append(_Row(name, 0, find_fold(case.example), features, lacks))
    if len({row.outcome for row in rows}) < 2:
        return start, {}
    needs, _, _ = _fit(rows)
    asked = {name: [case.example.question for case in cases] for name, cases in runner.sets.items()}
    complete = [name for name in asked if asked[name] == runner.targets[name]]
    judged = [name for name in complete if name in runner.everyday] or complete or list(runner.sets)
    enough = False
    for needed in NEEDED:
        fitted = replace(start, needs=needs, needed=needed)
        stay = {name: _count_stays(runner, name, fitted) for name in judged}
        if enough:
            break
        enough = sum(stayed for stayed, _ in stay.values()) >= STAYS * sum(count for _, count in stay.values())
    stays = {name: stayed / count for name, (stayed, count) in stay.items() if count}
    return replace(start, needs=needs, needed=needed), {"needed": needed, "unchanged": stays}


def _choose_sureness(runner: _Runner, start: Calibration) -> tuple[float, list[dict[str, Any]]]:
    """Return the highest sureness before the first that costs a set more than ``COST``, and what each tried one did.

    Where a set's dialogues have no answers the guard stands back, so such a set has no say.
    """
    rows: list[dict[str, Any]] = []
    base: dict[str, Scores] = {}
    chosen = 0.0
    for sureness in SURENESS:
        fits = True
        for name in runner.with_targets:
            drafts = runner.run(name, replace(start, sureness=sureness), f"guard {sureness:g}", max_passes=1)
            if 2 * sum(draft.dialogue.has_answers for draft in drafts) <= len(drafts):
                continue
            texts, targets = [draft.text for draft in drafts], runner.targets[name]
            scores = score(texts, targets)
            base.setdefault(name, scores)
            shown = {one: getattr(scores, one) for one in ("bleu4", "rougeL", "exact")}
            fits &= all(value >= getattr(base[name], one) - COST for one, value in shown.items())
            loss = measure_loss([*map(scoring_form, texts)], [*map(scoring_form, targets)])
            lost = {"lost": 100 * loss.words, "extra": 100 * loss.extra}
            rows.append({"sureness": sureness, "set": name, **shown, **lost})
        if not fits or not rows:
            break
        chosen = sureness
    return chosen, rows


def _choose_later(runner: _Runner, patient: Calibration) -> tuple[float, list[dict[str, Any]]]:
    """Return how much surer a later pass has to be: what scores best while few enough texts get worse by it.

    A resolver says in parts what it cannot say at once, so any of its passes may have to make a text worse for a while.
    """
    rows: list[dict[str, Any]] = []
    best: tuple[float, float] | None = None
    for later in LATER:
        bleus, worst = [], 0.0
        for name in runner.with_targets:
            drafts = runner.run(name, replace(patient, later=later), f"passes {later:g}")
            *_, last = measure_stopping([one.finish() for one in drafts], runner.targets[name], MAX_PASSES)
            bleus.append(last.bleu4)
            worst = max(worst, last.worse["bleu4"])
            rows.append({"later": later, "set": name, "bleu4": last.bleu4, "worse": last.worse["bleu4"]})
        if (runner.resolves or worst <= WORSE) and (best is None or np.mean(bleus) > best[0]):
            best = float(np.mean(bleus)), later
    return LATER[-1] if best is None else best[1], rows


class _Row(NamedTuple):
    """What a regression is fitted to, and whose it is."""

    set: str
    number: int  # of the pass before; where the confidence is fitted, 0 is what was asked in the usual way
    fold: int
    features: tuple[float, ...]
    outcome: bool


def _fit_again(runner: _Runner, patient: Calibration) -> tuple[Calibration, dict[str, Any]]:
    """Return the calibration that takes a pass only where it is likely to change the text.

    A simplifier's sets are asked grounded and not: later passes change less where only what was said may go.
    """
    rows = []
    ways = (False,) if runner.resolves else (True, False)
    for name, grounded in product(runner.sets, ways):
        drafts = runner.run(name, patient, "stopping", grounded=grounded)
        for case, draft in zip(runner.sets[name], drafts, strict=True):
            for number in range(min(len(draft.steps), MAX_PASSES - 1)):
                features = list_features(draft.pass_features[number : number + 1], draft.features)
                changes = len(draft.steps) > number + 1
                rows.append(_Row(name, number, find_fold(case.example), features, changes))
    if not any(row.outcome for row in rows):
        # No later pass changed anything: none will be taken.
        none = {"second_passes_before": len(rows), "second_passes_after": 0, "saved": 1.0, "changed_by_second": 0}
        return replace(patient, again=_SILENT, enough=_NEVER), {**none, "same": 1.0}
    again, likely, outcomes = _fit(rows)
    second = np.array([row.number == 0 for row in rows])
    texts = len(ways) * sum(map(len, runner.sets.values()))
    enough = _find_threshold(likely[second], outcomes[second], texts)
    taken = likely[second] >= enough
    gate = {
        "second_passes_before": len(taken),
        "second_passes_after": int(taken.sum()),
        "saved": 1 - float(taken.mean()),
        "changed_by_second": int(outcomes[second].sum()),
        "same": 1 - int(outcomes[second][~taken].sum()) / texts,
    }
    return replace(patient, again=again, enough=enough), gate


def _find_threshold(likely: Floats, changes: Floats, texts: int) -> float:
    """Return the highest threshold below which so few passes would change a text that ``SAME`` stay the same."""
    order = np.argsort(likely, kind="stable")
    missed = np.cumsum(changes[order])
    passed = int(np.searchsorted(missed, (1 - SAME) * texts, "right"))
    return float(likely[order[passed]]) if passed < len(order) else _NEVER


def _fit_right(runner: _Runner, impatient: Calibration) -> tuple[Logistic, dict[str, Reliability]]:
    """Return the model of being right, and how well unseen dialogues are calibrated, asked in the usual way."""
    rows = []
    usual = (not runner.resolves, NEUTRAL)
    ways = [
        (grounded, strength) for grounded in ((False,) if runner.resolves else (True, False)) for strength in STRENGTHS
    ]
    for name in runner.everyday or runner.with_targets:
        for grounded, strength in ways if runner.everyday else [usual]:
            drafts = runner.run(name, impatient, "confidence", grounded=grounded, strength=strength)
            number = int((grounded, strength) != usual)
            for case, draft in zip(runner.sets[name], drafts, strict=True):
                if draft.pass_features:
                    features = list_features(draft.pass_features, draft.features)
                    accepted = judge(case, draft.text).right
                    rows.append(_Row(name, number, find_fold(case.example), features, accepted))
    right, likely, outcomes = _fit(rows)
    reliability = {}
    for name in ("all", *dict.fromkeys(row.set for row in rows)):
        which = np.array([not row.number and name in ("all", row.set) for row in rows])
        reliability[name] = measure_reliability(likely[which], outcomes[which])
    return right, reliability


def _fit(rows: Sequence[_Row]) -> tuple[Logistic, Floats, Floats]:
    """Return the regression of all rows, each row's probability by one that saw none of its fold, and the outcomes."""
    inputs, outcomes = np.array([row.features for row in rows]), np.array([float(row.outcome) for row in rows])
    unseen = cross_fit(inputs, outcomes, np.array([row.fold for row in rows]), RIDGE)
    return Logistic(*fit_logistic(inputs, outcomes, RIDGE)), unseen, outcomes


def find_fold(example: Example) -> int:
    """Return the fold of an example's dialogue, known by the utterance that opened it: ids differ from set to set."""
    opening = example.context[0] if example.context else example.question
    return zlib.crc32(opening.encode()) % FOLDS
