"""A system's outputs on sets, written into the store; a set that was begun goes on where it stopped."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from riseq.data.dataset import load_dataset
from riseq.engine.models import find_default_model
from riseq.files import write_json
from riseq.reproduce.facts import describe_machine, read_facts
from riseq.reproduce.plan import COUNTED_PASSES, PLAN, SAVED_PASSES
from riseq.reproduce.store import Manifest, SetFacts, Store, Training, file_stem
from riseq.systems.protocol import System
from riseq.systems.registry import load_system
from riseq.systems.saved import list_passes, read_outputs, trim
from riseq.terminal.progress import track
from riseq.types import Example, InputError

CLOCK_SECONDS = 1.0
"""How often the time spent is written down beside a part file."""
EDITING = "rise"
"""The system whose passes count up to a limit; all others write in one go."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Whose outputs are to be kept, and under what name."""

    name: str
    system: str
    command: str
    model: Path | None = None
    title: str | None = None
    note: str = ""
    limit: int | None = None
    """How many rows of each set; None takes all."""


def open_system(wanted: Wanted) -> System:
    """Return the system, told to make as many passes as are saved where it edits in passes."""
    if wanted.system != EDITING:
        return load_system(wanted.system, wanted.model)
    from riseq.systems.rise import Rise

    return Rise(wanted.model, max_passes=SAVED_PASSES)


def keep(
    store: Store, wanted: Wanted, datasets: Sequence[str], again: bool = False, console: Console | None = None
) -> list[str]:
    """Write the outputs of a system on each set into the store; return the sets that were not there yet.

    Rows go to a part file as they come, so a run that is stopped goes on with the row it stopped at.
    """
    manifest = describe(store, wanted)
    missing = [name for name in datasets if again or not _is_kept(store, manifest, name, wanted.command)]
    if not missing:
        return []
    examples = {name: _load(name, wanted.limit) for name in missing}
    system = open_system(wanted)
    for name in missing:
        part = store.folder / wanted.name / f".{file_stem(name)}.part.jsonl"
        part.parent.mkdir(parents=True, exist_ok=True)
        if again:
            part.unlink(missing_ok=True)
        seconds = _run_part(system, examples[name], part, wanted.command, f"{wanted.name} {name}", console)
        outputs = read_outputs(part)
        store.write(wanted.name, name, ({"id": one.id, "passes": list(outputs[one.id])} for one in examples[name]))
        facts = SetFacts(len(examples[name]), wanted.command, round(seconds, 2), describe_machine())
        manifest = manifest.with_set(name, facts)
        store.write_manifest(manifest)
        part.unlink()
    return missing


def describe(store: Store, wanted: Wanted) -> Manifest:
    """Return the system's manifest as it stands, brought up to date with what is known of its model."""
    found = store.read_manifest(wanted.name)
    planned = next((one for one in PLAN if one.name == wanted.name), None)
    title = wanted.title or (found.title if found else planned.title if planned else wanted.name)
    manifest = found or Manifest(wanted.name, title, wanted.system)
    manifest = replace(manifest, title=title, system=wanted.system, note=wanted.note or manifest.note)
    if wanted.system != EDITING and wanted.model is None:
        return manifest
    folder = wanted.model or find_default_model()
    if folder is None or not folder.is_dir():
        return manifest
    facts = read_facts(folder)
    training = manifest.training
    if facts.hours is not None:
        command = training.command if training else _guess_command(wanted.name, folder)
        training = replace(training or Training(command), hours=round(facts.hours, 6), edited=facts.edited)
    return replace(
        manifest,
        counted_passes=COUNTED_PASSES if wanted.system == EDITING else None,
        parameters=facts.parameters if facts.parameters is not None else manifest.parameters,
        seed=facts.seed if facts.seed is not None else manifest.seed,
        trained_on=facts.trained_on or manifest.trained_on,
        checkpoint="the model that ships" if wanted.model is None else str(wanted.model),
        training=training,
    )


def take_outputs(store: Store, wanted: Wanted, folder: Path, hardware: str | None = None) -> list[str]:
    """Take outputs that were written elsewhere (``SET.jsonl`` in ``folder``) into the store; return their sets.

    ``python benchmarks/score_checkpoints.py --out`` writes such files; what it repeats from pass to pass is left out.
    """
    from riseq.reproduce.plan import SETS

    manifest = describe(store, wanted)
    taken = []
    for name in SETS:
        path = next(
            (p for p in (folder / f"{file_stem(name)}{end}" for end in (".jsonl", ".jsonl.gz")) if p.is_file()), None
        )
        if path is None:
            continue
        outputs = read_outputs(path)
        examples = _load(name, wanted.limit)
        lost = next((one.id for one in examples if one.id not in outputs), None)
        if lost is not None:
            raise InputError(f"{path}: has no output for the example {lost!r} of {name}")
        rows = ({"id": one.id, "passes": trim(one.question, outputs[one.id])} for one in examples)
        store.write(wanted.name, name, rows)
        manifest = manifest.with_set(name, SetFacts(len(examples), wanted.command, None, hardware))
        taken.append(name)
    if not taken:
        expected = ", ".join(f"{file_stem(name)}.jsonl" for name in SETS)
        raise InputError(f"{folder}: has no outputs, expected some of {expected}")
    store.write_manifest(manifest)
    return taken


def _is_kept(store: Store, manifest: Manifest, name: str, command: str) -> bool:
    facts = manifest.sets.get(name)
    return facts is not None and facts.command == command and store.find(manifest.name, name) is not None


def _load(name: str, limit: int | None) -> list[Example]:
    examples = load_dataset(name, need_target=True)[:limit]
    if not examples:
        raise InputError(f"{name}: no questions, expected at least one")
    return examples


def _run_part(
    system: System, examples: Sequence[Example], part: Path, command: str, title: str, console: Console | None
) -> float:
    """Bring ``part`` to one row an example and return the seconds this took, over all the times it was begun."""
    clock = part.with_suffix(".clock")
    before, done = _read_part(part, clock, command)
    left = [one for one in examples if one.id not in done]
    began = time.perf_counter()
    spent = before
    write_json(clock, {"command": command, "seconds": spent})
    with open(part, "a", encoding="utf-8") as file:
        for example, result in zip(left, track(system.simplify(left), len(left), title, console), strict=True):
            file.write(json.dumps({"id": example.id, "passes": list_passes(result)}, ensure_ascii=False) + "\n")
            file.flush()
            now = before + time.perf_counter() - began
            if now - spent > CLOCK_SECONDS:
                spent = now
                write_json(clock, {"command": command, "seconds": spent})
    clock.unlink(missing_ok=True)
    return before + time.perf_counter() - began


def _read_part(part: Path, clock: Path, command: str) -> tuple[float, set[str]]:
    """Return the seconds and ids of what an earlier call of the same command left; nothing is kept of another's."""
    told = json.loads(clock.read_text(encoding="utf-8")) if clock.is_file() else {}
    if told.get("command") != command or not part.is_file():
        part.unlink(missing_ok=True)
        return 0.0, set()
    whole = [line for line in part.read_text(encoding="utf-8").splitlines(keepends=True) if line.endswith("\n")]
    part.write_text("".join(whole), encoding="utf-8")  # a kill can cut the last row short
    return float(told["seconds"]), set(read_outputs(part))


def _guess_command(name: str, folder: Path) -> str:
    planned = next((one for one in PLAN if one.name == name and one.recipe is not None), None)
    run = folder.parent if folder.name == "best" else folder
    return f"riseq train recipes/{planned.recipe} --out {run}" if planned else f"riseq train RECIPE --out {run}"


def note_training(store: Store, name: str, hardware: str | None, hours: float | None) -> None:
    """Write into the manifest of ``name`` what it was trained on and how long, where it is told."""
    manifest = store.read_manifest(name)
    if manifest is None:
        raise InputError(f"{store.folder / name}: has no saved predictions to note the training of")
    training = manifest.training or Training(_guess_command(name, Path("runs") / name / "best"))
    told = replace(
        training,
        hardware=training.hardware if hardware is None else hardware,
        hours=training.hours if hours is None else hours,
    )
    store.write_manifest(replace(manifest, training=told))
