"""Print what the engine's host side costs a question, stage by stage: everything but the network.

    python benchmarks/bench_host.py [--data SET ...] [--limit 5000] [--scores FILE] [--repeats 5] [--against SRC]

The network's scores are made once, by the model that ships, and replayed after that; the time spent on looking them up
is taken off. So the rate is that of a host whose network costs nothing. ``--scores`` keeps them in a file for the next
run. Times are the processor's, which other work on the machine changes less than the clock's. Stages are timed in runs
of their own, since timing a stage costs time too; a stage's time is without that of the stages inside it. With
``--against`` the ``src`` folder of another version takes turns with this one, in processes of their own.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from itertools import cycle, islice
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import riseq
from riseq import Simplifier
from riseq.data.dataset import load_dataset
from riseq.model.inputs import Batch, SpanBatch
from riseq.types import Example

BATCH_PIECES = 131_072
STAGES = (
    ("read items", "riseq.engine.editor", "_read_windows"),
    ("tokenise", "riseq.engine.editor", "start"),
    ("collate", "riseq.engine.editor", "gather"),
    ("decide", "riseq.engine.editor", "decide"),
    ("choose", "riseq.engine.editor", "choose_phrases"),
    ("guard rules", "riseq.engine.decisions", "_keep_grounded"),
    ("features", "riseq.engine.decisions", "measure_pass"),
    ("features", "riseq.engine.decisions", "measure_passes"),
    ("advance", "riseq.engine.drafts", "Draft.advance"),
    ("grammar rules", "riseq.engine.drafts", "Draft._mend"),
    ("write", "riseq.engine.drafts", "realise"),
    ("confidence", "riseq.engine.confidence", "Calibration.wants_another"),
    ("finish", "riseq.engine.drafts", "Draft.finish"),
)
"""What is timed: a name, the module where the engine looks it up, and the function."""


class RecordedScores:
    """The scores of one batch, looked up."""

    def __init__(self, backend: RecordedBackend, batch: Any, keys: list[bytes], fresh: dict[int, Any]) -> None:
        self.backend, self.batch, self.keys, self.fresh = backend, batch, keys, fresh
        width = batch.firsts_BW.shape[1] - 1
        self.edits_BWE = np.zeros((len(keys), width, 4), dtype=np.float32)
        for row, key in enumerate(keys):
            found = backend.edits[key]
            self.edits_BWE[row, : len(found)] = found

    def score_phrases(self, spans: Any) -> Any:
        """Return the log-probabilities [N, P] of all phrases at each span."""
        with self.backend.off_the_clock():
            found = []
            for row, word, start, end in zip(*map(np.ndarray.tolist, _list_spans(spans)), strict=True):
                key = (self.keys[row], start, end)
                if key not in self.backend.phrases:
                    one = SpanBatch(*(np.array([value]) for value in (0, word, start, end)))
                    scores = self.fresh.get(row) or self.backend.backend.score(_take_row(self.batch, row))
                    self.backend.phrases[key] = scores.score_phrases(one)[0]
                found.append(self.backend.phrases[key])
            return np.stack(found)


class RecordedBackend:
    """A backend that replays what another one scored; rows it has not seen are scored by that one, alone."""

    batch_pieces = BATCH_PIECES

    def __init__(self, backend: Any) -> None:
        self.backend, self.max_pieces = backend, backend.max_pieces
        self.edits: dict[bytes, Any] = {}
        self.phrases: dict[tuple[bytes, int, int], Any] = {}
        self.seconds = 0.0
        self.passes = 0
        self.rows = 0

    @contextmanager
    def off_the_clock(self) -> Iterator[None]:
        """Count the time inside as the network's."""
        began = process_time()
        try:
            yield
        finally:
            self.seconds += process_time() - began

    def score(self, batch: Any) -> RecordedScores:
        """Return the scores of ``batch``."""
        with self.off_the_clock():
            ids = [row[:length].tobytes() for row, length in zip(batch.ids_BL, batch.lengths_B.tolist(), strict=True)]
            keys = [key + bytes([condition]) for key, condition in zip(ids, batch.condition_B.tolist(), strict=True)]
            fresh: dict[int, Any] = {}
            for row, key in enumerate(keys):
                if key not in self.edits:
                    fresh[row] = self.backend.score(_take_row(batch, row))
                    self.edits[key] = np.array(fresh[row].edits_BWE[0])
            self.passes += 1
            self.rows += len(keys)
            return RecordedScores(self, batch, keys, fresh)

    def save(self, path: Path) -> None:
        """Write what was scored."""
        rows = list(self.edits)
        number = {key: index for index, key in enumerate(rows)}
        spans = [(number[key], start, end) for key, start, end in self.phrases]
        np.savez(
            path,
            keys=np.frombuffer(b"".join(rows), dtype=np.uint8),
            key_lengths=np.array(list(map(len, rows))),
            edits=np.concatenate(list(self.edits.values())),
            edit_lengths=np.array([len(one) for one in self.edits.values()]),
            spans=np.array(spans),
            phrases=np.stack(list(self.phrases.values())),
        )

    def load(self, path: Path) -> None:
        """Read what ``save`` wrote."""
        with np.load(path) as file:
            stored = {name: file[name] for name in file.files}
        ends = np.cumsum(stored["key_lengths"]).tolist()
        joined = stored["keys"].tobytes()
        keys = [joined[end - size : end] for end, size in zip(ends, stored["key_lengths"].tolist(), strict=True)]
        parts = np.split(stored["edits"], np.cumsum(stored["edit_lengths"])[:-1])
        self.edits = dict(zip(keys, parts, strict=True))
        spans = [(keys[row], start, end) for row, start, end in stored["spans"].tolist()]
        self.phrases = dict(zip(spans, stored["phrases"], strict=True))


def _list_spans(spans: Any) -> tuple[Any, ...]:
    return spans.row_N, spans.word_N, spans.start_N, spans.end_N


def _take_row(batch: Any, row: int) -> Any:
    length, words = int(batch.lengths_B[row]), int(batch.words_B[row])
    one = slice(row, row + 1)
    return Batch(
        np.ascontiguousarray(batch.ids_BL[one, :length]),
        batch.lengths_B[one],
        batch.context_B[one],
        np.ascontiguousarray(batch.firsts_BW[one, : words + 1]),
        batch.words_B[one],
        batch.condition_B[one],
    )


class Stages:
    """Clocks around functions: the seconds inside each, without those of the clocked functions that it calls."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._inside: list[float] = []

    def clock(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return ``function`` with a clock around it."""

        def timed(*given: Any, **named: Any) -> Any:
            self._inside.append(0.0)
            began = process_time()
            try:
                return function(*given, **named)
            finally:
                taken = process_time() - began
                self.seconds[name] += taken - self._inside.pop()
                if self._inside:
                    self._inside[-1] += taken

        return timed

    @contextmanager
    def attached(self) -> Iterator[None]:
        """Clock all stages that this version of the engine has."""
        import importlib

        undo = []
        scorers = [("network", RecordedBackend, "score"), ("network", RecordedScores, "score_phrases")]
        found: list[tuple[str, Any, str]] = list(scorers)
        for name, module, path in STAGES:
            *owners, last = path.split(".")
            owner: Any = importlib.import_module(module)
            for part in owners:
                owner = getattr(owner, part, None)
            if owner is not None and hasattr(owner, last):
                found.append((name, owner, last))
        for name, owner, last in found:
            undo.append((owner, last, getattr(owner, last)))
            setattr(owner, last, self.clock(name, getattr(owner, last)))
        try:
            yield
        finally:
            for owner, last, function in undo:
                setattr(owner, last, function)


def measure(engine: Simplifier, backend: RecordedBackend, asked: Sequence[Example], repeats: int) -> dict[str, Any]:
    """Return the host's microseconds a question, the best of ``repeats`` runs, and those of each stage."""
    results = [result.to_dict() for result in engine.batch(asked)]
    best = float("inf")
    for _ in range(repeats):
        backend.seconds, backend.rows = 0.0, 0
        began = process_time()
        for _ in engine.batch(asked):
            pass
        best = min(best, process_time() - began - backend.seconds)
    stages = Stages()
    with stages.attached():
        run = stages.clock("rest", lambda: [None for _ in engine.batch(asked)])
        run()
    by_stage = {name: 1e6 * taken / len(asked) for name, taken in stages.seconds.items() if name != "network"}
    changed = sum(result["text"] != result["question"] for result in results)
    return {
        "questions": len(asked),
        "changed": changed,
        "rows a question": backend.rows / len(asked),
        "us": 1e6 * best / len(asked),
        "stages": by_stage,
        "results": hash_results(results),
    }


def hash_results(results: Sequence[dict[str, Any]]) -> str:
    """Return a short hash of all ``results``, to see that versions make the same, to the last digit."""
    return sha256(json.dumps(results).encode()).hexdigest()[:16]


def pick(name: str, limit: int) -> list[Example]:
    """Return up to ``limit`` examples with a dialogue; a set with fewer than 4,096 is asked again and again."""
    examples = [example for example in load_dataset(name) if example.context]
    return examples[:limit] if len(examples) >= 4_096 else list(islice(cycle(examples), 4_096))


def run_here(wanted: argparse.Namespace) -> dict[str, Any]:
    """Return the measures of this process's version, by set."""
    engine = Simplifier.load(wanted.model)
    backend = RecordedBackend(engine.backend)
    engine.backend = backend
    if wanted.scores and wanted.scores.is_file():
        backend.load(wanted.scores)
    known = len(backend.edits)
    found = {name: measure(engine, backend, pick(name, wanted.limit), wanted.repeats) for name in wanted.data}
    if wanted.scores and len(backend.edits) > known:
        backend.save(wanted.scores)
    return found


def run_in(source: Path, arguments: Sequence[str]) -> dict[str, Any]:
    """Return what this script measures with the ``src`` folder ``source``, in another process."""
    command = [sys.executable, __file__, *arguments, "--json"]
    environment = {**os.environ, "PYTHONPATH": str(source.resolve())}
    found: dict[str, Any] = json.loads(
        subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE).stdout
    )
    return found


def take_best(turns: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the run of several that took the least time, with the least of each stage."""
    best = dict(min(turns, key=lambda one: float(one["us"])))
    best["stages"] = {name: min(one["stages"][name] for one in turns) for name in best["stages"]}
    return best


def print_table(columns: dict[str, dict[str, Any]]) -> None:
    """Print the microseconds of each version, stage by stage, set by set."""
    versions = list(columns)
    for data in columns[versions[0]]:
        found = [columns[version][data] for version in versions]
        first = found[0]
        print(f"\n{data}: {first['questions']:,} questions, {first['changed']:,} changed, results {first['results']}")
        if len({one["results"] for one in found}) > 1:
            print("THE RESULTS DIFFER")
        print(f"| microseconds a question | {' | '.join(versions)} |\n|---|{'---|' * len(versions)}")
        for stage in dict.fromkeys(name for one in found for name in one["stages"]):
            print_row(stage, [f"{one['stages'].get(stage, 0.0):.1f}" for one in found])
        print_row("all, unclocked", [f"{one['us']:.1f}" for one in found])
        print_row("questions a second", [f"{1e6 / one['us']:,.0f}" for one in found])


def print_row(name: str, cells: Sequence[str]) -> None:
    """Print a row of a table."""
    print("|", " | ".join([name, *cells]), "|")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", nargs="+", default=["cast19/test.qonly", "canard/test.qonly"])
    parser.add_argument("--limit", type=int, default=5_000)
    parser.add_argument("--model")
    parser.add_argument("--scores", type=Path, help="a file (.npz) that keeps the network's scores")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--against", type=Path, help="the src folder of another version")
    parser.add_argument("--turns", type=int, default=3, help="how often each of two versions runs")
    parser.add_argument("--json", action="store_true")
    wanted = parser.parse_args(arguments)
    if wanted.json:
        print(json.dumps(run_here(wanted)))
        return
    given = ["--data", *wanted.data, "--limit", str(wanted.limit), "--repeats", str(wanted.repeats)]
    given += ["--model", wanted.model] if wanted.model else []
    given += ["--scores", str(wanted.scores)] if wanted.scores else []
    if wanted.against is None:
        print_table({"here": run_here(wanted)})
        return
    versions = {"before": wanted.against, "now": Path(riseq.__file__).parent.parent}
    runs: dict[str, list[Any]] = {name: [] for name in versions}
    for _ in range(wanted.turns):
        for name, source in versions.items():
            runs[name].append(run_in(source, given))
    print_table(
        {name: {data: take_best([one[data] for one in found]) for data in wanted.data} for name, found in runs.items()}
    )


if __name__ == "__main__":
    main()
