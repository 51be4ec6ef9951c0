"""Fits a network's confidence, its stopping and its guard to sets of questions that it was not trained on.

What is fitted is never scored on what it was fitted to: probabilities are told for each dialogue by a model of the
other four fifths of them. The few thresholds are chosen on the same sets, so a test set is where they are to be judged.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riseq.calibrate.cached_backend import Remembering
from riseq.calibrate.logistic import cross_fit, fit_logistic
from riseq.controls import MAX_PASSES, Controls
from riseq.engine.confidence import FEATURES, Calibration, Logistic, list_features
from riseq.engine.drafts import Draft
from riseq.engine.rules.new_information import DialogueWords
from riseq.engine.simplifier import Simplifier
from riseq.metrics.content import measure_loss
from riseq.metrics.edits import match_exactly
from riseq.metrics.passes import measure_stopping
from riseq.metrics.reliability import Reliability, measure_reliability
from riseq.metrics.scores import Scores, score
from riseq.text.lexicon import find_stem, is_content
from riseq.text.pieces import scoring_form
from riseq.text.words import forms
from riseq.types import Example, InputError

Floats = NDArray[np.float64]
Sets = Mapping[str, Sequence[Example]]
Track = Callable[[Iterator[Draft], int, str], Iterator[Draft]]

FOLDS = 5
SAME = 0.995
"""The share of texts that must be the same whether all passes are taken or only those that seem worth it."""
WORSE = 0.5
"""The most percent of texts that may score lower after the last pass: half the target, for dev chooses, test tells."""
COST = 0.1
"""The most percent points of BLEU-4, ROUGE-L or exact match that the guard may cost on any set."""
SURENESS = (0.0, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0)
LATER = (0.0, 0.25, 0.5, 1.0)
RARE_RIDGE = 3.0
"""A second pass changes one text in fifty: its model is held back more."""

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
    facts: Mapping[str, Any]


def calibrate(
    simplifier: Simplifier, sets: Sets, network: Mapping[str, str] | None = None, track: Track | None = None
) -> Calibrated:
    """Return what fits the engine's network on ``sets``, which all have targets; its own calibration is not used."""
    if sum(map(len, sets.values())) < 10 * FOLDS:
        raise InputError(f"a calibration needs at least {10 * FOLDS} questions with targets")
    bench = _Bench(simplifier, sets, track)
    start = Calibration(_SILENT, _SILENT, _NEVER, 0.0, 0.0, ALONE, _share_unchanged(sets), network)
    sureness, guard = _choose_sureness(bench, start)
    patient = replace(start, sureness=sureness, enough=_ALWAYS)
    later, passes = _choose_later(bench, patient)
    patient = replace(patient, later=later)
    impatient, gate = _fit_again(bench, patient)
    right, reliability = _fit_right(bench, impatient)
    facts = {
        "sets": {name: len(examples) for name, examples in sets.items()},
        "error": {name: one.error for name, one in reliability.items()},
        "discrimination": {name: one.discrimination for name, one in reliability.items()},
        "guard": guard,
        "later": passes,
        "passes": gate,
    }
    return Calibrated(replace(impatient, right=right, facts=facts), reliability, facts)


class _Bench:
    """The sets, and an engine that reads each row of them once however often it is run."""

    def __init__(self, simplifier: Simplifier, sets: Sets, track: Track | None) -> None:
        self.sets = sets
        self.targets = {name: [example.target or "" for example in examples] for name, examples in sets.items()}
        self.backend = Remembering(simplifier.backend)
        self._engine = Simplifier(self.backend, simplifier.pieces, simplifier.phrases)
        self._track = track

    def run(self, name: str, calibration: Calibration, passes: int = MAX_PASSES, title: str = "") -> list[Draft]:
        """Return the drafts of one set under ``calibration``."""
        self._engine.calibration = calibration
        drafts = self._engine.follow(self.sets[name], Controls(max_passes=passes))
        if self._track is not None:
            drafts = self._track(drafts, len(self.sets[name]), f"{title} {name}")
        return list(drafts)

    def score(self, name: str, drafts: Sequence[Draft]) -> Scores:
        """Return the scores of one set's drafts."""
        return score([draft.text for draft in drafts], self.targets[name])

    def lose(self, name: str, drafts: Sequence[Draft]) -> dict[str, float]:
        """Return the shares of content words that one set's drafts lack: of all, and of those only the question has."""
        texts = [scoring_form(draft.text) for draft in drafts]
        loss = measure_loss(texts, [scoring_form(target) for target in self.targets[name]])
        lost = [find_lost_news(draft, target) for draft, target in zip(drafts, self.targets[name], strict=True)]
        of_all = max(1, sum(count for _, count in lost))
        return {"lost": loss.words, "extra": loss.extra, "lost_news": sum(len(words) for words, _ in lost) / of_all}


def _choose_sureness(bench: _Bench, start: Calibration) -> tuple[float, list[dict[str, Any]]]:
    """Return the highest sureness before the first that costs a set more than ``COST``, and what each tried one did.

    Where a set's dialogues have no answers the guard stands back, so such a set has no say.
    """
    rows: list[dict[str, Any]] = []
    base: dict[str, Scores] = {}
    chosen = 0.0
    with_answers = [name for name, examples in bench.sets.items() if _share_answered(examples) > 0.5]
    for sureness in SURENESS if with_answers else ():
        fits = True
        for name in with_answers:
            drafts = bench.run(name, replace(start, sureness=sureness), 1, f"guard {sureness:g}")
            scores = bench.score(name, drafts)
            base.setdefault(name, scores)
            fits &= all(getattr(scores, one) >= getattr(base[name], one) - COST for one in ("bleu4", "rougeL", "exact"))
            told = {"bleu4": scores.bleu4, "rougeL": scores.rougeL, "exact": scores.exact}
            rows.append({"sureness": sureness, "set": name, **told, **bench.lose(name, drafts)})
        if not fits:
            break
        chosen = sureness
    return chosen, rows


def _choose_later(bench: _Bench, patient: Calibration) -> tuple[float, list[dict[str, Any]]]:
    """Return how much surer a later pass has to be: what scores best while few enough texts get worse by it."""
    rows: list[dict[str, Any]] = []
    best: tuple[float, float] | None = None
    for later in LATER:
        bleus, worst = [], 0.0
        for name in bench.sets:
            drafts = bench.run(name, replace(patient, later=later), title=f"passes {later:g}")
            *_, last = measure_stopping([one.finish() for one in drafts], bench.targets[name], MAX_PASSES)
            bleus.append(last.bleu4)
            worst = max(worst, last.worse["bleu4"])
            rows.append({"later": later, "set": name, "bleu4": last.bleu4, "worse": last.worse["bleu4"]})
        if worst <= WORSE and (best is None or np.mean(bleus) > best[0]):
            best = float(np.mean(bleus)), later
    return LATER[-1] if best is None else best[1], rows


def _fit_again(bench: _Bench, patient: Calibration) -> tuple[Calibration, dict[str, Any]]:
    """Return the calibration that takes a pass only where it is likely to change the text."""
    features: list[tuple[float, ...]] = []
    changes: list[bool] = []
    folds: list[int] = []
    places: list[tuple[str, int]] = []
    for name, examples in bench.sets.items():
        for example, draft in zip(examples, bench.run(name, patient, title="stopping"), strict=True):
            for number in range(min(len(draft.steps), MAX_PASSES - 1)):
                features.append(
                    list_features(draft.pass_features[number : number + 1], draft.dialogue.has_answers, draft.truncated)
                )
                changes.append(len(draft.steps) > number + 1)
                folds.append(find_fold(example))
                places.append((name, number))
    inputs, outcomes = np.array(features).reshape(-1, len(FEATURES)), np.array(changes, dtype=np.float64)
    if not outcomes.any():
        # No later pass changed anything: none will be taken.
        none = {"second_passes_before": len(outcomes), "second_passes_after": 0, "saved": 1.0, "changed_by_second": 0}
        return replace(patient, again=_SILENT, enough=_NEVER), {**none, "same": 1.0}
    likely = cross_fit(inputs, outcomes, np.array(folds), RARE_RIDGE)
    first = {name: np.array([place == (name, 0) for place in places]) for name in bench.sets}
    enough = min(
        _find_threshold(likely[which], outcomes[which], len(bench.sets[name]))
        for name, which in first.items()
        if which.any()
    )
    fitted = replace(patient, again=fit_logistic(inputs, outcomes, RARE_RIDGE), enough=enough)
    taken = np.concatenate([likely[which] >= enough for which in first.values()])
    missed = sum(int(outcomes[which][likely[which] < enough].sum()) for which in first.values())
    total = sum(map(len, bench.sets.values()))
    gate = {
        "second_passes_before": len(taken),
        "second_passes_after": int(taken.sum()),
        "saved": 1 - float(taken.mean()),
        "changed_by_second": int(sum(outcomes[which].sum() for which in first.values())),
        "same": 1 - missed / total,
    }
    return fitted, gate


def _find_threshold(likely: Floats, changes: Floats, questions: int) -> float:
    """Return the highest threshold below which so few passes would change a text that ``SAME`` stay the same."""
    order = np.argsort(likely, kind="stable")
    missed = np.cumsum(changes[order])
    passed = int(np.searchsorted(missed, (1 - SAME) * questions, "right"))
    return float(likely[order[passed]]) if passed < len(order) else _NEVER


def _fit_right(bench: _Bench, impatient: Calibration) -> tuple[Logistic, dict[str, Reliability]]:
    """Return the model of being right, and how well the probabilities of unseen dialogues keep their word."""
    features: list[tuple[float, ...]] = []
    right: list[bool] = []
    folds: list[int] = []
    names: list[str] = []
    for name, examples in bench.sets.items():
        drafts = bench.run(name, impatient, title="confidence")
        texts = [scoring_form(draft.text) for draft in drafts]
        exact = match_exactly(texts, [scoring_form(target) for target in bench.targets[name]])
        for example, draft, same in zip(examples, drafts, exact.tolist(), strict=True):
            if draft.pass_features:
                features.append(list_features(draft.pass_features, draft.dialogue.has_answers, draft.truncated))
                right.append(same)
                folds.append(find_fold(example))
                names.append(name)
    inputs, outcomes = np.array(features).reshape(-1, len(FEATURES)), np.array(right, dtype=np.float64)
    likely = cross_fit(inputs, outcomes, np.array(folds))
    reliability = {"all": measure_reliability(likely, outcomes)}
    for name in dict.fromkeys(names):
        which = np.array([one == name for one in names])
        reliability[name] = measure_reliability(likely[which], outcomes[which])
    return fit_logistic(inputs, outcomes), reliability


def find_lost_news(draft: Draft, target: str) -> tuple[set[str], int]:
    """Return what a person kept of the question's news and the draft lost, and how many such words there were.

    News are content words of the question that the dialogue lacks.
    """
    kept = {find_stem(word) for word in forms(target)}
    news = {find_stem(word) for word in forms(draft.question) if is_content(word) and word not in draft.dialogue} & kept
    return news - {find_stem(word) for word in forms(draft.text)}, len(news)


def find_fold(example: Example) -> int:
    """Return the fold of an example: that of its dialogue, whose name is its id up to the turn's number."""
    dialogue = example.id.rpartition("-")[0] or example.id
    return zlib.crc32(dialogue.encode()) % FOLDS


def _share_answered(examples: Sequence[Example]) -> float:
    return sum(DialogueWords(example.context).has_answers for example in examples) / max(1, len(examples))


def _share_unchanged(sets: Sets) -> float:
    pairs = [(scoring_form(one.question), scoring_form(one.target or "")) for rows in sets.values() for one in rows]
    return sum(question == target for question, target in pairs) / len(pairs)
