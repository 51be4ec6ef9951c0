"""Damaged files: whatever the bytes, rows come out, bad rows are told, or the file is refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from riseq.data.rows import BadRow, Record, example_row
from riseq.data.tables import SUFFIXES, read_outcomes, write_rows
from riseq.types import Example, InputError

EXAMPLES = [
    Example("1", ("Who directed Alien?", 'He said "no",\nthen left.'), "When was Alien released?", "When was it?"),
    Example("2", (), "Pourquoi « ça » ?"),
    Example("3", ("a\tb", "[c]", ""), "¿Qué 🎬?", "¿Qué?"),
]
PLACE = st.floats(0, 1, exclude_max=True)
CHANGE = st.one_of(
    st.tuples(st.just("cut"), PLACE, st.just(b"")),
    st.tuples(st.just("insert"), PLACE, st.binary(min_size=1, max_size=8)),
    st.tuples(st.just("write"), PLACE, st.binary(min_size=1, max_size=8)),
    st.tuples(
        st.just("insert"), PLACE, st.sampled_from([b'"', b"\r", b"\n", b",", b"\x00", b"\xff", b"[", b"{", b"\\"])
    ),
    st.tuples(st.just("drop"), PLACE, st.binary(min_size=1, max_size=8)),
)


def damage(content: bytes, changes: list[tuple[str, float, bytes]]) -> bytes:
    for kind, share, data in changes:
        place = int(share * len(content))
        if kind == "cut":
            content = content[:place]
        elif kind == "insert":
            content = content[:place] + data + content[place:]
        elif kind == "write":
            content = content[:place] + data + content[place + len(data) :]
        else:
            content = content[:place] + content[place + len(data) :]
    return content


def read(path: Path) -> list[Record | BadRow]:
    """Return what the file has, or nothing where it is refused in one line that names it."""
    try:
        outcomes = list(read_outcomes(path))
    except InputError as error:
        told = str(error)
        assert told.startswith(str(path)), told
        assert len(told.splitlines()) == 1, told
        return []
    for outcome in outcomes:
        if isinstance(outcome, BadRow):
            assert outcome.line >= 1
            assert len(outcome.reason.splitlines()) == 1, outcome.reason
        else:
            assert outcome.example.question.strip()
            outcome.example.question.encode()
    return outcomes


@pytest.mark.parametrize("suffix", SUFFIXES)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(changes=st.lists(CHANGE, min_size=1, max_size=3))
def test_a_damaged_table_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, changes: list[tuple[str, float, bytes]]
) -> None:
    path = tmp_path_factory.getbasetemp() / f"damaged{suffix}"
    write_rows(path, map(example_row, EXAMPLES))
    path.write_bytes(damage(path.read_bytes(), changes))
    read(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(content=st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, suffix: str, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / f"bytes{suffix}"
    path.write_bytes(content)
    read(path)


def test_what_is_not_damaged_is_read_in_full(tmp_path: Path) -> None:
    for suffix in SUFFIXES:
        path = tmp_path / f"whole{suffix}"
        write_rows(path, map(example_row, EXAMPLES))
        assert [outcome.example for outcome in read(path) if isinstance(outcome, Record)] == EXAMPLES


def test_a_broken_name_stays_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"context": [], "questio\\n": "Who?"}\n', encoding="utf-8")
    (bad,) = read(path)
    assert isinstance(bad, BadRow)
    assert bad.reason == r"question: missing, expected a string; got context, 'questio\n'"
