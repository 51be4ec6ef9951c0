"""Which names are folders here, and models fetched from the Hugging Face hub."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from riseq.types import InputError


def is_local(name: str | Path) -> bool:
    """Return whether ``name`` is a path, there or not: such a name is never asked of the hub.

    >>> [is_local(name) for name in ("weights/gte", "./mine", "a/b/c", "thenlper/gte-small", "gpt2")]
    [True, True, True, False, False]
    """
    text = str(name)
    if text.startswith(("weights/", ".", "/", "~", "\\")) or text.count("/") > 1:
        return True
    return "/" in text and Path(text).parent.is_dir()


def fetch(name: str, files: Sequence[str], revision: str | None = None) -> Path:
    """Return the folder with those ``files`` of the hub's model ``name``, from its cache where they are there."""
    try:
        import huggingface_hub as hub
    except ModuleNotFoundError:
        raise InputError(
            f"{name}: no such folder; if it is a model on the Hugging Face hub: pip install 'riseq[hub]'"
        ) from None
    try:
        return Path(hub.snapshot_download(name, revision=revision, allow_patterns=list(files)))
    # The hub, its cache and the network have dozens of kinds of failure; all of them mean that there is no model.
    except Exception as error:
        reason = next((line for line in map(str.strip, str(error).splitlines()) if line), type(error).__name__)
        raise InputError(
            f"{name}: no such folder, and not to be had from the Hugging Face hub: {reason[:300]}"
        ) from error
