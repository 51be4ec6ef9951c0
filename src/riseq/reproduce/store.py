"""Saved predictions: a folder a system, with a file of outputs for each set and a manifest of how they were made."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from riseq.data.tables import write_rows
from riseq.files import write_json
from riseq.systems.saved import MANIFEST, Outputs, read_outputs
from riseq.types import InputError

SUFFIXES = (".jsonl.gz", ".jsonl")


@dataclass(frozen=True, slots=True)
class SetFacts:
    """How a system's outputs on one set were made."""

    rows: int
    command: str
    seconds: float | None = None
    hardware: str | None = None


@dataclass(frozen=True, slots=True)
class Training:
    """What training a system took."""

    command: str
    hours: float | None = None
    hardware: str | None = None
    edited: float | None = None
    """The share of words that the last epoch's sampled actions edit (1 - the share of KEEP), where the run told it."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is known of a system whose outputs are saved."""

    name: str
    title: str
    system: str
    convention: str = "contexts of earlier questions only"
    counted_passes: int | None = None
    """How many of the saved passes are the system's output; None counts all."""
    parameters: int | None = None
    seed: int | None = None
    trained_on: tuple[str, ...] = ()
    """The sets it was trained on, as its model tells them."""
    checkpoint: str | None = None
    note: str = ""
    training: Training | None = None
    sets: Mapping[str, SetFacts] = field(default_factory=dict)

    def with_set(self, name: str, facts: SetFacts) -> Manifest:
        """Return the manifest that also tells of the set ``name``."""
        return replace(self, sets=dict(sorted({**self.sets, name: facts}.items())))


@dataclass(frozen=True, slots=True)
class Store:
    """A folder of saved predictions."""

    folder: Path

    def names(self) -> list[str]:
        """Return the systems that have a manifest, in order."""
        return sorted(path.parent.name for path in self.folder.glob(f"*/{MANIFEST}"))

    def read_manifest(self, name: str) -> Manifest | None:
        """Return what is known of the system ``name``; None where nothing of it is saved."""
        path = self.folder / name / MANIFEST
        if not path.is_file():
            return None
        try:
            told = json.loads(path.read_text(encoding="utf-8"))
            sets = {key: SetFacts(**facts) for key, facts in told.pop("sets", {}).items()}
            training = told.pop("training", None)
            told["trained_on"] = tuple(told.get("trained_on", ()))
            return Manifest(**told, training=None if training is None else Training(**training), sets=sets)
        except (ValueError, TypeError, AttributeError) as error:
            raise InputError(f"{path}: is no manifest of saved predictions: {error}") from None

    def write_manifest(self, manifest: Manifest) -> None:
        """Write the manifest into the folder of its system."""
        (self.folder / manifest.name).mkdir(parents=True, exist_ok=True)
        write_json(self.folder / manifest.name / MANIFEST, asdict(manifest))

    def find(self, name: str, dataset: str) -> Path | None:
        """Return the file of the outputs of ``name`` on ``dataset``; None where there is none."""
        for suffix in SUFFIXES:
            path = self.folder / name / f"{file_stem(dataset)}{suffix}"
            if path.is_file():
                return path
        return None

    def read(self, name: str, dataset: str) -> Outputs | None:
        """Return the saved outputs of ``name`` on ``dataset``; None where there are none."""
        path = self.find(name, dataset)
        return None if path is None else read_outputs(path)

    def place(self, name: str, dataset: str) -> Path:
        """Return the file that the outputs of ``name`` on ``dataset`` go to."""
        return self.folder / name / f"{file_stem(dataset)}{SUFFIXES[0]}"

    def write(self, name: str, dataset: str, rows: Iterable[Mapping[str, object]]) -> Path:
        """Write the rows of outputs of ``name`` on ``dataset``, whole, and return their file."""
        path = self.place(name, dataset)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_rows(path, rows)
        path.with_suffix("").unlink(missing_ok=True)  # the same set, not packed
        return path


def file_stem(dataset: str) -> str:
    """Return the name of a set's file, less its suffix: ``canard/test.qonly`` is ``canard.test.qonly``."""
    return dataset.strip("./").replace("/", ".")
