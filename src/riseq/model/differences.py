"""An exported graph as what differs from another model's: most of it comes from there when it is opened.

A model that was learnt above one that stays as it is (``low_rank``) has that one's matrices, or those and a difference
in few numbers (``riseq.model.factors``). Its folder has ``encoder.onnx.delta`` and ``phraser.onnx.delta`` in place of
the graphs: a line of JSON that says what comes from where, then all other bytes, then the numbers; all compressed.
"""

import json
import lzma
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riseq.files import checksum
from riseq.hub import find_model
from riseq.model.factors import Factors, Shift, merge, move
from riseq.types import InputError

DELTA = ".delta"
SHORTEST = 256
"""Bytes; what is shorter is not worth looking for in the other graphs."""
_NUMBERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 0, "lp": 0, "pb": 0}]
"""How numbers that stand alone are compressed best."""


@dataclass(frozen=True, slots=True)
class Change:
    """A tensor that is computed from another model's: a matrix with its columns' scales, or a vector."""

    sources: Sequence[bytes]
    """What the other model has: the matrix and its scales, or the vector."""
    made: Sequence[bytes]
    """What this one has in place of them."""
    difference: Factors | Shift


def is_graph(path: Path) -> bool:
    """Return whether there is a graph at ``path``, or what differs from another."""
    return path.is_file() or add_delta(path).is_file()


def add_delta(path: Path) -> Path:
    """Return where the differences of the graph at ``path`` lie.

    >>> add_delta(Path("encoder.onnx")).name
    'encoder.onnx.delta'
    """
    return path.with_name(path.name + DELTA)


def read_graph(path: Path) -> bytes:
    """Return the graph at ``path``, put together where only its differences are there.

    The model that they differ from lies beside its own folder, or is one that ``riseq.hub.find_model`` finds.
    """
    if path.is_file() or not add_delta(path).is_file():
        return path.read_bytes()
    delta = add_delta(path)
    try:
        head, _, rest = lzma.decompress(delta.read_bytes()).partition(b"\n")
        said = json.loads(head)
        base, sums = said["base"], said["sums"]
    except (lzma.LZMAError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{delta}: damaged ({error}); expected the differences of a graph") from error
    beside = path.parent.parent / base
    folder, sources = beside if beside.is_dir() else find_model(base), {}
    for name, expected in sums.items():
        sources[name] = (folder / name).read_bytes()
        if checksum(sources[name]) != expected:
            raise InputError(f"{delta}: made above another version of the model {base!r}; its {name} has changed")
    made = _assemble(said, rest, sources)
    if checksum(made) != said.get("made", checksum(made)):  # the first differences did not say
        raise InputError(f"{delta}: damaged; the graph that it makes is not the one that was written")
    return made


def _assemble(said: Mapping[str, Any], rest: bytes, sources: Mapping[str, bytes]) -> bytes:
    """Return the graph that ``said`` and the bytes of its own make of those of another model."""
    parts = {start: sources[name][at : at + length] for start, name, at, length in said["copies"]}
    numbers = np.frombuffer(rest, dtype=np.int8)[said.get("numbers", len(rest)) :]

    def take(*shape: int) -> NDArray[np.int8]:
        nonlocal numbers
        taken, numbers = np.split(numbers, [int(np.prod(shape))])
        return taken.reshape(shape)

    for of_matrix, of_scales, inputs, outputs, rank, unit in said.get("merged", ()):
        matrix = np.frombuffer(sources[of_matrix[1]], np.int8, inputs * outputs, of_matrix[2])
        scales = np.frombuffer(sources[of_scales[1]], np.float32, outputs, of_scales[2])
        made = merge(matrix.reshape(inputs, outputs), scales, Factors(take(rank, inputs), take(rank, outputs), unit))
        parts[of_matrix[0]], parts[of_scales[0]] = (one.tobytes() for one in made)
    for start, name, at, length, unit in said.get("moved", ()):
        vector = np.frombuffer(sources[name], np.float32, length, at)
        parts[start] = move(vector, Shift(take(length), unit)).tobytes()
    graph, own = bytearray(), 0
    for start in sorted(parts):
        before = start - len(graph)
        graph += rest[own : own + before]
        graph += parts[start]
        own += before
    return bytes(graph + rest[own : said.get("numbers", len(rest))])


def write_delta(
    path: Path, base: str, graphs: Sequence[Path], shared: Iterable[bytes], changes: Iterable[Change] = ()
) -> None:
    """Replace the graph at ``path`` by its differences to the ``graphs`` of the model called ``base``.

    ``shared`` are the contents of tensors, which are looked for in them; ``changes`` are those that are computed.
    """
    content = path.read_bytes()
    sources = {one.name: one.read_bytes() for one in graphs}
    merged, moved, numbers = list[Any](), list[Any](), list[bytes]()
    covered = dict[int, int]()
    for change in sorted(changes, key=lambda one: isinstance(one.difference, Shift)):
        starts = [content.find(one) for one in change.made]
        if any(start < 0 for start in starts):
            continue  # it is in the other graph
        covered |= dict(zip(starts, map(len, change.made), strict=True))
        found = [(start, *_find(sources, one)) for start, one in zip(starts, change.sources, strict=True)]
        if isinstance(difference := change.difference, Shift):
            moved.append((*found[0], len(difference.numbers), difference.unit))
            numbers.append(difference.numbers.tobytes())
        else:
            narrow, wide = difference.narrow, difference.wide
            merged.append((*found, narrow.shape[1], wide.shape[1], len(wide), difference.unit))
            numbers += [narrow.tobytes(), wide.tobytes()]
    copies = list[tuple[int, str, int, int]]()
    for part in {one for one in shared if len(one) >= SHORTEST and any(one)}:
        start, source = content.find(part), next((name for name in sources if part in sources[name]), None)
        if start >= 0 and start not in covered and source is not None:
            copies.append((start, source, sources[source].find(part), len(part)))
    covered |= {start: length for start, _, _, length in copies}
    literal, at = bytearray(), 0
    for start in sorted(covered):
        literal += content[at:start]
        at = start + covered[start]
    literal += content[at:]
    said = {
        "base": base,
        "sums": {name: checksum(source) for name, source in sources.items()},
        "made": checksum(content),
        "numbers": len(literal),
        "copies": sorted(copies),
        "merged": merged,
        "moved": moved,
    }
    joined = b"".join(numbers)
    if _assemble(json.loads(json.dumps(said)), bytes(literal + joined), sources) != content:
        raise ValueError(f"{path}: its differences do not make it again")
    # Two streams one after the other are read as one.
    first = lzma.compress(json.dumps(said).encode() + b"\n" + literal, preset=9)
    add_delta(path).write_bytes(first + lzma.compress(joined, filters=_NUMBERS))
    path.unlink()


def _find(sources: Mapping[str, bytes], part: bytes) -> tuple[str, int]:
    """Return which of the other graphs has ``part``, and where."""
    return next((name, at) for name, source in sources.items() if (at := source.find(part)) >= 0)
