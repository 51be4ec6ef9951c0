"""GGUF files (llama.cpp's format), read by numpy alone: metadata, and tensors unpacked to float32."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riseq.types import InputError

Floats = NDArray[np.float32]
Bytes = NDArray[np.uint8]

_MAGIC = b"GGUF"
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_BLOCK = 32  # weights that share a scale


@dataclass(frozen=True, slots=True)
class Packing:
    """How one kind of tensor is stored: weights a block, bytes a block, and how blocks become weights."""

    name: str
    weights: int
    size: int
    unpack: Callable[[Bytes], Floats]


def _unpack_float32(blocks: Bytes) -> Floats:
    return blocks.view("<f4").astype(np.float32)


def _unpack_float16(blocks: Bytes) -> Floats:
    return blocks.view("<f2").astype(np.float32)


def _half(blocks: Bytes, start: int) -> Floats:
    return np.ascontiguousarray(blocks[:, start : start + 2]).view("<f2").astype(np.float32)


def _nibbles(packed: Bytes) -> Floats:
    """Return 32 numbers 0..15 a block: the low halves of its 16 bytes, then the high ones."""
    return np.concatenate([packed & 15, packed >> 4], axis=1).astype(np.float32)


def _unpack_q4_0(blocks: Bytes) -> Floats:
    return _half(blocks, 0) * (_nibbles(blocks[:, 2:]) - 8)


def _unpack_q4_1(blocks: Bytes) -> Floats:
    return _half(blocks, 0) * _nibbles(blocks[:, 4:]) + _half(blocks, 2)


def _unpack_q8_0(blocks: Bytes) -> Floats:
    return _half(blocks, 0) * np.ascontiguousarray(blocks[:, 2:]).view(np.int8).astype(np.float32)


PACKINGS = {
    0: Packing("F32", 1, 4, _unpack_float32),
    1: Packing("F16", 1, 2, _unpack_float16),
    2: Packing("Q4_0", _BLOCK, 18, _unpack_q4_0),
    3: Packing("Q4_1", _BLOCK, 20, _unpack_q4_1),
    8: Packing("Q8_0", _BLOCK, 34, _unpack_q8_0),
}


@dataclass(frozen=True, slots=True)
class _Entry:
    shape: tuple[int, ...]
    kind: int
    start: int


class GgufFile:
    """A GGUF file: its ``metadata`` by key, and its tensors by name."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            self._data: Bytes = np.memmap(self.path, dtype=np.uint8, mode="r")
        except (OSError, ValueError) as error:
            raise InputError(f"{self.path}: cannot be read ({error}); expected a GGUF file") from error
        if self._data[:4].tobytes() != _MAGIC:
            raise InputError(f"{self.path}: does not start with GGUF; expected a GGUF file")
        self._at = 4
        try:
            self._read_header()
        except (struct.error, UnicodeDecodeError, KeyError) as error:
            raise InputError(f"{self.path}: broken GGUF near byte {self._at} ({error!r})") from error

    def _read_header(self) -> None:
        version = self._scalar("I")
        if version not in (2, 3):
            raise InputError(f"{self.path}: GGUF version {version}; expected 2 or 3")
        tensors, keys = self._scalar("Q"), self._scalar("Q")
        self.metadata: dict[str, Any] = {}
        for _ in range(keys):
            key = self._string()
            self.metadata[key] = self._value(self._scalar("I"))
        self._entries: dict[str, _Entry] = {}
        for _ in range(tensors):
            name = self._string()
            shape = tuple(self._scalar("Q") for _ in range(self._scalar("I")))
            kind, start = self._scalar("I"), self._scalar("Q")
            self._entries[name] = _Entry(shape[::-1], kind, start)  # GGUF names the fastest dimension first
        step = self.metadata.get("general.alignment", 32)
        self._base = self._at + -self._at % step

    def names(self) -> Iterator[str]:
        """Yield the names of the tensors."""
        return iter(self._entries)

    def tensor(self, name: str) -> Floats:
        """Return a tensor unpacked to float32."""
        entry = self._entries.get(name)
        if entry is None:
            raise InputError(f"{self.path}: no tensor {name!r}")
        packing = PACKINGS.get(entry.kind)
        if packing is None:
            known = ", ".join(p.name for p in PACKINGS.values())
            raise InputError(f"{self.path}: tensor {name!r} is packed by kind {entry.kind}; expected one of {known}")
        count = int(np.prod(entry.shape, dtype=np.int64))
        size = count // packing.weights * packing.size
        start = self._base + entry.start
        raw = self._data[start : start + size]
        if len(raw) < size or count % packing.weights:
            raise InputError(f"{self.path}: tensor {name!r} is cut short, {len(raw)} of {size} bytes")
        blocks = np.ascontiguousarray(raw).reshape(-1, packing.size)
        return packing.unpack(blocks).reshape(entry.shape)

    def _scalar(self, kind: str) -> Any:
        size = struct.calcsize(f"<{kind}")
        (value,) = struct.unpack(f"<{kind}", self._data[self._at : self._at + size].tobytes())
        self._at += size
        return value

    def _string(self) -> str:
        length = self._scalar("Q")
        text = self._data[self._at : self._at + length].tobytes().decode("utf-8")
        self._at += length
        return text

    def _value(self, kind: int) -> Any:
        if kind == _STRING:
            return self._string()
        if kind == _ARRAY:
            inner, count = self._scalar("I"), self._scalar("Q")
            return [self._value(inner) for _ in range(count)]
        return self._scalar(_SCALARS[kind])
