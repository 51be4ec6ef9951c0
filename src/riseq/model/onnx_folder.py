"""An exported model's folder: two ONNX graphs, JSON, phrases and vocabulary; read without torch."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from riseq.core.phrases import PhraseVocabulary
from riseq.text.pieces import Pieces
from riseq.types import InputError

FORMAT = 1


@dataclass(frozen=True, slots=True)
class ExportLayout:
    """The name of every file in an exported model's folder."""

    config: str = "config.json"
    encoder: str = "encoder.onnx"
    phraser: str = "phraser.onnx"
    phrases: str = "phrases.txt"
    vocabulary: str = "vocab.txt"
    card: str = "README.md"


LAYOUT = ExportLayout()


@dataclass(frozen=True, slots=True)
class Exported:
    """What is in an exported model's folder, the two graphs as the bytes of their files."""

    encoder: bytes
    phraser: bytes
    phrases: PhraseVocabulary
    pieces: Pieces
    max_pieces: int
    """How many pieces a row may have."""
    span_pieces: int
    """How many pieces of a span are read."""
    precision: str
    config: Mapping[str, Any]


def is_exported(folder: Path) -> bool:
    """Return whether ``folder`` looks like an exported model's."""
    return (folder / LAYOUT.encoder).is_file()


def checksum(content: bytes) -> str:
    """Return the CRC-32 of a file's content: damage is what it is for, not malice."""
    return f"{zlib.crc32(content):08x}"


def read_exported(folder: Path) -> Exported:
    """Return the model in ``folder``, its files checked against each other."""
    for name in (LAYOUT.config, LAYOUT.encoder, LAYOUT.phraser, LAYOUT.phrases, LAYOUT.vocabulary):
        if not (folder / name).is_file():
            raise InputError(f"{folder}: no {name}; expected the folder of a riseq model")
    config = _read_config(folder)
    phrases = _read_phrases(folder / LAYOUT.phrases)
    pieces = Pieces.load(folder / LAYOUT.vocabulary)
    _check_size(folder, LAYOUT.phrases, len(phrases), config["phrases"])
    _check_size(folder, LAYOUT.vocabulary, len(pieces), config["pieces"])
    for name in (LAYOUT.phrases, LAYOUT.vocabulary):
        # As many lines in another order would be read, and say something else. Older exports have no sums of them.
        if name in config["checksums"]:
            _read_checked(folder / name, config)
    return Exported(
        encoder=_read_checked(folder / LAYOUT.encoder, config),
        phraser=_read_checked(folder / LAYOUT.phraser, config),
        phrases=phrases,
        pieces=pieces,
        max_pieces=config["max_pieces"],
        span_pieces=config["span_pieces"],
        precision=config["precision"],
        config=config,
    )


_FIELDS = {"phrases": int, "pieces": int, "max_pieces": int, "span_pieces": int, "precision": str, "checksums": dict}


def _read_config(folder: Path) -> dict[str, Any]:
    path = folder / LAYOUT.config
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise InputError(f"{path}, line {error.lineno}: not JSON ({error.msg})") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text at byte {error.start}; expected JSON") from error
    except RecursionError as error:
        raise InputError(f"{path}: not usable JSON ({error})") from error
    if not isinstance(config, dict) or config.get("format") != FORMAT:
        found = config.get("format") if isinstance(config, dict) else None
        raise InputError(f"{path}: model format {found!r}; this riseq reads {FORMAT}")
    for name, kind in _FIELDS.items():
        if not isinstance(config.get(name), kind):
            raise InputError(f"{path}, field {name!r}: got {config.get(name)!r}, expected {kind.__name__}")
        if kind is int and config[name] < 1:
            raise InputError(f"{path}, field {name!r}: got {config[name]!r}, expected 1 or more")
    return config


def _read_checked(path: Path, config: Mapping[str, Any]) -> bytes:
    content = path.read_bytes()
    if checksum(content) != config["checksums"].get(path.name):
        raise InputError(f"{path}: damaged; its checksum is not the one in {LAYOUT.config}")
    return content


def _read_phrases(path: Path) -> PhraseVocabulary:
    try:
        return PhraseVocabulary.from_lines(path.read_text(encoding="utf-8").removesuffix("\n").split("\n"))
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text at byte {error.start}; expected phrases") from error
    except ValueError as error:
        raise InputError(f"{path}: {error}") from error


def _check_size(folder: Path, name: str, found: int, expected: int) -> None:
    if found != expected:
        raise InputError(
            f"{folder}: {name} has {found} lines, the network was made for {expected}; they don't belong together"
        )
