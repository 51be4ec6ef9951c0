from __future__ import annotations

import pickle

import pytest

from riseq.data.rows import BadRow, BadRows, sift
from riseq.types import InputError


def _bad(count: int) -> list[BadRow]:
    return [BadRow("a.jsonl", line, "question: empty") for line in range(1, count + 1)]


def test_one_bad_row_is_one_line() -> None:
    error = BadRows([BadRow("a.jsonl", 3, "question: empty")])
    assert str(error) == "a.jsonl:3: question: empty"
    assert isinstance(error, InputError)


def test_twenty_are_listed_and_the_rest_counted() -> None:
    assert str(BadRows(_bad(20))).splitlines()[-1] == "a.jsonl:20: question: empty"
    lines = str(BadRows(_bad(27))).splitlines()
    assert len(lines) == 21
    assert lines[-1] == "and 7 more"
    assert len(BadRows(_bad(27)).rows) == 27


def test_the_error_survives_pickling() -> None:
    error = pickle.loads(pickle.dumps(BadRows(_bad(2))))
    assert error.rows == tuple(_bad(2))
    assert str(error) == str(BadRows(_bad(2)))


def test_sift_gives_the_good_ones_first_and_then_all_the_bad() -> None:
    first, second = _bad(2)
    good = sift([first, 1, second, 2], None)
    assert [next(good), next(good)] == [1, 2]
    with pytest.raises(BadRows) as caught:
        next(good)
    assert caught.value.rows == (first, second)


def test_sift_hands_the_bad_ones_over_where_asked() -> None:
    heard: list[BadRow] = []
    first, second = _bad(2)
    assert list(sift([first, 1, second, 2], heard.append)) == [1, 2]
    assert heard == [first, second]
