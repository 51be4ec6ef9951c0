"""A model's folder: the names of its files, what both kinds read alike, and the exported kind, read without torch.

An exported model has two ONNX graphs, a checkpoint (``riseq.model.checkpoint``) the weights; both have a config in
JSON, phrases, a vocabulary and a card.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from riseq.core.phrases import PhraseVocabulary
from riseq.core.templates import TemplateVocabulary
from riseq.files import checksum, make_folder, write_json, write_text
from riseq.hub import MODEL_FOLDER, check_files, copy_model, find_other_file
from riseq.model.differences import add_delta, is_graph, read_graph
from riseq.model.inputs import ContextWindow
from riseq.text.pieces import Pieces, read_known_vocabularies
from riseq.types import Direction, InputError

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


def read_templates(folder: Path, count: int) -> TemplateVocabulary:
    """Return the templates in a model's folder, of which its network knows ``count`` beside the bare one."""
    if not count:
        return TemplateVocabulary()
    check_files(folder, [LAYOUT.templates], MODEL_FOLDER)
    templates = TemplateVocabulary.from_lines((folder / LAYOUT.templates).read_text(encoding="utf-8").splitlines())
    if len(templates) != count + 1:
        found = f"{LAYOUT.templates} has {len(templates)} templates, the network {count + 1}"
        raise InputError(f"{folder}: {found}; they don't belong together")
    return templates


def write_vocabularies(
    folder: Path, phrases: PhraseVocabulary, pieces: Pieces, templates: TemplateVocabulary
) -> list[str]:
    """Write the phrases, the pieces and the templates of a model into its folder; return the names of the files."""
    lines = {LAYOUT.phrases: phrases.to_lines()}
    if len(templates) > 1:
        lines[LAYOUT.templates] = templates.to_lines()
    for name, written in lines.items():
        write_text(folder / name, "".join(f"{line}\n" for line in written))
    pieces.save(folder / LAYOUT.vocabulary)
    return [*lines, LAYOUT.vocabulary]


def find_known_vocabulary(checksums: Mapping[str, str]) -> bytes | None:
    """Return the vocabulary whose checksum these say, where it comes with riseq: a model need not have the file."""
    known = read_known_vocabularies()
    return next((one for one in known if checksum(one) == checksums.get(LAYOUT.vocabulary)), None)


def _load_pieces(folder: Path, checksums: Mapping[str, str]) -> Pieces:
    path = folder / LAYOUT.vocabulary
    known = None if path.is_file() else find_known_vocabulary(checksums)
    if known is None:
        check_files(folder, [LAYOUT.vocabulary], MODEL_FOLDER)
    return Pieces.load(path) if known is None else Pieces.parse(known, path)


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
        if is_exported(source) and not (work / LAYOUT.vocabulary).is_file():
            load_exported(source).pieces.save(work / LAYOUT.vocabulary)
        for name in (LAYOUT.encoder, LAYOUT.phraser):
            if (delta := add_delta(work / name)).is_file():  # elsewhere it stands alone
                (work / name).write_bytes(read_graph(source / name))
                delta.unlink()
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
    config: Mapping[str, Any]
    templates: TemplateVocabulary
    """In what its copied phrases can stand."""
    copies: int = 0
    """The longest phrase, in words, that it can copy; 0: none."""


def is_exported(folder: Path) -> bool:
    """Return whether ``folder`` looks like an exported model's."""
    return is_graph(folder / LAYOUT.encoder)


def load_exported(folder: Path) -> ExportedModel:
    """Return the model in ``folder``, its files checked against each other."""
    graphs = [name for name in (LAYOUT.encoder, LAYOUT.phraser) if not is_graph(folder / name)]
    check_files(folder, (LAYOUT.config, *graphs, LAYOUT.phrases), MODEL_FOLDER)
    config = read_config(folder, EXPORTED_FIELDS)
    phrases = read_phrases(folder / LAYOUT.phrases)
    pieces = _load_pieces(folder, config["checksums"])
    sizes = ((LAYOUT.phrases, len(phrases), config["phrases"]), (LAYOUT.vocabulary, len(pieces), config["pieces"]))
    for name, found, expected in sizes:
        if found != expected:
            raise InputError(
                f"{folder}: {name} has {found} lines, the network was made for {expected}; they don't belong together"
            )
    # As many lines in another order would be read, and say something else. Older exports have no sums of them.
    for name in sorted({LAYOUT.encoder, LAYOUT.phraser, *config["checksums"]}):
        if add_delta(folder / name).is_file():
            continue  # it checks itself when it is put together
        if name == LAYOUT.vocabulary and not (folder / name).is_file():
            continue  # one that riseq knows
        check_files(folder, [name], MODEL_FOLDER)
        if checksum((folder / name).read_bytes()) != config["checksums"].get(name):
            raise InputError(f"{folder / name}: damaged; its checksum is not the one in {LAYOUT.config}")
    own = {name: config[name] for name in ("max_pieces", "span_pieces", "precision")}
    network = config["network"] if isinstance(config.get("network"), dict) else {}
    templates = read_templates(folder, network.get("templates", 0))
    return ExportedModel(phrases, pieces, **own, config=config, templates=templates, copies=network.get("copies", 0))


def read_direction(facts: Mapping[str, Any]) -> Direction:
    """Return what a model was trained for, by what is known of its making."""
    return "resolve" if _read_settings(facts).get("direction") == "resolve" else "simplify"


def read_window(facts: Mapping[str, Any]) -> ContextWindow:
    """Return how much of a dialogue a model was trained to read, by what is known of its making."""
    settings = _read_settings(facts)
    if "utterance_pieces" not in settings:
        return ContextWindow()  # models before whole dialogues were read
    return ContextWindow(settings["utterance_pieces"], settings["utterances"])


def read_training_window(facts: Mapping[str, Any]) -> ContextWindow:
    """Return the very window that a model was trained with, its most pieces of a dialogue among it."""
    return replace(read_window(facts), pieces=_read_settings(facts).get("context_pieces"))


def _read_settings(facts: Mapping[str, Any]) -> Mapping[str, Any]:
    settings = facts.get("settings")
    return settings if isinstance(settings, dict) else {}
