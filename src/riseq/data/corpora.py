"""The official files of CANARD and TREC CAsT 2019 by the paper's convention, and the everyday dialogues."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from riseq.data.formats import read_json
from riseq.data.rows import BadRow, FieldError, OnBad, Rows, describe, sift, take, take_text, take_texts
from riseq.files import check_source, decode_line, name_source, open_source, read_lines
from riseq.types import Example, InputError

T = TypeVar("T")
Row = dict[str, object]
_Turn = tuple[str, int, tuple[str, ...], str, str]
"""A turn of CANARD: its dialogue, its number, the history of questions and answers, its raw and its resolved form."""

_TITLES = 2  # history starts with the page's and the section's title
_TOPICS, _RESOLVED = "evaluation_topics_", "evaluation_topics_annotated_resolved_"
PAPER_TURNS = 3
"""How many of the last turns the paper's models read."""


@dataclass(frozen=True, slots=True)
class Convention:
    """Which parts of a dialogue an example shows; as it stands, the paper's convention without answers.

    Page and section titles never are. The paper's limits of 3 turns and of 30 word pieces belong to a model's input.
    """

    answers: bool = False
    """Whether each earlier question is followed by its answer."""
    turns: int | None = None
    """How many of the last turns are shown (the paper's models read PAPER_TURNS); None shows all."""
    first_resolved: bool = True
    """Whether the dialogue's first question, which no context explains, is shown in its self-contained form."""
    keep_first_turns: bool | None = None
    """Whether questions without context are examples; None does as the paper does with the corpus."""

    def __post_init__(self) -> None:
        if self.turns is not None and self.turns < 0:
            raise ValueError(f"turns is {self.turns}, expected 0 or more, or None for all")

    def show(self, questions: Sequence[str], answers: Sequence[str], first: str | None) -> tuple[str, ...]:
        """Return the context after the raw ``questions`` and their ``answers``; ``first`` is the first, resolved."""
        shown = list(questions)
        if shown and self.first_resolved and first is not None:
            shown[0] = first
        start = 0 if self.turns is None else max(0, len(shown) - self.turns)
        if not self.answers:
            return tuple(shown[start:])
        turns = list(zip(shown, answers, strict=True))[start:]
        return tuple(utterance for turn in turns for utterance in turn)


PAPER = Convention()


def read_objects(path: str | Path) -> Rows:
    """Yield each object of the list in the file at ``path`` with its line."""
    with open_source(path) as file:
        yield from read_json(file, name_source(path))


def _parse_objects(path: str | Path, parse: Callable[[Row], Iterable[T | FieldError]]) -> Iterator[T | BadRow]:
    """Yield what ``parse`` makes of each object at ``path``; an error it raises or yields is a bad row."""
    for outcome in read_objects(path):
        if isinstance(outcome, BadRow):
            yield outcome
            continue
        line, row = outcome
        try:
            for found in parse(row):
                yield BadRow(name_source(path), line, str(found)) if isinstance(found, FieldError) else found
        except FieldError as error:
            yield BadRow(name_source(path), line, str(error))


def read_canard(
    path: str | Path, *, split: str | None = None, convention: Convention = PAPER, on_bad: OnBad | None = None
) -> Iterator[Example]:
    """Yield the examples of CANARD's file at ``path`` in its order; bad rows are treated as in ``read_examples``.

    An id is ``canard-SPLIT-DIALOGUE-NUMBER``; the split is the file's name up to its first dot unless it is given.
    """
    check_source(path)
    return sift(_make_canard_examples(path, split or Path(path).name.partition(".")[0], convention), on_bad)


def _make_canard_examples(path: str | Path, split: str, convention: Convention) -> Iterator[Example | BadRow]:
    turns: list[_Turn] = []
    for outcome in _parse_objects(path, lambda row: [_parse_turn(row)]):
        if isinstance(outcome, BadRow):
            yield outcome
        else:
            turns.append(outcome)
    # A dialogue's first turn is the one with no history; the context of its later turns shows its resolved form.
    firsts = {dialogue: resolved for dialogue, _, history, _, resolved in turns if not history}
    for dialogue, number, history, raw, resolved in turns:
        if history or convention.keep_first_turns:
            context = convention.show(history[::2], history[1::2], firsts.get(dialogue))
            yield Example(f"canard-{split}-{dialogue}-{number}", context, question=resolved, target=raw)


def _parse_turn(row: dict[str, object]) -> _Turn:
    history = take_texts(row, "History")
    if len(history) < _TITLES or len(history) % 2:
        raise FieldError(f"History: got {len(history)} strings, expected two titles, then questions with answers")
    number = take(row, "Question_no", "a number")
    if type(number) is not int:
        raise FieldError(f"Question_no: got {describe(number)}, expected a whole number")
    dialogue, raw, resolved = (take_text(row, name) for name in ("QuAC_dialog_id", "Question", "Rewrite"))
    return dialogue, number, history[_TITLES:], raw, resolved


def read_cast(
    topics: str | Path,
    resolved: str | Path | None = None,
    *,
    convention: Convention = PAPER,
    on_bad: OnBad | None = None,
) -> Iterator[Example]:
    """Yield the examples of CAsT 2019's ``topics`` in their order; bad rows are treated as in ``read_examples``.

    The ``resolved`` forms are looked for beside the topics unless they are given. An id is ``TOPIC_TURN``.
    """
    if convention.answers:
        raise InputError(f"{topics}: CAsT 2019 has no answers, expected a convention without them")
    check_source(topics)
    if resolved is None:
        stem = Path(topics).name.removesuffix(".gz").removesuffix(".json")
        if not stem.startswith(_TOPICS):
            expected = f"expected a name like {_TOPICS}v1.0.json to find them"
            raise InputError(f"{topics}: no resolved turns are given, {expected}")
        resolved = Path(topics).with_name(f"{_RESOLVED}{stem.removeprefix(_TOPICS)}.tsv")
    forms = Path(resolved)
    check_source(forms)
    return sift(_make_cast_examples(topics, forms, convention), on_bad)


def _make_cast_examples(topics: str | Path, forms: Path, convention: Convention) -> Iterator[Example | BadRow]:
    resolved: dict[str, str] = {}
    with open_source(forms) as file:
        for number, line in enumerate(read_lines(file, str(forms)), 1):
            # Only the line's end goes: the official texts keep the blanks they end in. Quotes are plain text here.
            name, tab, text = decode_line(line, str(forms), number).rstrip("\r\n").partition("\t")
            if tab and name and text.strip():
                resolved[name] = text
            elif name or tab:
                got = describe(name + tab + text)
                yield BadRow(str(forms), number, f"got {got}, expected TOPIC_TURN, a tab and a text")
    yield from _parse_objects(topics, lambda row: _read_topic(row, resolved, forms.name, convention))


def _read_topic(
    topic: Mapping[str, object], resolved: Mapping[str, str], file: str, convention: Convention
) -> Iterator[Example | FieldError]:
    """Yield the topic's examples, or an error for a turn that ``resolved``, which is from ``file``, lacks.

    A turn without a raw form ends the topic: the contexts of the later ones would lack it.
    """
    number = take(topic, "number", "a number")
    turns = take(topic, "turn", "a list of turns")
    if not isinstance(turns, list):
        raise FieldError(f"turn: got {describe(turns)}, expected a list of turns")
    raws: list[str] = []
    first: str | None = None
    for index, turn in enumerate(turns):
        if not isinstance(turn, dict):
            raise FieldError(f"turn[{index}]: got {describe(turn)}, expected an object")
        name = f"{number}_{take(turn, 'number', 'a number')}"
        raw = take_text(turn, "raw_utterance")
        if name not in resolved:
            yield FieldError(f"turn {name}: no resolved form in {file}")
        elif raws or convention.keep_first_turns is not False:
            yield Example(name, convention.show(raws, (), first), question=resolved[name], target=raw)
        if not raws:
            first = resolved.get(name)
        raws.append(raw)


def read_everyday(path: str | Path) -> Iterator[Example]:
    """Yield the pairs of the everyday dialogues at ``path``; the forms of one question share its id, the best first.

    A line is a dialogue: ``turns`` that happened (``full``, ``said``, ``answer``) and questions that may come ``next``
    (``full`` and a list of forms, ``said``). The context is what was said, with its answers.
    """
    with open_source(path) as file:
        for number, line in enumerate(read_lines(file, name_source(path)), 1):
            try:
                yield from _read_dialogue(json.loads(line)) if line.strip() else ()
            except (ValueError, KeyError, TypeError) as error:
                raise InputError(f"{name_source(path)}, line {number}: no everyday dialogue ({error!r})") from error


def read_small_talk(path: str | Path) -> Iterator[str]:
    """Yield what people say that is no question, or not English: the ``text`` of each line at ``path``."""
    with open_source(path) as file:
        for number, line in enumerate(read_lines(file, name_source(path)), 1):
            row: object = None
            with suppress(ValueError):
                row = json.loads(line)
            text = row.get("text") if isinstance(row, dict) else None
            if not isinstance(text, str) or not text.strip():
                raise InputError(f"{name_source(path)}, line {number}: expected an object with a text")
            yield text


def _read_dialogue(dialogue: Mapping[str, Any]) -> Iterator[Example]:
    context: list[str] = []
    for number, turn in enumerate(dialogue["turns"]):
        if number:
            yield Example(f"{dialogue['id']}/{number}", tuple(context), turn["full"], turn["said"])
        context += [turn["said"], turn["answer"]]
    for number, question in enumerate(dialogue["next"]):
        for said in question["said"]:
            yield Example(f"{dialogue['id']}/next-{number}", tuple(context), question["full"], said)
