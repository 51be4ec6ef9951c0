"""``riseq simplify`` on files: whole outputs, bad rows set aside, and runs that go on where they were killed."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from riseq.cli.shared import Wishes, count, load_asked, open_console, say
from riseq.jobs import digest
from riseq.types import InputError

if TYPE_CHECKING:
    from riseq.data.rows import BadRow
    from riseq.data.tables import Record
    from riseq.jobs import Journal
    from riseq.systems.bulk import Simplified
    from riseq.systems.protocol import System

BAD_ROWS = 3
"""The exit code where everything is done but rows had to be left out."""
STDOUT = "-"


@dataclass(frozen=True, slots=True)
class Handling:
    """What becomes of bad rows: they are left out, which is told by the exit code, is fine, or stops everything."""

    skip: bool = False
    strict: bool = False

    def check(self) -> None:
        """Raise where two of them are wanted at once."""
        if self.skip and self.strict:
            raise InputError("--strict and --skip-bad contradict each other; expected one of them")

    def code(self, bad: int) -> int:
        """Return the exit code after ``bad`` rows were left out."""
        return BAD_ROWS if bad and not self.skip else 0


def simplify_stream(
    source: str, wishes: Wishes, handling: Handling, show_edits: bool = False, as_json: bool = False
) -> int:
    """Print the results of a file as they come, for people or as JSONL; return the exit code."""
    from riseq.data.tables import write_rows
    from riseq.systems.rows import result_row

    system = load_asked(wishes)
    if handling.strict and _can_go_back(source):
        _check_rows(source)
    skipped = _Skipped()
    results = skipped.leave_out(_simplify(source, system, handling))
    if not as_json and (show_edits or sys.stdout.isatty()):
        from riseq.terminal.results import show

        console = open_console()
        for one in results:
            show(console, one.example, one.result)
    else:
        write_rows(STDOUT, (result_row(one.example, one.result) for one in results))
    if skipped.rows:
        say(f"went on without {count(skipped.rows, 'bad row')} of {skipped.rows + skipped.kept:,}")
    return handling.code(skipped.rows)


def simplify_file(source: str, output: Path, wishes: Wishes, handling: Handling, resume: bool = False) -> int:
    """Write the results of a file to ``output``, which appears when the last one is there; return the exit code."""
    from riseq.data.tables import check_output
    from riseq.jobs import Journal, journal_path

    check_output(output)
    again = _can_go_back(source)
    if resume and not again:
        raise InputError(f"--resume goes with a file, which can be read again; got {source!r}")
    wishes = wishes.resolve()
    system = load_asked(wishes)
    # Read twice: the first time checks and counts the rows, so that none of them has to be held.
    total = _check_rows(source, handling.strict) if again else None
    # What came through a pipe does not come again: nothing could go on with its rows.
    settings = {"input": digest(Path(source)), **wishes.settings()} if again else {}
    with Journal(journal_path(output), settings, resume) as journal:
        before = journal.done
        if before:
            say(f"going on after {count(before, 'finished row')}")
        try:
            results = _simplify(source, system, handling, skip=before)
            # Closed, so that the bar is gone before anything else is told.
            with closing(_watch(results, total, system.name, before)) as outcomes:
                for outcome in outcomes:
                    journal.add(_entry(outcome))
            written, bad = _finish(journal, output)
        except (KeyboardInterrupt, InputError):
            if again and journal.done:
                kept = count(journal.done, "finished row")
                say(f"{kept} kept in {journal.path}; the same command with --resume goes on")
            raise
        journal.remove()
    say(f"wrote {count(written, 'question')} to {output}")
    if bad:
        say(f"left out {count(bad, 'bad row')} of {written + bad:,}; the reasons are in {bad_rows_path(output)}")
    return handling.code(bad)


def bad_rows_path(output: Path) -> Path:
    """Return where the bad rows of the input that became ``output`` are told."""
    return output.with_name(f"{output.name}.bad.jsonl")


def _simplify(source: str, system: System, handling: Handling, skip: int = 0) -> Iterator[Simplified | BadRow]:
    from riseq.data.source import name_source
    from riseq.systems.bulk import LARGEST_CHUNK, simplify_rows

    largest = LARGEST_CHUNK if _can_go_back(source) else 1
    results = simplify_rows(system, islice(_read(source), skip, None), name_source(source), largest=largest)
    return _stop_at_bad(results) if handling.strict else results


def _read(source: str) -> Iterator[Record | BadRow]:
    from riseq.data.dialogue import read_context
    from riseq.data.tables import read_outcomes

    return read_outcomes(source, read_dialogue=read_context)


def _watch(
    results: Iterator[Simplified | BadRow], total: int | None, title: str, done: int
) -> Generator[Simplified | BadRow]:
    from riseq.terminal.progress import report, track

    if sys.stderr.isatty():
        return track(results, total, title, done=done)
    return report(results, total, say, done=done)


def _finish(journal: Journal, output: Path) -> tuple[int, int]:
    """Make the output and the list of bad rows of a journal that has every row; return how many there are of each."""
    from riseq.data.tables import write_rows
    from riseq.systems.rows import COLUMNS, flat_row

    aside = bad_rows_path(output)
    if any("bad" in entry for entry in journal.entries()):
        bad = write_rows(aside, _select(journal, "bad"))
    else:
        aside.unlink(missing_ok=True)  # an older run's
        bad = 0
    rows = _select(journal, "result")
    flat = not output.name.lower().endswith((".jsonl", ".jsonl.gz"))
    return write_rows(output, map(flat_row, rows) if flat else rows, COLUMNS), bad


def _select(journal: Journal, kind: str) -> Iterator[Mapping[str, object]]:
    for entry in journal.entries():
        value = entry.get(kind)
        if isinstance(value, dict):
            yield {"row": entry["row"], **value} if kind == "bad" else value


def _entry(outcome: Simplified | BadRow) -> dict[str, object]:
    from riseq.data.rows import BadRow
    from riseq.systems.rows import result_row

    if isinstance(outcome, BadRow):
        return {"bad": outcome.as_row()}
    return {"result": result_row(outcome.example, outcome.result)}


def _check_rows(source: str, strict: bool = True) -> int:
    """Read the file to its end before any work, and return how many rows it has; where ``strict`` none may be bad."""
    from riseq.data.rows import BadRow
    from riseq.data.tables import BadRows

    total, bad = 0, []
    for outcome in _read(source):
        total += 1
        if strict and isinstance(outcome, BadRow):
            bad.append(outcome)
    if bad:
        raise BadRows(bad)
    return total


def _stop_at_bad(outcomes: Iterator[Simplified | BadRow]) -> Iterator[Simplified | BadRow]:
    from riseq.data.rows import BadRow
    from riseq.data.tables import BadRows

    for outcome in outcomes:
        if isinstance(outcome, BadRow):
            raise BadRows([outcome])
        yield outcome


@dataclass(slots=True)
class _Skipped:
    """Counts the bad rows that were told and left out, and the others."""

    rows: int = 0
    kept: int = 0

    def leave_out(self, outcomes: Iterator[Simplified | BadRow]) -> Iterator[Simplified]:
        from riseq.data.rows import BadRow

        for outcome in outcomes:
            if isinstance(outcome, BadRow):
                self.rows += 1
                say(f"skipped {outcome}")
            else:
                self.kept += 1
                yield outcome


def _can_go_back(source: str) -> bool:
    return Path(source).is_file()
