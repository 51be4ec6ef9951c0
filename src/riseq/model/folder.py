"""A model's folder: the names of its files, what both kinds read alike, and the exported kind, read without torch.

An exported model has two ONNX graphs, a checkpoint (``riseq.model.checkpoint``) the weights; both have a config in
JSON, phrases, a vocabulary and a card.
"""

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from riseq.core.phrases import PhraseVocabulary
from riseq.files import make_folder, write_json, write_text
from riseq.hub import MODEL_FOLDER, check_files, copy_model, find_other_file
from riseq.model.inputs import ContextWindow
from riseq.text.pieces import Pieces
from riseq.types import InputError

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Layout:
    """The name of every file in a model's folder."""

    config: str = "config.json"
    phrases: str = "phrases.txt"
    vocabulary: str = "vocab.txt"
    templates: str = "templates.txt"
    """Of a model whose copied phrases stand in templates."""
    card: str = "README.md"
    weights: str = "network.safetensors"
    """A checkpoint's network."""
    encoder: str = "encoder.onnx"
    """The two graphs of an exported model."""
    phraser: str = "phraser.onnx"
    table: str = "encoder.onnx.data"
    """The encoder's table of pieces, where one file would be too large."""


LAYOUT = Layout()
_COUNTS = dict.fromkeys(("phrases", "pieces", "max_pieces", "span_pieces"), int)
EXPORTED_FIELDS: dict[str, type] = {**_COUNTS, "precision": str, "checksums": dict}


def read_json(path: Path) -> Any:
    """Return what the JSON file at ``path`` holds."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise InputError(f"{path}, line {error.lineno}: not JSON ({error.msg})") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text at byte {error.start}; expected JSON") from error
    except RecursionError as error:
        raise InputError(f"{path}: not usable JSON ({error})") from error


def read_config(folder: Path, fields: Mapping[str, type], **defaults: object) -> dict[str, Any]:
    """Return the config of a model's folder, in which ``fields`` are of these types and numbers are 1 or more."""
    path = folder / LAYOUT.config
    config = read_json(path)
    found = config.get("format") if isinstance(config, dict) else None
    if not isinstance(config, dict) or found != FORMAT:
        raise InputError(f"{path}: model format {found!r}; this riseq reads {FORMAT}")
    config = {**defaults, **config}
    for name, kind in fields.items():
        if not isinstance(config.get(name), kind):
            raise InputError(f"{path}, field {name!r}: got {config.get(name)!r}, expected {kind.__name__}")
        if kind is int and config[name] < 1:
            raise InputError(f"{path}, field {name!r}: got {config[name]!r}, expected 1 or more")
    return config


def read_phrases(path: Path) -> PhraseVocabulary:
    """Return the phrases in a file, one a line."""
    try:
        text = path.read_text(encoding="utf-8")
        return PhraseVocabulary.from_lines(text.removesuffix("\n").split("\n") if text else [])
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text at byte {error.start}; expected phrases") from error
    except ValueError as error:
        raise InputError(f"{path}: {error}") from error


def write_vocabularies(folder: Path, phrases: PhraseVocabulary, pieces: Pieces) -> None:
    """Write the phrases and the pieces of a model into its folder."""
    write_text(folder / LAYOUT.phrases, "".join(f"{line}\n" for line in phrases.to_lines()))
    pieces.save(folder / LAYOUT.vocabulary)


def write_facts(folder: Path, config: Mapping[str, Any], card: str) -> None:
    """Write a model's config and card into its folder."""
    write_json(folder / LAYOUT.config, config)
    write_text(folder / LAYOUT.card, card)


def save_folder(source: Path, folder: Path, card: str) -> None:
    """Copy the model in ``source`` to ``folder``, with ``card``: whole or not at all.

    ``folder`` is new or empty, or has a model, whose place it takes.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file, expected a folder to write")
    if other := find_other_file(folder):
        raise InputError(f"{folder}: has {other.name}, which is no file of a model; expected a new or empty folder")
    if folder.is_dir() and any(folder.iterdir()):
        read_config(folder, {})  # raises for another library's model
    if folder.exists() and folder.samefile(source):
        write_text(folder / LAYOUT.card, card)
        return
    with make_folder(folder) as work:
        copy_model(source, work)
        write_text(work / LAYOUT.card, card)


@dataclass(frozen=True, slots=True)
class ExportedModel:
    """What is in an exported model's folder beside its two graphs."""

    phrases: PhraseVocabulary
    pieces: Pieces
    max_pieces: int
    """How many pieces a row may have."""
    span_pieces: int
    """How many pieces of a span are read."""
    precision: str
    window: ContextWindow
    """How much of a dialogue it reads."""
    config: Mapping[str, Any]


def is_exported(folder: Path) -> bool:
    """Return whether ``folder`` looks like an exported model's."""
    return (folder / LAYOUT.encoder).is_file()


def checksum(content: bytes) -> str:
    """Return the CRC-32 of a file's content: damage is what it is for, not malice."""
    return f"{zlib.crc32(content):08x}"


def load_exported(folder: Path) -> ExportedModel:
    """Return the model in ``folder``, its files checked against each other."""
    names = (LAYOUT.config, LAYOUT.encoder, LAYOUT.phraser, LAYOUT.phrases, LAYOUT.vocabulary)
    check_files(folder, names, MODEL_FOLDER)
    config = read_config(folder, EXPORTED_FIELDS)
    phrases = read_phrases(folder / LAYOUT.phrases)
    pieces = Pieces.load(folder / LAYOUT.vocabulary)
    sizes = ((LAYOUT.phrases, len(phrases), config["phrases"]), (LAYOUT.vocabulary, len(pieces), config["pieces"]))
    for name, found, expected in sizes:
        if found != expected:
            raise InputError(
                f"{folder}: {name} has {found} lines, the network was made for {expected}; they don't belong together"
            )
    # As many lines in another order would be read, and say something else. Older exports have no sums of them.
    for name in sorted({LAYOUT.encoder, LAYOUT.phraser, *config["checksums"]}):
        check_files(folder, [name], MODEL_FOLDER)
        if checksum((folder / name).read_bytes()) != config["checksums"].get(name):
            raise InputError(f"{folder / name}: damaged; its checksum is not the one in {LAYOUT.config}")
    own = {name: config[name] for name in ("max_pieces", "span_pieces", "precision")}
    return ExportedModel(phrases, pieces, window=read_window(config), config=config, **own)


def read_window(facts: Mapping[str, Any]) -> ContextWindow:
    """Return how much of a dialogue a model was trained to read, by what is known of its making."""
    settings = facts.get("settings")
    if not isinstance(settings, dict) or "utterance_pieces" not in settings:
        return ContextWindow()  # models before whole dialogues were read
    return ContextWindow(settings["utterance_pieces"], settings["utterances"])


def read_training_window(facts: Mapping[str, Any]) -> ContextWindow:
    """Return the very window that a model was trained with, its most pieces of a dialogue among it."""
    settings = facts.get("settings")
    most = settings.get("context_pieces") if isinstance(settings, dict) else None
    return replace(read_window(facts), pieces=most)
