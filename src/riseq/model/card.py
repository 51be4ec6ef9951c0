"""A model's card: the metadata at its top, which the Hugging Face hub reads, made from the config and scores."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from riseq.hub import is_hub_name
from riseq.model.folder import read_direction
from riseq.types import Direction, InputError

LICENCES = {
    "canard": "CANARD, CC BY-SA 4.0",
    "qrecc": "QReCC, CC BY-SA 3.0",
    "gecor": "GECOR-CamRest, CC BY 4.0",
    "followup": "FollowUp, Apache-2.0",
    "coqar": "CoQAR annotations, CC BY-SA 4.0",
    "everyday": "everyday dialogues (synthetic), CC BY 4.0",
}
"""The data sets that models are trained on, by what their files are called, with their licences."""
SHARED_ALIKE = "CC BY-SA"
LIBRARY = "riseq"
EXAMPLES: dict[Direction, tuple[tuple[tuple[str, ...], str], ...]] = {
    "simplify": (
        (("Who directed Alien?",), "When was Alien released?"),
        (("Is Lisbon worth a visit in winter?", "Yes, it is mild."), "What is the weather like in Lisbon in January?"),
        (("What do red pandas eat?",), "Where do red pandas live?"),
    ),
    "resolve": (
        (("Who directed Alien?",), "When was it released?"),
        (("Is Lisbon worth a visit in winter?", "Yes, it is mild."), "What is the weather like in January?"),
        (("What do red pandas eat?",), "Where do they live?"),
    ),
}
"""Dialogues and questions that a card shows, by what the model does."""
TASK = "text-generation"
"""The hub's name for it; its text2text-generation was merged into this one."""
_TASK_NAMES: dict[Direction, str] = {"simplify": "Question simplification", "resolve": "Question resolution"}
# Where the recipes keep encoders, and which ones these are.
_ENCODERS = {"weights/gte": "thenlper/gte-small", "weights/mpnet": "sentence-transformers/all-mpnet-base-v2"}
_METRICS = {"bleu4": ("bleu", "BLEU-4"), "rougeL": ("rouge", "ROUGE-L"), "cider": ("cider", "CIDEr")}
_SPLITS = {"dev": "validation", "test": "test", "train": "train"}
_TAGS = ("question-rewriting", "question-simplification", "conversational-search", "dialogue", "text-editing")
_BODY = (
    "# A riseq model\n\nMakes self-contained questions conversational by editing them (RISE, ACL 2021). English only.\n"
)
_METADATA = re.compile(r"\A---\r?\n(.*?)^---\r?\n", re.DOTALL | re.MULTILINE)
_PLAIN = re.compile(r"[A-Za-z][\w./-]*( [\w./-]+)*")
_NOT_TEXT = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})

Shown = tuple[Sequence[str], str, str]
"""A dialogue, a question, and what the model makes of it."""


def name_licences(settings: Mapping[str, Any]) -> list[str]:
    """Return the known data sets that a model's settings name, with their licences."""
    used = [*_list_trained_on(settings), *settings.get("dev", ())]
    return [text for key, text in LICENCES.items() if any(key in name for name in used)]


def _list_trained_on(settings: Mapping[str, Any]) -> list[str]:
    return [name for part in ("train", "with_truth", "everyday") for name in settings.get(part) or ()]


def make_metadata(
    config: Mapping[str, Any],
    name: str = "riseq",
    scores: Mapping[str, Mapping[str, float]] | None = None,
    shown: Iterable[Shown] = (),
) -> dict[str, Any]:
    """Return a card's metadata for the model called ``name``, from what its config says of its training and scores.

    ``scores`` are more of them, by set, such as those of test sets; ``shown`` are examples with their outputs.
    """
    facts = config.get("riseq", config)  # a language model's config is its library's; ours is a part of it
    settings = facts.get("settings") or {}
    learnt = _list_trained_on(settings)
    encoder = _ENCODERS.get(settings.get("backbone", ""), settings.get("backbone"))
    licences = name_licences(settings)
    metadata = {
        "language": "en",
        "license": "cc-by-sa-4.0" if any(SHARED_ALIKE in text for text in licences) else None,
        "library_name": LIBRARY,
        "pipeline_tag": TASK,
        "base_model": encoder if encoder and is_hub_name(encoder) else None,
        "datasets": [key for key in LICENCES if any(key in one for one in learnt)],
        "metrics": ["bleu", "rouge", "cider"],
        "tags": [*_TAGS, *(["onnx"] if "checksums" in config else [])],
        "widget": _make_widget(shown),
    }
    # An export's own scores are those of the checkpoint that it was made from.
    task = _TASK_NAMES[read_direction(facts)]
    own = f"{task}, before export" if "checksums" in config else task
    results = [_make_result(one, values, own) for one, values in facts.get("scores", {}).items()]
    results += [_make_result(one, values, task) for one, values in (scores or {}).items()]
    if results:
        metadata["model-index"] = [{"name": name, "results": results}]
    return {key: value for key, value in metadata.items() if value}


def _make_widget(shown: Iterable[Shown]) -> list[dict[str, Any]]:
    return [{"text": "\n".join([*context, question]), "output": {"text": text}} for context, question, text in shown]


def _make_result(dataset: str, scores: Mapping[str, float], task: str) -> dict[str, Any]:
    """Return the scores on one set as the hub's model index has them: ``canard/dev.qa`` is a split and a form."""
    key, _, rest = dataset.rpartition("/")
    split, _, form = rest.partition(".")
    about = {"name": dataset, "type": key or Path(dataset).stem, "config": form or None, "split": _SPLITS.get(split)}
    metrics = [
        {"type": kind, "name": title, "value": round(float(scores[name]), 3 if name == "cider" else 2)}
        for name, (kind, title) in _METRICS.items()
        if name in scores
    ]
    return {
        "task": {"type": TASK, "name": task},
        "dataset": {name: value for name, value in about.items() if value},
        "metrics": metrics,
    }


def read_metadata(card: str, where: str | Path = "the card") -> dict[str, Any]:
    """Return the metadata that a card begins with, none where it has none; errors begin with ``where``."""
    found = _METADATA.match(card)
    if found is None:
        return {}
    import yaml  # only the extra train has it

    try:
        metadata = yaml.safe_load(found[1])
    except yaml.YAMLError as error:
        line = f", line {mark.line + 2}" if (mark := getattr(error, "problem_mark", None)) else ""
        raise InputError(f"{where}{line}: not YAML, expected metadata between the two lines ---") from error
    if not isinstance(metadata or {}, dict):
        raise InputError(f"{where}: metadata of the type {type(metadata).__name__}, expected names and values")
    return metadata or {}


def write_export_card(card: str, config: Mapping[str, Any], name: str) -> str:
    """Return a checkpoint's card as that of its export, which is called ``name`` and has this config.

    Its text and other metadata stay. The tags have ``onnx``, the scores are the config's, from before the export, and
    examples with their outputs are left out, for the export's may differ.
    """
    kept, made = read_metadata(card), make_metadata(config, name)
    tags = kept.pop("tags", None)
    for key in ("model-index", "widget"):
        kept.pop(key, None)
    made |= kept | {"tags": list(dict.fromkeys([*(tags if isinstance(tags, list) else ()), *made["tags"]]))}
    return replace_metadata(card, made)


def has_metadata(card: str) -> bool:
    """Return whether a card begins with metadata."""
    return _METADATA.match(card) is not None


def lacks_examples(card: str) -> bool:
    """Return whether a card has riseq's metadata without examples, as an export's has; read as text, without YAML."""
    found = _METADATA.match(card)
    lines = found[1].splitlines() if found else []
    return f"library_name: {LIBRARY}" in lines and "widget:" not in lines


def add_examples(card: str, shown: Iterable[Shown]) -> str:
    """Return the card with examples after the metadata that it begins with."""
    found = _METADATA.match(card)
    if found is None:
        raise ValueError("the card has no metadata")
    lines = "".join(f"{line}\n" for line in _write_yaml({"widget": _make_widget(shown)}))
    return f"{card[: found.end(1)]}{lines}{card[found.end(1) :]}"


def replace_metadata(card: str, metadata: Mapping[str, Any]) -> str:
    """Return the card with ``metadata`` at its top in place of what was there; an empty card gets a first line."""
    lines = "".join(f"{line}\n" for line in _write_yaml(metadata))
    return f"---\n{lines}---\n{_METADATA.sub('', card) or _BODY}"


def _write_yaml(value: object) -> Iterator[str]:
    """Yield the lines of a mapping, a list or a single value as YAML; strings that YAML may misread are quoted."""
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            name, lines = next(_write_yaml(key)), list(_write_yaml(inner))
            if isinstance(inner, Mapping | list) and inner:
                yield f"{name}:"
                yield from (f"  {line}" for line in lines)
            else:
                yield f"{name}: {lines[0]}"
    elif isinstance(value, list) and value:
        for inner in value:
            first, *others = _write_yaml(inner)
            yield f"- {first}"
            yield from (f"  {line}" for line in others)
    elif isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _NOT_TEXT:
        yield value
    else:
        yield json.dumps(value, ensure_ascii=False, default=str)  # a date is none of JSON's values
