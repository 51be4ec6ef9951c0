"""One dialogue from a file, and the questions that may follow it: for many candidates after the same dialogue."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from riseq.data.dialogue import read_context
from riseq.data.rows import BadRow, FieldError, Record, check_text
from riseq.data.tables import SUFFIXES, Outcomes, read_outcomes
from riseq.files import check_source, decode_line, name_source, open_source, read_lines, read_text
from riseq.types import Example, InputError

_TEXT = (".txt", ".txt.gz")
DIALOGUE_SUFFIXES = (".json", ".json.gz", *_TEXT)
_EXPECTED = "a list of utterances or messages, or an object with 'context' or 'messages'"


def read_dialogue(path: str | Path) -> tuple[str, ...]:
    """Return the utterances of the dialogue in a file, oldest first.

    A ``.txt`` file has one a line. A ``.json`` file has a list in any form that ``riseq.data.dialogue`` knows, or an
    object with that list as ``context`` or ``messages``.
    """
    name = str(path).lower()
    if not name.endswith(DIALOGUE_SUFFIXES):
        raise InputError(
            f"{path}: no file of one dialogue, expected a name that ends in {', '.join(DIALOGUE_SUFFIXES)}"
        )
    if name.endswith(_TEXT):
        said = tuple(text for _, text in _read_text_lines(path))
    else:
        with open_source(path) as file:
            text = read_text(file, str(path))
        said = _parse_dialogue(text, path)
    if not said:
        raise InputError(f"{path}: no utterances, expected at least one")
    return said


def _parse_dialogue(text: str, path: str | Path) -> tuple[str, ...]:
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{path}:{error.lineno}: not JSON: {error.msg}, expected {_EXPECTED}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not usable JSON: {error}, expected {_EXPECTED}") from None
    if isinstance(content, Mapping):
        found = [name for name in ("context", "messages") if content.get(name) is not None]
        if len(found) != 1:
            raise InputError(
                f"{path}: has {' and '.join(found) or 'neither context nor messages'}, expected {_EXPECTED}"
            )
        content = content[found[0]]
    if not isinstance(content, list):
        raise InputError(f"{path}: got a {type(content).__name__}, expected {_EXPECTED}")
    try:
        return tuple(check_text(f"context[{index}]", said) for index, said in enumerate(read_context(content)))
    except (InputError, FieldError) as error:
        raise InputError(f"{path}: {error}") from None


def read_questions(path: str | Path, dialogue: tuple[str, ...] = ()) -> Outcomes:
    """Yield each question of a file after ``dialogue``, or what is wrong with its row, in the file's order.

    A ``.txt`` file has one a line; any other is a table of questions whose rows have no dialogue of their own.
    """
    if str(path).lower().endswith(_TEXT):
        check_source(path)
        return _read_text_questions(path, dialogue)
    name = Path(path).name.lower()
    if str(path) != "-" and not name.endswith(tuple(SUFFIXES)):
        expected = ", ".join((*_TEXT, *SUFFIXES))
        raise InputError(f"{path}: unknown kind of file, expected a name that ends in {expected}")
    return _put_after(read_outcomes(path), dialogue, name_source(path))


def _read_text_questions(path: str | Path, dialogue: tuple[str, ...]) -> Outcomes:
    for number, (line, text) in enumerate(_read_text_lines(path), 1):
        yield Record(Example(str(number), dialogue, text), {"question": text}, line)


def _put_after(outcomes: Outcomes, dialogue: tuple[str, ...], name: str) -> Outcomes:
    for outcome in outcomes:
        if isinstance(outcome, BadRow):
            yield outcome
        elif outcome.example.context:
            yield BadRow(name, outcome.line, "has a dialogue of its own, expected none: all rows follow one dialogue")
        else:
            yield replace(outcome, example=replace(outcome.example, context=dialogue))


def _read_text_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, each with its number."""
    name = str(path)
    with open_source(path) as file:
        for number, line in enumerate(read_lines(file, name), 1):
            if text := decode_line(line, name, number).strip():
                yield number, text
