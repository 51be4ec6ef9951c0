"""Official corpus files that are one JSON list: its objects, each with the line it starts on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from riseq.data.bad_rows import BadRow
from riseq.data.fields import describe
from riseq.data.source import name_source, read_text
from riseq.types import InputError

_BLANK = " \t\r\n"


def read_objects(path: str | Path) -> Iterator[tuple[int, dict[str, object]] | BadRow]:
    """Yield each object of the list in the file at ``path`` with its line."""
    name, text = name_source(path), read_text(path)
    decode = json.JSONDecoder().raw_decode
    place = _skip_blank(text, 0)
    if text[place : place + 1] != "[":
        raise InputError(f"{name}: got {describe(text[place : place + 20])}, expected a JSON list")
    line, counted = 1, 0
    place = _skip_blank(text, place + 1)
    while text[place : place + 1] != "]":
        line, counted = line + text.count("\n", counted, place), place
        try:
            value, place = decode(text, place)
        except json.JSONDecodeError as error:
            # Where one object breaks, nobody knows where the next one starts.
            raise InputError(f"{name}:{error.lineno}: broken JSON: {error.msg} (character {error.colno})") from None
        except (ValueError, RecursionError) as error:
            raise InputError(f"{name}:{line}: not usable JSON: {error}") from None
        if isinstance(value, dict):
            yield line, value
        else:
            yield BadRow(name, line, f"got {describe(value)}, expected an object")
        place = _skip_blank(text, place)
        if text[place : place + 1] == ",":
            place = _skip_blank(text, place + 1)
        elif text[place : place + 1] != "]":
            here = 1 + text.count("\n", 0, place)
            got = describe(text[place : place + 20]) if place < len(text) else "the end of the file"
            raise InputError(f"{name}:{here}: broken JSON: got {got}, expected ',' or ']'")


def _skip_blank(text: str, place: int) -> int:
    while place < len(text) and text[place] in _BLANK:
        place += 1
    return place
