"""Work prepared ahead."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from riseq.train.processes import prefetch


def test_items_come_in_order_none_of_them_lost() -> None:
    assert list(prefetch(iter([1, None, 3]), depth=1)) == [1, None, 3]
    assert list(prefetch(iter([]))) == []


def test_a_failure_there_is_raised_here_after_what_came_before() -> None:
    def make() -> Iterator[int]:
        yield 1
        raise ValueError("broken")

    items = prefetch(make())
    assert next(items) == 1
    with pytest.raises(ValueError, match="broken"):
        next(items)


def test_leaving_early_ends_the_thread_and_works_only_a_little_ahead() -> None:
    made = []

    def make() -> Iterator[int]:
        for number in range(1000):
            made.append(number)
            yield number

    before = threading.active_count()
    items = prefetch(make(), depth=2)
    assert next(items) == 0
    time.sleep(0.05)
    assert len(made) <= 5
    items.close()  # type: ignore[attr-defined]
    assert threading.active_count() == before
