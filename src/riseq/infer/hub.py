"""Models by name: a folder, or a model on the Hugging Face hub, of which a copy is kept here.

``owner/name`` is the hub's name of a model and ``owner/name@revision`` one of its versions. huggingface_hub fetches it
and keeps the copy where its own settings say (HF_HOME); without a network, or with HF_HUB_OFFLINE=1, the copy is used
as it is.
"""

from __future__ import annotations

import re
from pathlib import Path

from riseq.types import InputError

EXPECTED = "expected the folder of a riseq model, or the name of one on the Hugging Face hub (owner/name)"
FILES = ("*.json", "*.onnx", "*.onnx.data", "*.safetensors", "*.txt", "README.md")
"""What a model's folder may have, exported or not."""

_LONGEST_SHOWN = 200
_NAME = re.compile(r"(?P<name>[\w.-]+/[\w.-]+)(@(?P<revision>[\w./-]+))?", re.ASCII)


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
    found = _NAME.fullmatch(Path(name).as_posix())
    if found is None or found["name"].startswith("."):
        raise InputError(f"{_show(name)}: no such folder, {EXPECTED}")
    return _fetch(found["name"], found["revision"])


def _fetch(name: str, revision: str | None) -> Path:
    try:
        import huggingface_hub as hub
    except ModuleNotFoundError:
        raise InputError(
            f"{name}: no such folder; if it is a model on the Hugging Face hub: pip install 'riseq[hub]'"
        ) from None
    try:
        return Path(hub.snapshot_download(name, revision=revision, allow_patterns=list(FILES)))
    # The hub, its cache and the network have dozens of kinds of failure; all of them mean that there is no model.
    except Exception as error:
        told = next((line for line in map(str.strip, str(error).splitlines()) if line), type(error).__name__)
        raise InputError(
            f"{name}: no such folder, and not to be had from the Hugging Face hub: {told[:300]}"
        ) from error


def _show(name: str | Path) -> str:
    text = str(name)
    return text if text.isprintable() and len(text) <= _LONGEST_SHOWN else repr(text[:_LONGEST_SHOWN])
