import gc
import threading
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from riseq.engine.turns import Task, finish, run_in_turns, run_side_by_side, run_together


def work(name: str, turns: int, log: list[str]) -> Task[str]:
    for turn in range(turns):
        log.append(f"{name}{turn}")
        yield
    log.append(f"{name} done")
    return name


def test_a_task_alone_runs_to_its_end() -> None:
    log: list[str] = []
    assert finish(work("a", 2, log)) == "a"
    assert log == ["a0", "a1", "a done"]


def test_tasks_together_have_a_turn_each_and_their_results_keep_the_order() -> None:
    log: list[str] = []
    assert finish(run_together([work("a", 2, log), work("b", 1, log)])) == ["a", "b"]
    assert log == ["a0", "b0", "a1", "b done", "a done"]


@pytest.mark.parametrize("at_once", [1, 2, 5])
def test_results_come_in_order_whoever_is_done_first(at_once: int) -> None:
    log: list[str] = []
    tasks = (work(name, turns, log) for name, turns in (("a", 3), ("b", 0), ("c", 1), ("d", 2)))
    assert list(run_in_turns(tasks, at_once)) == ["a", "b", "c", "d"]


def test_no_more_tasks_are_begun_than_may_be_under_way() -> None:
    begun: list[int] = []

    def make() -> Iterator[Task[int]]:
        for number in range(10):
            begun.append(number)
            yield count(number)

    def count(number: int) -> Task[int]:
        yield
        return number

    results = run_in_turns(make(), 2)
    assert next(results) == 0
    assert len(begun) <= 2
    assert list(results) == list(range(1, 10))


def test_an_error_in_a_task_comes_out() -> None:
    def fail() -> Task[None]:
        yield
        raise ValueError("a bad batch")

    with pytest.raises(ValueError, match="a bad batch"):
        list(run_in_turns(iter([fail()]), 3))


@pytest.mark.parametrize("on", [True, False])
def test_garbage_is_looked_for_between_results_as_it_was_before(on: bool) -> None:
    seen: list[bool] = []

    def look() -> Task[None]:
        seen.append(gc.isenabled())
        yield

    was_on = gc.isenabled()
    try:
        (gc.enable if on else gc.disable)()
        assert [gc.isenabled() for _ in run_in_turns([look(), look()], 1)] == [on, on]
    finally:
        (gc.enable if was_on else gc.disable)()
    assert seen == [False, False]


def test_calls_side_by_side_keep_their_order_and_run_at_once() -> None:
    both = threading.Barrier(2, timeout=10)

    def meet(number: int) -> int:
        both.wait()  # nobody comes alone
        return number

    assert list(run_side_by_side((partial(meet, number) for number in range(6)), 2)) == list(range(6))


def test_no_more_calls_are_begun_than_threads_have_soon() -> None:
    begun: list[int] = []

    def make() -> Iterator[Callable[[], int]]:
        for number in range(20):
            begun.append(number)
            yield partial(int, number)

    results = run_side_by_side(make(), 2)
    assert next(results) == 0
    assert len(begun) <= 6
    results.close()
    assert len(begun) <= 6, "whoever stops reading stops the work"


def test_what_was_done_before_an_error_comes_out_before_it() -> None:
    def make(bad: Callable[[], int] | None) -> Iterator[Callable[[], int]]:
        yield from (partial(int, number) for number in range(3))
        if bad is None:
            raise ValueError("a bad row")
        yield bad

    def fail() -> int:
        raise ValueError("a bad batch")

    for bad, message in ((None, "a bad row"), (fail, "a bad batch")):
        results = run_side_by_side(make(bad), 2)
        assert [next(results) for _ in range(3)] == [0, 1, 2]
        with pytest.raises(ValueError, match=message):
            next(results)
