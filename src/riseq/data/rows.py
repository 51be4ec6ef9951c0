"""Rows of tables: the checks that make a row an example, the rows that examples and results become, and bad rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from riseq.data.dialogue import read_context, split_messages
from riseq.types import Example, InputError, Simplification

SHOWN = 20
"""How many bad rows a message lists before it counts the rest."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BadRow:
    """One row that cannot be used: its file, its line (its row number in Parquet) and what is wrong with it."""

    file: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.reason}"

    def to_row(self) -> dict[str, object]:
        """Return its row in a table of bad rows."""
        # Half surrogate pairs are spelled out: the name of a file, or of a field, may have them.
        file, reason = (text.encode(errors="backslashreplace").decode() for text in (self.file, self.reason))
        return {"line": self.line, "reason": reason, "file": file}


OnBad: TypeAlias = Callable[[BadRow], None]
Rows: TypeAlias = Iterator[tuple[int, dict[str, object]] | BadRow]
"""What a file has: each row with its line, or what is wrong with it."""


class BadRows(InputError):
    """Every bad row of a file; the message has a line for each, up to a limit."""

    def __init__(self, rows: Sequence[BadRow]) -> None:
        self.rows = tuple(rows)
        super().__init__(self.rows)  # what pickle gives back to __init__

    def __str__(self) -> str:
        more = [f"and {len(self.rows) - SHOWN} more"] if len(self.rows) > SHOWN else []
        return "\n".join([*map(str, self.rows[:SHOWN]), *more])


def sift(outcomes: Iterable[T | BadRow], on_bad: OnBad | None) -> Iterator[T]:
    """Yield the good outcomes; each bad row goes to ``on_bad``, or all are raised together after the last outcome."""
    bad: list[BadRow] = []
    report = bad.append if on_bad is None else on_bad
    for outcome in outcomes:
        if isinstance(outcome, BadRow):
            report(outcome)
        else:
            yield outcome
    if bad:
        raise BadRows(bad)


@dataclass(frozen=True, slots=True)
class Record:
    """An example and the row it was read from, with every column the file has."""

    example: Example
    row: Mapping[str, object]
    line: int
    """Where the row starts in its file; in Parquet, the row's number."""


COLUMNS = ("id", "context", "question", "target")
RESULT_COLUMNS = ("id", "context", "question", "text", "confidence", "truncated", "reason", "steps")
"""The columns every result has."""

_JSON_NAMES = {bool: "boolean", int: "number", float: "number", str: "string", list: "list", dict: "object"}
_LONGEST_SHOWN = 60


class FieldError(ValueError):
    """What is wrong with one row, without its file and line: the reader that knows them makes it a BadRow."""


def describe(value: object) -> str:
    """Return a short name for a value as JSON knows it, for messages."""
    if value is None:
        return "null"
    shown = repr(value)
    if len(shown) > _LONGEST_SHOWN:
        shown = shown[: _LONGEST_SHOWN - 3] + "..."
    return f"the {_JSON_NAMES.get(type(value), type(value).__name__)} {shown}"


def list_names(names: Iterable[str]) -> str:
    """Return the names in one line, for messages; one with a line break or the like in it is quoted."""
    return ", ".join(name if name.isprintable() else repr(name) for name in names)


def take(row: Mapping[str, object], field: str, expected: str) -> object:
    """Return the value of ``field``, which the row must have."""
    try:
        return row[field]
    except KeyError:
        raise FieldError(f"{field}: missing, expected {expected}; got {list_names(row) or 'no fields'}") from None


def take_text(row: Mapping[str, object], field: str) -> str:
    """Return the text of ``field``, which must be there and not be blank."""
    text = check_text(field, take(row, field, "a string"))
    if not text or text.isspace():
        raise FieldError(f"{field}: empty, expected some text")
    return text


def take_texts(row: Mapping[str, object], field: str) -> tuple[str, ...]:
    """Return the texts of ``field``, which must be a list of strings."""
    value = take(row, field, "a list of strings")
    if not isinstance(value, list):
        raise FieldError(f"{field}: got {describe(value)}, expected a list of strings")
    return _check_texts(field, value)


def _check_texts(field: str, texts: Sequence[object]) -> tuple[str, ...]:
    return tuple(check_text(f"{field}[{index}]", text) for index, text in enumerate(texts))


def check_text(field: str, value: object) -> str:
    """Return ``value`` where it is a string that UTF-8 can hold."""
    if not isinstance(value, str):
        raise FieldError(f"{field}: got {describe(value)}, expected a string")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        # JSON may spell such a thing ("\ud83d"); no file could ever be written with it.
        raise FieldError(f"{field}: half a surrogate pair at character {error.start}, expected Unicode") from None
    return value


def parse_cell(cell: str) -> list[object]:
    """Return the utterances in a text cell: a JSON list, or plain text, which is one utterance."""
    text = cell.strip()
    if not text:
        return []
    if text.startswith("["):
        try:
            parsed = json.loads(text)
        except (ValueError, RecursionError) as error:
            # "[laughs] and then?" is something a person says; '["and then?' is a list that was cut.
            if text[1:].lstrip().startswith('"'):
                raise FieldError(f"context: {describe(text)} is broken JSON ({error}), expected a JSON list") from None
        else:
            if isinstance(parsed, list):
                return parsed
    return [cell]


def parse_example(row: Mapping[str, object], number: int, need_target: bool) -> Example:
    """Return the example in ``row``; row ``number`` is its id where it has none."""
    try:
        row = split_messages(row)
        context = _check_texts("context", read_context(row.get("context")))
    except InputError as error:
        raise FieldError(str(error)) from None
    question = take_text(row, "question")
    given, target = row.get("id"), row.get("target")
    name = str(number) if given in (None, "") else str(given) if type(given) is int else check_text("id", given)
    if target is not None:
        target = text if (text := check_text("target", target)).strip() else None
    if need_target and target is None:
        raise FieldError(f"target: {'empty' if 'target' in row else 'missing'}, expected some text")
    return Example(id=name, context=context, question=question, target=target)


def example_row(example: Example) -> dict[str, object]:
    """Return the row that stands for ``example`` in a table; every example has the same columns."""
    question, target = example.question, example.target
    return {"id": example.id, "context": list(example.context), "question": question, "target": target}


def prediction_row(example: Example, prediction: Simplification) -> dict[str, object]:
    """Return the row of one prediction beside its target."""
    return {**example_row(example), "prediction": prediction.text}


def result_row(record: Record, result: Simplification) -> dict[str, object]:
    """Return the row of one result, then the file's other columns; with ``alternatives`` if several were asked for."""
    values = {**result.to_dict(), **example_row(record.example)}
    row = {name: values[name] for name in RESULT_COLUMNS}
    if result.alternatives:
        shown = ("text", "confidence", "probability")
        forms = [{name: form[name] for name in shown if form[name] is not None} for form in values["alternatives"]]
        row["alternatives"] = forms
    return row | {name: value for name, value in record.row.items() if name not in (*RESULT_COLUMNS, "alternatives")}


def find_kinds(rows: Iterable[Mapping[str, object]]) -> dict[str, type]:
    """Return the type of each column of results for cells that have one: text where values are nested or of several."""
    found: dict[str, set[type]] = {name: set() for name in RESULT_COLUMNS}
    for row in rows:
        for name, value in row.items():
            kinds = found.setdefault(name, set())
            if value is not None:
                kinds.add(str if isinstance(value, list | dict) or _is_too_large(value) else type(value))
    found["context"] = {list}
    mixed = {name: float if kinds == {int, float} else str for name, kinds in found.items() if len(kinds) != 1}
    return {name: mixed.get(name) or next(iter(kinds)) for name, kinds in found.items()}


def _is_too_large(value: object) -> bool:
    """Return whether ``value`` is a whole number that no 64 bits hold."""
    return isinstance(value, int) and not -(2**63) <= value < 2**63


def flat_rows(rows: Iterable[Mapping[str, object]], kinds: Mapping[str, type]) -> Iterator[dict[str, object]]:
    """Yield results for typed cells: each with all the columns of ``kinds``, and as text, or JSON, what is text there.

    What is a number in one row and a word in another is text in both: 7, "seven".
    """
    for row in rows:
        texts = {
            name: json.dumps(value, ensure_ascii=False, default=str)
            for name, value in row.items()
            if kinds[name] is str and value is not None and not isinstance(value, str)
        }
        yield {**dict.fromkeys(kinds), **row, **texts}


def check_columns(file: str, found: Iterable[str], need_target: bool) -> None:
    """Raise where a table lacks a column that every row needs."""
    columns = list(found)
    for column in ("question", "target") if need_target else ("question",):
        if column not in columns and (column == "target" or "messages" not in columns):
            raise InputError(f"{file}: no column {column!r}; the columns are {', '.join(map(repr, columns)) or 'none'}")
