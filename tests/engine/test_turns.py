import gc
from collections.abc import Iterator

import pytest

from riseq.engine.turns import Task, finish, run_in_turns, run_together


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
