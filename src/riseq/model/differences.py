"""An exported graph as what differs from another model's: most of its bytes are copied from there when it is opened.

A model that was learnt above one that stays as it is (``low_rank``) has that one's matrices, byte for byte. Its folder
has ``encoder.onnx.delta`` and ``phraser.onnx.delta`` in place of the graphs: a line of JSON that says which bytes come
from where, then all other bytes; both compressed.
"""

import json
import lzma
from collections.abc import Iterable, Sequence
from pathlib import Path

from riseq.files import checksum
from riseq.hub import find_model
from riseq.types import InputError

DELTA = ".delta"
SHORTEST = 4096
"""Bytes; what is shorter is not worth looking for in the other graphs."""


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
        head, _, literal = lzma.decompress(delta.read_bytes()).partition(b"\n")
        said = json.loads(head)
        base, sums, copies = said["base"], said["sums"], said["copies"]
    except (lzma.LZMAError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{delta}: damaged ({error}); expected the differences of a graph") from error
    beside = path.parent.parent / base
    folder, sources = beside if beside.is_dir() else find_model(base), {}
    for name, expected in sums.items():
        sources[name] = (folder / name).read_bytes()
        if checksum(sources[name]) != expected:
            raise InputError(f"{delta}: made above another version of the model {base!r}; its {name} has changed")
    made, at = bytearray(), 0
    for start, name, source, length in copies:
        own = start - len(made)
        made += literal[at : at + own]
        made += sources[name][source : source + length]
        at += own
    return bytes(made + literal[at:])


def write_delta(path: Path, base: str, graphs: Sequence[Path], shared: Iterable[bytes]) -> None:
    """Replace the graph at ``path`` by its differences to the ``graphs`` of the model called ``base``.

    ``shared`` are the contents of tensors, which are looked for in them.
    """
    content = path.read_bytes()
    sources = {one.name: one.read_bytes() for one in graphs}
    copies = []
    for part in {one for one in shared if len(one) >= SHORTEST}:
        start = content.find(part)
        found = next(((name, at) for name, source in sources.items() if (at := source.find(part)) >= 0), None)
        if start >= 0 and found is not None:
            copies.append((start, *found, len(part)))
    copies.sort()
    literal, at = bytearray(), 0
    for start, _, _, length in copies:
        literal += content[at:start]
        at = start + length
    head = {"base": base, "sums": {name: checksum(source) for name, source in sources.items()}, "copies": copies}
    add_delta(path).write_bytes(lzma.compress(json.dumps(head).encode() + b"\n" + literal + content[at:], preset=9))
    path.unlink()
