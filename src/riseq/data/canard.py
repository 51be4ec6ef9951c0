"""CANARD's official JSON: questions of QuAC dialogues as asked (Question) and made self-contained (Rewrite)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from riseq.data.bad_rows import BadRow, OnBad, sift
from riseq.data.convention import PAPER, Convention
from riseq.data.document import read_objects
from riseq.data.fields import FieldError, describe, take, take_text, take_utterances
from riseq.data.source import check_source, name_source
from riseq.types import Example

_TITLES = 2
"""History starts with the page's and the section's title."""


@dataclass(frozen=True, slots=True)
class _Turn:
    dialogue: str
    number: int
    questions: tuple[str, ...]
    answers: tuple[str, ...]
    raw: str
    resolved: str


def read_canard(
    path: str | Path, *, split: str | None = None, convention: Convention = PAPER, on_bad: OnBad | None = None
) -> Iterator[Example]:
    """Yield the examples of CANARD's file at ``path`` in its order; bad rows are treated as in ``read_examples``.

    An id is ``canard-SPLIT-DIALOGUE-NUMBER``; the split is the file's name up to its first dot unless it is given.
    """
    check_source(path)
    return sift(_make_examples(path, split or Path(path).name.partition(".")[0], convention), on_bad)


def _make_examples(path: str | Path, split: str, convention: Convention) -> Iterator[Example | BadRow]:
    turns: list[_Turn] = []
    for outcome in _read_turns(path):
        if isinstance(outcome, BadRow):
            yield outcome
        else:
            turns.append(outcome)
    # A dialogue's first turn is the one with no history; the context of its later turns shows its resolved form.
    firsts = {turn.dialogue: turn.resolved for turn in turns if not turn.questions}
    for turn in turns:
        if turn.questions or convention.keep_first_turns:
            yield Example(
                id=f"canard-{split}-{turn.dialogue}-{turn.number}",
                context=convention.show(turn.questions, turn.answers, firsts.get(turn.dialogue)),
                question=turn.resolved,
                target=turn.raw,
            )


def _read_turns(path: str | Path) -> Iterator[_Turn | BadRow]:
    for outcome in read_objects(path):
        if isinstance(outcome, BadRow):
            yield outcome
            continue
        line, row = outcome
        try:
            yield _parse_turn(row)
        except FieldError as error:
            yield BadRow(name_source(path), line, str(error))


def _parse_turn(row: dict[str, object]) -> _Turn:
    history = take_utterances(row, "History")
    if len(history) < _TITLES or len(history) % 2:
        raise FieldError(f"History: got {len(history)} strings, expected two titles, then questions with answers")
    number = take(row, "Question_no", "a number")
    if type(number) is not int:
        raise FieldError(f"Question_no: got {describe(number)}, expected a whole number")
    return _Turn(
        dialogue=take_text(row, "QuAC_dialog_id"),
        number=number,
        questions=history[_TITLES::2],
        answers=history[_TITLES + 1 :: 2],
        raw=take_text(row, "Question"),
        resolved=take_text(row, "Rewrite"),
    )
