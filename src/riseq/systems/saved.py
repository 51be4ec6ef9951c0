"""Saved outputs: their files, the manifest of how they were made, and the system that hands them out again.

A store has a folder a system, with ``manifest.json`` and for each set packed JSONL, one row an example: ``{"id": "...",
"passes": ["the text after pass 1", ...]}``, without passes that change nothing, and without the set's own texts. A row
of predictions beside their targets (``{"id": "...", "prediction": "..."}``) is read too, as one pass. Finished outputs
may lie in one archive of the store instead (``riseq.systems.archive``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

from riseq.data.formats import read_jsonl
from riseq.data.rows import BadRow
from riseq.data.tables import write_rows
from riseq.files import name_source, open_source, write_json
from riseq.metrics.first_turns import FirstTurns
from riseq.systems.archive import ARCHIVE, is_archived, open_archived, read_archive, write_archive
from riseq.text.words import forms
from riseq.types import Example, InputError, Simplification, Step

MANIFEST = "manifest.json"
SUFFIXES = (".jsonl.gz", ".jsonl")
Outputs = Mapping[str, Sequence[str]]
"""The texts after each pass, by the example's id."""


class Saved:
    """Hands out what a file of outputs has for each example, as many passes as its manifest says count."""

    name = "saved"

    def __init__(self, file: Path | None = None) -> None:
        if file is None:
            raise InputError("the system 'saved' needs a file of outputs; name it with --model")
        self._file = file
        self._outputs = read_outputs(file)
        manifest = file.parent / MANIFEST
        self._facts: dict[str, Any] = json.loads(manifest.read_text(encoding="utf-8")) if manifest.is_file() else {}
        counted = self._facts.get("counted_passes")
        self._limit = counted if isinstance(counted, int) else None

    def ask_first_turns(self) -> None:
        """Raise where the outputs on questions without context are not the system's own: nothing is made up."""
        sets = self._facts.get("sets", {})
        name = next((one for one in sets if self._file.name in [file_stem(one) + end for end in SUFFIXES]), None)
        if name is not None and not Manifest.from_dict(self._facts).asks(name):
            raise InputError(
                f"{self._file}: questions without a dialogue were kept as they are, the system was not asked; "
                "riseq predict --first-turns asked saves what it makes of them"
            )

    def simplify(self, examples: Iterable[Example]) -> Iterator[Simplification]:
        """Yield the saved output of each example."""
        for example in examples:
            passes = self._outputs.get(example.id)
            if passes is None:
                raise InputError(f"{self._file}: has no output for the example {example.id!r}; is it of another set?")
            steps = tuple(map(Step, trim(example.question, passes)))[: self._limit]
            yield Simplification(example.question, steps[-1].text if steps else example.question, steps)


@dataclass(frozen=True, slots=True)
class SetFacts:
    """How a system's outputs on one set were made."""

    rows: int
    command: str
    seconds: float | None = None
    hardware: str | None = None
    fingerprint: Mapping[str, object] | None = None
    """The model, the data and the version they were made with; None where that was not written down."""
    first_turns: FirstTurns | None = None
    """Whether the system was asked questions without a dialogue; None: as the system does it by itself."""


@dataclass(frozen=True, slots=True)
class Training:
    """What training a system took."""

    command: str
    hours: float | None = None
    hardware: str | None = None
    edited: float | None = None
    """The share of words that the kept epoch's sampled actions edit (1 - the share of KEEP), where the run has it."""
    steps: int | None = None
    """How many steps it took to the end of the kept epoch, where the run has it; hours are the whole run's."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is known of a system whose outputs are saved."""

    name: str
    title: str
    system: str
    convention: str = "contexts of earlier questions only; in canard/test.qa of earlier questions and answers"
    counted_passes: int | None = None
    """How many of the saved passes are the system's output; None counts all."""
    parameters: int | None = None
    seed: int | None = None
    trained_on: tuple[str, ...] = ()
    """The sets it was trained on, as its model has them."""
    checkpoint: str | None = None
    note: str = ""
    training: Training | None = None
    sets: Mapping[str, SetFacts] = field(default_factory=dict)

    def with_set(self, name: str, facts: SetFacts) -> Manifest:
        """Return the manifest with the facts of the set ``name``."""
        return replace(self, sets=dict(sorted({**self.sets, name: facts}.items())))

    def asks(self, dataset: str) -> bool:
        """Return whether the outputs on ``dataset`` are the system's own for questions without a dialogue too.

        RISE by itself keeps such questions as they are; the others are asked like any other.
        """
        facts = self.sets.get(dataset)
        return self.system != "rise" if facts is None or facts.first_turns is None else facts.first_turns == "asked"

    def to_dict(self) -> dict[str, Any]:
        """Return the manifest as JSON has it; what is not known of a set has no key."""
        fields = asdict(self)
        for facts in fields["sets"].values():
            for key in ("fingerprint", "first_turns"):
                if facts[key] is None:
                    del facts[key]
        return fields

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Manifest:
        """Return the manifest that ``to_dict`` wrote."""
        sets = {name: SetFacts(**facts) for name, facts in values.get("sets", {}).items()}
        training = None if values.get("training") is None else Training(**values["training"])
        trained_on = tuple(values.get("trained_on", ()))
        return cls(**{**values, "trained_on": trained_on, "training": training, "sets": sets})


@dataclass(frozen=True, slots=True)
class Store:
    """A folder of saved outputs."""

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
            return Manifest.from_dict(json.loads(path.read_text(encoding="utf-8")))
        except (ValueError, TypeError, AttributeError) as error:
            raise InputError(f"{path}: is no manifest of saved predictions: {error}") from None

    def write_manifest(self, manifest: Manifest) -> None:
        """Write the manifest into the folder of its system."""
        (self.folder / manifest.name).mkdir(parents=True, exist_ok=True)
        write_json(self.folder / manifest.name / MANIFEST, manifest.to_dict())

    def path(self, name: str, dataset: str) -> Path:
        """Return the file that the outputs of ``name`` on ``dataset`` go to."""
        return self.folder / name / f"{file_stem(dataset)}{SUFFIXES[0]}"

    def find(self, name: str, dataset: str) -> Path | None:
        """Return the file of the outputs of ``name`` on ``dataset``; None where there is none."""
        return find_outputs(self.folder / name, dataset)

    def read(self, name: str, dataset: str) -> Outputs | None:
        """Return the saved outputs of ``name`` on ``dataset``; None where there are none."""
        path = self.find(name, dataset)
        return None if path is None else read_outputs(path)

    def write(self, name: str, dataset: str, outputs: Outputs) -> Path:
        """Write the outputs of ``name`` on ``dataset``, whole, and return their file."""
        path = self.path(name, dataset)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_rows(path, ({"id": key, "passes": list(passes)} for key, passes in outputs.items()))
        path.with_suffix("").unlink(missing_ok=True)  # the same set, not packed
        return path

    def archive(self, system: str | None = None) -> Path:
        """Move all outputs into the store's archive, over those it has, and return it; those of unknown systems go.

        Those of one ``system`` go into an archive of its own, which the store's takes in when all are moved.
        """
        archive, loose = self.folder / (system or "") / ARCHIVE, []
        contents = dict(read_archive(archive)) if archive.is_file() else {}
        for name in self.names() if system is None else [system]:
            if system is None and (own := self.folder / name / ARCHIVE).is_file():
                contents |= read_archive(own)
                loose.append(own)
            for path in sorted(path for end in SUFFIXES for path in (self.folder / name).glob(f"*{end}")):
                with open_source(path) as file:
                    contents[f"{name}/{path.name.removesuffix('.gz')}"] = file.read()
                loose.append(path)
        known = {*self.names()}
        write_archive(archive, {name: text for name, text in contents.items() if name.partition("/")[0] in known})
        for path in loose:
            path.unlink()
        return archive


def file_stem(dataset: str) -> str:
    """Return the name of a set's file, less its suffix: ``canard/test.qonly`` is ``canard.test.qonly``."""
    return dataset.strip("./").replace("/", ".")


def find_outputs(folder: Path, dataset: str) -> Path | None:
    """Return the file of outputs on ``dataset`` in ``folder``, packed, archived or not; None where there is none."""
    paths = [folder / f"{file_stem(dataset)}{suffix}" for suffix in SUFFIXES]
    return next((path for path in paths if path.is_file()), None) or next(filter(is_archived, paths), None)


def read_outputs(path: str | Path) -> Outputs:
    """Return the texts after each pass, by the example's id."""
    outputs: dict[str, tuple[str, ...]] = {}
    name = name_source(path)
    with _open_outputs(path) as file:
        for row in read_jsonl(file, name, need_target=False):
            if isinstance(row, BadRow):
                raise InputError(str(row))
            number, fields = row
            key, passes = fields.get("id"), fields.get("passes", [fields.get("prediction")])
            if not isinstance(key, str):
                raise InputError(f"{name}:{number}: id: expected a string")
            if not isinstance(passes, list) or not all(isinstance(text, str) for text in passes):
                raise InputError(f"{name}:{number}: passes: expected a list of strings, the text after each pass")
            if key in outputs:
                raise InputError(f"{name}:{number}: id: {key!r} is there twice, expected one output an example")
            outputs[key] = tuple(passes)
    return outputs


def _open_outputs(path: str | Path) -> AbstractContextManager[BinaryIO]:
    archived = not Path(path).exists() and is_archived(Path(path))
    return open_archived(Path(path)) if archived else open_source(path)


def list_passes(result: Simplification) -> list[str]:
    """Return the texts after each pass of ``result``; a system that writes in one go has made one pass."""
    texts = [step.text for step in result.steps] or [result.text]
    if texts[-1] != result.text:
        texts.append(result.text)
    return trim(result.question, texts)


def trim(question: str, passes: Sequence[str]) -> list[str]:
    """Return the passes without those that leave every word, in any case, as it was."""
    words = [forms(text) for text in (question, *passes)]
    return [text for text, before, after in zip(passes, words, words[1:], strict=False) if after != before]
