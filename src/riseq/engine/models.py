"""Where models are: the one that ships with riseq, a folder, or one on the Hugging Face hub."""

from __future__ import annotations

import re
from pathlib import Path

from riseq.model.hub import fetch, is_local
from riseq.types import InputError

_PACKAGE = Path(__file__).resolve().parent.parent
_SHIPPED = Path("models", "default")


_EXAMPLES = Path("examples")


def find_default_model() -> Path | None:
    """Return the folder of the packaged model, or of the checkout's; None where there is none."""
    if (_PACKAGE / _SHIPPED).is_dir():
        return _PACKAGE / _SHIPPED
    root = _find_checkout()
    return root / _SHIPPED if root is not None and (root / _SHIPPED).is_dir() else None


def find_examples() -> list[Path]:
    """Return the checkout's files of example dialogues; none where riseq is installed without its checkout."""
    root = _find_checkout()
    if root is None:
        return []
    return [path for path in sorted((root / _EXAMPLES).glob("*.jsonl")) if not path.name.endswith(".results.jsonl")]


def _find_checkout() -> Path | None:
    root = _PACKAGE.parent.parent
    return root if (root / "pyproject.toml").is_file() else None


EXPECTED = "expected the folder of a riseq model, or the name of one on the Hugging Face hub (owner/name)"
FILES = ("*.json", "*.onnx", "*.onnx.data", "*.safetensors", "*.txt", "README.md")
"""What a model's folder may have, exported or not."""

_LONGEST_SHOWN = 200
_HUB_NAME = re.compile(r"(?P<name>[\w.-]+/[\w.-]+)(@(?P<revision>[\w./-]+))?", re.ASCII)


def find_model(name: str | Path) -> Path:
    """Return the folder that ``name`` is, or the one that the hub's model of that name was fetched to."""
    if not isinstance(name, str | Path):
        raise InputError(f"the model is a {type(name).__name__}, {EXPECTED}")
    try:
        is_folder, exists = Path(name).is_dir(), Path(name).exists()
    except (OSError, ValueError):  # too long for a name, or with a null character in it
        raise InputError(f"{_show(name)}: no such folder, {EXPECTED}") from None
    if is_folder:
        return Path(name)
    if exists:
        raise InputError(f"{name}: is a file, {EXPECTED}")
    found = _HUB_NAME.fullmatch(Path(name).as_posix())
    if found is None or is_local(found["name"]):
        raise InputError(f"{_show(name)}: no such folder, {EXPECTED}")
    return fetch(found["name"], FILES, found["revision"])


def _show(name: str | Path) -> str:
    text = str(name)
    return text if text.isprintable() and len(text) <= _LONGEST_SHOWN else repr(text[:_LONGEST_SHOWN])
