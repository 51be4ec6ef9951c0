"""Folders that appear whole or not at all, and the weights in them."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from riseq.types import InputError


@contextmanager
def make_folder(folder: Path) -> Iterator[Path]:
    """Yield a new folder that takes the place of ``folder`` after the block; where the block fails nothing changes."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        yield work
        replace_folder(work, folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def replace_folder(new: Path, old: Path) -> None:
    """Put the folder ``new`` in the place of ``old``, readable by everyone."""
    # A temporary folder and safetensors' files are the owner's alone.
    os.chmod(new, 0o755)
    for file in new.iterdir():
        os.chmod(file, 0o755 if file.is_dir() else 0o644)
    if old.exists():
        aside = _aside(old)
        shutil.rmtree(aside, ignore_errors=True)
        os.replace(old, aside)
        os.replace(new, old)
        shutil.rmtree(aside, ignore_errors=True)
    else:
        os.replace(new, old)


def recover_folder(folder: Path) -> None:
    """Put back the older ``folder`` where a kill came between the two moves of ``replace_folder``."""
    if not folder.exists() and _aside(folder).exists():
        os.replace(_aside(folder), folder)


def save_weights(path: Path, state: Mapping[str, Tensor], half: bool = False) -> None:
    """Write a network's tensors, in float16 where ``half``."""
    kind = torch.float16 if half else torch.float32
    # Copies, for safetensors takes no two names of one tensor.
    tensors = {name: tensor.detach().to("cpu", kind, copy=True).contiguous() for name, tensor in state.items()}
    save_file(tensors, path, metadata={"format": "pt"})


def load_weights(path: Path) -> dict[str, Tensor]:
    """Return a network's tensors in float32."""
    try:
        return {name: tensor.float() for name, tensor in load_file(path).items()}
    except SafetensorError as error:
        raise InputError(f"{path}: not a safetensors file ({error})") from error


def _aside(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.old")
