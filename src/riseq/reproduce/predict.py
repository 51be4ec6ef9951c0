"""A system run over sets: scored at once, or its outputs written into a store, where a set that was begun goes on."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from riseq.controls import Controls
from riseq.data.dataset import load_dataset, locate_dataset
from riseq.jobs import Journal, OtherSettings, digest, journal_path
from riseq.metrics.first_turns import FirstTurns
from riseq.metrics.scores import Scores, score
from riseq.reproduce.facts import EDITING, describe_machine, open_system, read_facts
from riseq.reproduce.plan import BY_NAME, COUNTED_PASSES, RUNS, SAVED_PASSES, SAVED_SETS, split_form
from riseq.systems import Rise, System, saved
from riseq.systems.registry import SystemChoice
from riseq.systems.saved import Manifest, SetFacts, Store, Training
from riseq.terminal import track
from riseq.types import Example, InputError, Simplification


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What a system made of each example of a set, in order, and the scores of the whole."""

    predictions: tuple[Simplification, ...]
    scores: Scores


def evaluate(system: System, examples: Sequence[Example], first_turns: FirstTurns | None = None) -> Evaluation:
    """Return the predictions of ``system`` for ``examples`` and their scores.

    Questions without a dialogue are ``kept`` as they are or ``asked``, whatever the system does by itself (None).
    """
    if not examples:
        raise InputError("a score needs at least one example; got none")
    targets = [example.target for example in examples if example.target is not None]
    if len(targets) < len(examples):
        lacking = next(example.id for example in examples if example.target is None)
        raise InputError(f"the example {lacking!r} has no target; a score needs one for each")
    if first_turns == "asked":
        ask_first_turns(system)
    predictions = tuple(track(system.simplify(examples), len(examples), system.name))
    if len(predictions) != len(examples):
        raise ValueError(f"the system {system.name!r} gave {len(predictions)} results for {len(examples)} examples")
    if first_turns == "kept":
        pairs = zip(examples, predictions, strict=True)
        predictions = tuple(made if one.context else Simplification(one.question, one.question) for one, made in pairs)
    return Evaluation(predictions, score([prediction.text for prediction in predictions], targets))


def resolve_again(resolver: System, examples: Sequence[Example], results: Sequence[Simplification]) -> list[str]:
    """Return what ``resolver`` makes of each result in the dialogue of its example: the round trip."""
    asked = [replace(one, question=made.text, target=None) for one, made in zip(examples, results, strict=True)]
    return [one.text for one in track(resolver.simplify(asked), len(asked), "round trip")]


def ask_first_turns(system: System) -> None:
    """Have ``system`` answer questions without a dialogue too; raise where its saved outputs have no such answers."""
    if isinstance(system, Rise | saved.Saved):  # all others do it by themselves
        system.ask_first_turns()


@dataclass(frozen=True, slots=True)
class PredictionJob:
    """Whose outputs are to be saved, under what name, and the command that makes them."""

    name: str
    system: str
    command: str
    model: Path | None = None
    title: str | None = None
    note: str = ""
    limit: int | None = None
    """How many rows of each set; None takes all."""
    first_turns: FirstTurns | None = None
    """Whether the system is asked questions without a dialogue; None: as it does it by itself."""

    @property
    def model_folder(self) -> Path | None:
        """The model's folder, or its name where it is not one; None where the system has none."""
        return SystemChoice(self.system, self.model).resolve().model

    def fingerprint(self, dataset: str) -> dict[str, Any]:
        """Return everything that decides what the outputs on ``dataset`` are, as JSON has it."""
        name, grounded = split_form(dataset)
        if grounded and self.system != EDITING:
            raise InputError(f"{dataset}: the system {self.system!r} cannot be asked so, expected {EDITING!r}")
        found = {
            **SystemChoice(self.system, self.model_folder, Controls(grounded=grounded)).settings(),
            "data": digest(Path(locate_dataset(name))),
            "rows": self.limit,
            "passes": SAVED_PASSES if self.system == EDITING else None,
        }
        return found if self.first_turns is None else {**found, "first turns": self.first_turns}


def save_outputs(store: Store, job: PredictionJob, datasets: Sequence[str], again: bool = False) -> list[str]:
    """Write the outputs of a system on each set into the store; return the sets that were not there yet.

    What was made with another model, data set or version, or nobody knows with which, is made again. Rows go to a
    journal as they come, so a run that is stopped goes on with the row it stopped at.
    """
    manifest = describe_system(store, job)
    fingerprints = {name: job.fingerprint(name) for name in datasets}

    same = [name for name, facts in manifest.sets.items() if facts.fingerprint == fingerprints.get(name)]
    missing = [name for name in datasets if again or name not in same or store.find(job.name, name) is None]
    if not missing:
        return []
    examples = {name: _load(name, job.limit) for name in missing}
    systems: dict[bool, System] = {}
    for name in sorted(missing, key=lambda name: split_form(name)[1]):
        grounded = split_form(name)[1]
        if grounded not in systems:
            systems[grounded] = open_system(job.system, job.model, SAVED_PASSES, grounded)
            if job.first_turns == "asked":
                ask_first_turns(systems[grounded])
        path = journal_path(store.path(job.name, name))
        path.parent.mkdir(parents=True, exist_ok=True)
        with _open_journal(path, fingerprints[name], again) as journal:
            rows = _run(systems[grounded], examples[name], journal, f"{job.name} {name}")
            store.write(job.name, name, {row["id"]: row["passes"] for row in rows})
            seconds = round(rows[-1]["seconds"], 2)
            machine = describe_machine()
            facts = SetFacts(len(rows), job.command, seconds, machine, fingerprints[name], job.first_turns)
            manifest = manifest.with_set(name, facts)
            store.write_manifest(manifest)
            journal.remove()
    return missing


def _open_journal(path: Path, settings: dict[str, Any], again: bool) -> Journal:
    """Return the journal of one set, empty where ``again`` or where its rows are another model's."""
    try:
        journal = Journal(path, settings, resume=True)
        if not (again and journal.done):
            return journal
        journal.remove()
    except OtherSettings:
        path.unlink()
    return Journal(path, settings)


def _run(system: System, examples: Sequence[Example], journal: Journal, title: str) -> list[dict[str, Any]]:
    """Bring ``journal`` to one row an example and return its rows; each has the seconds up to it, over all runs."""
    rows: list[dict[str, Any]] = list(journal.entries())
    began = time.perf_counter() - (rows[-1]["seconds"] if rows else 0.0)
    left = examples[len(rows) :]
    results = track(system.simplify(left), len(examples), title, done=len(rows))
    for example, result in zip(left, results, strict=True):
        seconds = time.perf_counter() - began
        rows.append({"id": example.id, "passes": saved.list_passes(result), "seconds": seconds})
        journal.add(rows[-1])
    return rows


def describe_system(store: Store, job: PredictionJob) -> Manifest:
    """Return the system's manifest as it stands, brought up to date with what is known of its model."""
    planned = BY_NAME.get(job.name)
    manifest = store.read_manifest(job.name) or Manifest(job.name, planned.title if planned else job.name, job.system)
    title, note = job.title or manifest.title, job.note or manifest.note
    manifest = replace(manifest, title=title, system=job.system, note=note)
    folder = job.model_folder
    if folder is None or not folder.is_dir():
        return manifest
    facts = read_facts(folder)
    training = manifest.training
    if facts.hours is not None:
        training = training or Training(_guess_command(job.name, folder))
        training = replace(training, hours=round(facts.hours, 6), edited=facts.edited, steps=facts.steps)
    return replace(
        manifest,
        counted_passes=COUNTED_PASSES if job.system == EDITING else None,
        parameters=facts.parameters if facts.parameters is not None else manifest.parameters,
        seed=facts.seed if facts.seed is not None else manifest.seed,
        trained_on=facts.trained_on or manifest.trained_on,
        checkpoint="the model that ships" if job.model is None else str(job.model),
        training=training,
    )


def import_outputs(store: Store, job: PredictionJob, folder: Path) -> list[str]:
    """Write outputs that were made elsewhere (``SET.jsonl`` in ``folder``) into the store; return their sets.

    ``python benchmarks/score_checkpoints.py --out`` writes such files; what it repeats from pass to pass is left out.
    """
    manifest = describe_system(store, job)
    paths = {name: path for name in SAVED_SETS if (path := saved.find_outputs(folder, name)) is not None}
    if not paths:
        expected = ", ".join(f"{saved.file_stem(name)}.jsonl" for name in SAVED_SETS)
        raise InputError(f"{folder}: has no outputs, expected some of {expected}")
    for name, path in paths.items():
        outputs = saved.read_outputs(path)
        examples = _load(name, job.limit)
        lost = next((one.id for one in examples if one.id not in outputs), None)
        if lost is not None:
            raise InputError(f"{path}: has no output for the example {lost!r} of {name}")
        store.write(job.name, name, {one.id: saved.trim(one.question, outputs[one.id]) for one in examples})
        manifest = manifest.with_set(name, SetFacts(len(examples), job.command, first_turns=job.first_turns))
    store.write_manifest(manifest)
    return list(paths)


def note_training(
    store: Store, name: str, hardware: str | None = None, hours: float | None = None, command: str | None = None
) -> None:
    """Write into the manifest of ``name`` what it was trained on, how long and by which command, where it is given."""
    manifest = store.read_manifest(name)
    if manifest is None:
        raise InputError(f"{store.folder / name}: has no saved predictions to note the training of")
    training = manifest.training or Training(_guess_command(name, Path(RUNS) / name / "best"))
    given = {"hardware": hardware, "hours": hours, "command": command}
    known: Any = {key: value for key, value in given.items() if value is not None}
    store.write_manifest(replace(manifest, training=replace(training, **known)))


def _load(name: str, limit: int | None) -> list[Example]:
    examples = load_dataset(split_form(name)[0], need_target=True)[:limit]
    if not examples:
        raise InputError(f"{name}: no questions, expected at least one")
    return examples


def _guess_command(name: str, folder: Path) -> str:
    recipe = BY_NAME[name].recipe if name in BY_NAME else None
    run = folder.parent if folder.name == "best" else folder
    return f"riseq train {f'recipes/{recipe}' if recipe else 'RECIPE'} --out {run}"
