"""Progress as people see it, and as a log has it."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO

from rich.console import Console

from riseq.terminal import report, track


def test_the_bar_has_the_rate_and_the_time_and_starts_at_what_was_done() -> None:
    seen = StringIO()
    console = Console(file=seen, force_terminal=True, width=100)
    assert list(track(iter(range(5)), 15, "rise", console, done=10)) == list(range(5))
    assert "15/15" in seen.getvalue()
    assert "/s" in seen.getvalue()


def test_the_bar_is_for_terminals() -> None:
    piped = StringIO()
    assert len(list(track(range(5), 5, "rise", Console(file=piped, force_terminal=False)))) == 5
    assert piped.getvalue() == ""


def test_a_total_may_be_unknown() -> None:
    seen = StringIO()
    assert len(list(track(range(5), None, "rise", Console(file=seen, force_terminal=True, width=100)))) == 5
    assert "5/?" in seen.getvalue()


def test_a_log_gets_a_line_a_minute() -> None:
    told: list[str] = []
    now = 0.0

    def work() -> Iterator[int]:
        nonlocal now
        for item in range(100):
            now += 2.0
            yield item

    assert list(report(work(), 5_000, told.append, done=900, clock=lambda: now)) == list(range(100))
    assert told == [
        "930 of 5,000 rows, 0.5 a second, 2:15:40 left",
        "960 of 5,000 rows, 0.5 a second, 2:14:40 left",
        "990 of 5,000 rows, 0.5 a second, 2:13:40 left",
    ]
    told.clear()
    list(report(work(), None, told.append, clock=lambda: now))
    assert told[0] == "30 rows, 0.5 a second"
