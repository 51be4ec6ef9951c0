"""TREC CAsT 2019's official files: topics with raw turns (JSON) and their resolved forms (TSV)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from riseq.data.bad_rows import BadRow, OnBad, sift
from riseq.data.convention import PAPER, Convention
from riseq.data.document import read_objects
from riseq.data.fields import FieldError, describe, take, take_text
from riseq.data.source import check_source, decode_line, name_source, open_source, read_lines
from riseq.types import Example, InputError

_TOPICS, _RESOLVED = "evaluation_topics_", "evaluation_topics_annotated_resolved_"


def find_resolved(topics: str | Path) -> Path:
    """Return the path of the resolved turns that belong to ``topics``, by its official name."""
    path = Path(topics)
    stem = path.name.removesuffix(".gz").removesuffix(".json")
    if not stem.startswith(_TOPICS):
        raise InputError(f"{topics}: no resolved turns are given, expected a name like {_TOPICS}v1.0.json to find them")
    return path.with_name(f"{_RESOLVED}{stem.removeprefix(_TOPICS)}.tsv")


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
    forms = find_resolved(topics) if resolved is None else Path(resolved)
    check_source(forms)
    return sift(_make_examples(topics, forms, convention), on_bad)


def _make_examples(topics: str | Path, forms: Path, convention: Convention) -> Iterator[Example | BadRow]:
    resolved: dict[str, str] = {}
    for outcome in _read_resolved(forms):
        if isinstance(outcome, BadRow):
            yield outcome
        else:
            resolved[outcome[0]] = outcome[1]
    for topic in read_objects(topics):
        if isinstance(topic, BadRow):
            yield topic
            continue
        line, row = topic
        try:
            for example in _read_topic(row, resolved, convention):
                if isinstance(example, Example):
                    yield example
                else:
                    yield BadRow(name_source(topics), line, f"turn {example}: no resolved form in {forms.name}")
        except FieldError as error:
            yield BadRow(name_source(topics), line, str(error))


def _read_resolved(path: Path) -> Iterator[tuple[str, str] | BadRow]:
    with open_source(path) as file:
        for number, line in enumerate(read_lines(file, str(path)), 1):
            # Only the line's end goes: the official texts keep the blanks they end in. Quotes are plain text here.
            name, tab, text = decode_line(line, str(path), number).rstrip("\r\n").partition("\t")
            if tab and name and text.strip():
                yield name, text
            elif name or tab:
                yield BadRow(
                    str(path), number, f"got {describe(name + tab + text)}, expected TOPIC_TURN, a tab and a text"
                )


def _read_topic(
    topic: Mapping[str, object], resolved: Mapping[str, str], convention: Convention
) -> Iterator[Example | str]:
    """Yield the topic's examples, or the name of a turn that ``resolved`` lacks.

    A turn without a raw form ends the topic: the contexts of the later ones would lack it.
    """
    number = take(topic, "number", "a number")
    turns = take(topic, "turn", "a list of turns")
    if not isinstance(turns, list):
        raise FieldError(f"turn: got {describe(turns)}, expected a list of turns")
    raws: list[str] = []
    first: str | None = None
    for place, turn in enumerate(turns):
        if not isinstance(turn, dict):
            raise FieldError(f"turn[{place}]: got {describe(turn)}, expected an object")
        name = f"{number}_{take(turn, 'number', 'a number')}"
        raw = take_text(turn, "raw_utterance")
        if name not in resolved:
            yield name
        elif raws or convention.keep_first_turns is not False:
            yield Example(name, convention.show(raws, (), first), question=resolved[name], target=raw)
        if not raws:
            first = resolved.get(name)
        raws.append(raw)
