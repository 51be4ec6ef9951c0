"""Show that two checkouts of riseq give the same outputs, and how fast the new one is beside the old.

    python benchmarks/compare_outputs.py OLD_CHECKOUT [--new CHECKOUT] [--rows 1000] [--rounds 5]

Each checkout runs in a process of its own, with its ``src`` first on the path and the same interpreter, through the
public API alone: all that a result has, field by field, on the examples, CAsT-19 and the first rows of CANARD dev
(both under RISEQ_DATA), with the default settings and once with ``strength=1, n_best=3``. Then both take turns at the
same questions, one at a time and in bulk. The exit code is 1 where any output differs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FILES = ("examples/dialogues.jsonl", "examples/everyday.jsonl")
SETS = ("cast19/test.qonly", "canard/dev.qonly")
SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "default settings": {},
    "strength=1, n_best=3": {"strength": 1, "n_best": 3},
}
SINGLES, BULK = 60, 240
"""How many questions a round of the speed asks one at a time, and in bulk."""
SHOWN = 10

Question = tuple[str, Sequence[str]]


def read_questions(rows: int) -> dict[str, list[Question]]:
    """Return question and context of each row of every set, read with json; at most ``rows`` of a set."""
    folder = os.environ.get("RISEQ_DATA")
    if folder is None:
        raise SystemExit("set RISEQ_DATA to the folder of the data sets")
    paths = {name: ROOT / name for name in FILES} | {name: Path(folder, f"{name}.jsonl") for name in SETS}
    found = {}
    for name, path in paths.items():
        lines = path.read_text(encoding="utf-8").splitlines()
        read = [json.loads(line) for line in lines if line.strip()][:rows]
        found[name] = [(row["question"], row["context"]) for row in read]
    return found


def describe_result(result: Any) -> dict[str, Any]:
    """Return every field of a result, by the names that both checkouts have."""
    return {
        "text": result.text,
        "confidence": result.confidence,
        "probability": result.probability,
        "truncated": result.truncated,
        "steps": [
            {
                "text": step.text,
                "edits": [
                    [edit.op.name, edit.start, edit.end, edit.old, edit.new, edit.probability] for edit in step.edits
                ],
            }
            for step in result.steps
        ],
        "alternatives": [describe_result(one) for one in result.alternatives],
    }


def serve() -> None:
    """Answer requests on standard input, a line of JSON each: this is what runs in a checkout's process."""
    import riseq
    from riseq import Example, Simplifier

    simplifier = Simplifier.load(threads=2)
    print(json.dumps({"riseq": str(Path(riseq.__file__).parent)}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        asked = [Example(str(index), tuple(context), question) for index, (question, context) in request["questions"]]
        began = perf_counter()
        if request["kind"] == "singles":
            results = [simplifier(one.question, one.context) for one in asked]
        else:
            results = list(simplifier.batch(asked, **request["settings"]))
        seconds = perf_counter() - began
        if request["kind"] != "outputs":
            print(json.dumps(seconds), flush=True)
            continue
        with open(request["output"], "w", encoding="utf-8") as file:
            file.writelines(json.dumps(describe_result(result)) + "\n" for result in results)
        print(json.dumps(len(results)), flush=True)


class Checkout:
    """A checkout's process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._requests = process.stdin
        self._answers = process.stdout
        self.package = Path(self._read()["riseq"])

    def ask(self, kind: str, questions: Sequence[Question], output: Path | None = None, **settings: Any) -> Any:
        """Return how many results were written to ``output``, or how many seconds they took."""
        request = {"kind": kind, "questions": list(enumerate(questions)), "settings": settings, "output": str(output)}
        self._requests.write(json.dumps(request) + "\n")
        self._requests.flush()
        return self._read()

    def _read(self) -> Any:
        line = self._answers.readline()
        if not line:
            raise SystemExit("a checkout's process ended; its message is above")
        return json.loads(line)


@contextmanager
def open_checkout(folder: Path) -> Iterator[Checkout]:
    """Give the process of the checkout in ``folder``."""
    source = folder.resolve() / "src"
    environment = {**os.environ, "PYTHONPATH": str(source)}
    command = [sys.executable, __file__, "--serve"]
    with subprocess.Popen(
        command, env=environment, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        checkout = Checkout(process)
        if not checkout.package.is_relative_to(source):
            raise SystemExit(f"{folder}: its process has the riseq of {checkout.package}")
        yield checkout


def find_differences(old: Any, new: Any, path: str = "") -> Iterator[str]:
    """Yield the path of each field in which two results differ, with both values."""
    if isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
        for name in old:
            yield from find_differences(old[name], new[name], f"{path}.{name}".lstrip("."))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from find_differences(one, other, f"{path}[{index}]")
    elif old != new or type(old) is not type(new):
        yield f"{path}: {old!r}, now {new!r}"


def compare_files(name: str, old: Path, new: Path) -> list[str]:
    """Return what differs between two files of results, each with the row it is in."""
    before, after = (path.read_text(encoding="utf-8").splitlines() for path in (old, new))
    found = [] if len(before) == len(after) else [f"{name}: {len(before)} results, now {len(after)}"]
    for number, (one, other) in enumerate(zip(before, after, strict=False), 1):
        if one != other:
            differences = find_differences(json.loads(one), json.loads(other))
            found += [f"{name}, row {number}: {difference}" for difference in differences]
    return found


def compare_outputs(old: Checkout, new: Checkout, questions: Mapping[str, Sequence[Question]]) -> int:
    """Print how many results there are and what differs; return how many differences there are."""
    total = 0
    with tempfile.TemporaryDirectory() as folder:
        paths = Path(folder, "old.jsonl"), Path(folder, "new.jsonl")
        for words, settings in SETTINGS.items():
            for name, asked in questions.items():
                for checkout, path in zip((old, new), paths, strict=True):
                    checkout.ask("outputs", asked, path, **settings)
                found = compare_files(name, *paths)
                total += len(found)
                print(f"{name}, {words}: {len(asked):,} results, {len(found):,} differences", flush=True)
                for difference in found[:SHOWN]:
                    print(f"  {difference}")
    return total


def compare_speed(old: Checkout, new: Checkout, questions: Sequence[Question], rounds: int) -> dict[str, float]:
    """Return how long the new checkout takes by the old one's time: medians of ``rounds``, in which both take turns."""
    asked = {"singles": questions[:SINGLES], "bulk": questions[:BULK]}
    ratios = {}
    for kind, some in asked.items():
        times: tuple[list[float], list[float]] = ([], [])
        for number in range(rounds + 1):
            for index in (0, 1) if number % 2 else (1, 0):
                taken = (old, new)[index].ask(kind, some)
                if number:  # the first round warms up
                    times[index].append(taken)
        ratios[kind] = median(times[1]) / median(times[0])
    return ratios


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Compare the outputs and the speed of two checkouts of riseq.")
    parser.add_argument("old", type=Path, nargs="?", help="the folder of the old checkout")
    parser.add_argument("--new", type=Path, default=ROOT, help="the folder of the new one; this one without it")
    parser.add_argument("--rows", type=int, default=1_000, help="rows of each set")
    parser.add_argument("--rounds", type=int, default=7, help="rounds of the speed, at least 5")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    wanted = parser.parse_args(arguments)
    if wanted.serve:
        serve()
        return
    if wanted.old is None or not (wanted.old / "src" / "riseq").is_dir():
        parser.error(f"expected the folder of a checkout of riseq, got {wanted.old}")
    questions = read_questions(wanted.rows)
    with ExitStack() as stack:
        old, new = (stack.enter_context(open_checkout(folder)) for folder in (wanted.old, wanted.new))
        differences = compare_outputs(old, new, questions)
        asked = [one for one in questions[SETS[0]] if one[1]]
        ratios = compare_speed(old, new, asked, max(5, wanted.rounds))
    print(f"{2 * sum(map(len, questions.values())):,} results, {differences:,} differences")
    print(f"time of the new by the old: one question {ratios['singles']:.3f}, in bulk {ratios['bulk']:.3f}")
    sys.exit(1 if differences else 0)


if __name__ == "__main__":
    main()
