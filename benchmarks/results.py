"""What the benchmarks share: where results go, what they were measured on, tables, and made-up dialogues."""

from __future__ import annotations

import os
import random
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

from riseq.data.dataset import load_dataset
from riseq.files import write_text
from riseq.reproduce.facts import describe_machine
from riseq.types import Example

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "RESULTS.md"
OUTPUTS = ROOT / "benchmarks" / "outputs"
"""What the runs behind the results printed, as it was."""
EVERYDAY = ROOT / "examples" / "everyday.jsonl"


def describe_run() -> str:
    """Return the command, the machine and the day, as a section begins with them."""
    script = Path(sys.argv[0]).name
    return f"`{shlex.join(['python', f'benchmarks/{script}', *sys.argv[1:]])}`, {describe_machine()}, {date.today()}"


def find_data() -> Path:
    """Return the folder of the data sets, which RISEQ_DATA names."""
    if "RISEQ_DATA" not in os.environ:
        raise SystemExit("set RISEQ_DATA to the folder of the data sets")
    return Path(os.environ["RISEQ_DATA"])


def format_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table, without a line's end."""
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (titles, ["---"] * len(titles), *rows))


def say_met(met: bool) -> str:
    """Return the word for a target that was met, or was not."""
    return "met" if met else "not met"


def write_section(title: str, text: str, page: Path = RESULTS) -> None:
    """Put ``text`` below the heading ``title`` of a page, in place of what was there, or at its end."""
    before = page.read_text(encoding="utf-8") if page.is_file() else "# Results\n"
    write_text(page, replace_section(before, title, text))


def replace_section(page: str, title: str, text: str) -> str:
    """Return ``page`` with ``text`` below the heading ``title``; at the end where there was none.

    What stands below a smaller heading in the section stays: it was written by hand.
    """
    section = f"## {title}\n\n{text.strip()}\n"
    found = re.search(rf"^## {re.escape(title)}\n.*?(?=^###? |\Z)", page, flags=re.MULTILINE | re.DOTALL)
    if found is None:
        return f"{page.rstrip()}\n\n{section}"
    rest = page[found.end() :]
    return page[: found.start()] + section + (f"\n{rest}" if rest else "")


def make_examples(data: Path = EVERYDAY, seed: int = 7) -> Iterator[Example]:
    """Yield dialogues of mixed lengths without end: those of ``data``, each after some others' utterances."""
    rng = random.Random(seed)
    known = load_dataset(data)
    index = 0
    while True:
        one = rng.choice(known)
        before = [text for other in rng.sample(known, rng.randint(0, 2)) for text in other.context]
        yield Example(str(index), (*before, *one.context), one.question)
        index += 1
