"""How fast the engine is beside the pass that bounds it, and beside decoders that write word by word; in one run."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median

from riseq.engine.backends import Backend, BatchScores, ParallelBackend, ScoreArray
from riseq.engine.drafts import gather, start
from riseq.engine.simplifier import Simplifier
from riseq.model.inputs import Batch, SpanBatch
from riseq.terminal.progress import track
from riseq.types import Example, InputError

Clock = Callable[[], float]
ENGINE, ENCODER = "riseq", "bare encoder pass"
RIVAL_TURNS = 3
"""How often each rival writes in one repetition: it takes as long as a hundred questions do."""
COLD = """
import resource, sys
from riseq import Simplifier
Simplifier.load(*sys.argv[1:])("When was Alien released?", context=["Who directed Alien?"])
size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
if sys.platform == "linux":
    size = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(size / 1024 if sys.platform != "darwin" else size / 1024**2)
"""
"""What a first question costs: a new process loads the model and answers, then tells its size in MB.

Linux hands the largest size of the process that started it down in ``ru_maxrss``; ``VmHWM`` is its own."""


@dataclass(slots=True)
class Clocked:
    """A backend that notes how often and how long its two graphs ran."""

    backend: Backend
    clock: Clock = time.perf_counter
    passes: int = 0
    encoder_s: float = 0.0
    phrasings: int = 0
    phraser_s: float = 0.0

    @property
    def max_pieces(self) -> int:
        """How many pieces a row may have."""
        return self.backend.max_pieces

    @property
    def batch_pieces(self) -> int:
        """How many pieces it likes to read at once."""
        return self.backend.batch_pieces

    def score(self, batch: Batch) -> BatchScores:
        """Return what the network makes of ``batch``."""
        began = self.clock()
        reading = self.backend.score(batch)
        self.encoder_s += self.clock() - began
        self.passes += len(batch.lengths_B)
        return ClockedReading(reading, self)


@dataclass(frozen=True, slots=True)
class ClockedReading:
    """A reading whose phrases are timed."""

    reading: BatchScores
    clocked: Clocked

    @property
    def edits_BWE(self) -> ScoreArray:
        """Log-probabilities of the four edits at each word."""
        return self.reading.edits_BWE

    def score_phrases(self, spans: SpanBatch) -> ScoreArray:
        """Return the log-probabilities of all phrases at each span."""
        began = self.clocked.clock()
        scores = self.reading.score_phrases(spans)
        self.clocked.phraser_s += self.clocked.clock() - began
        self.clocked.phrasings += 1
        return scores


@dataclass(frozen=True, slots=True)
class Profile:
    """Where a question's time goes; shares of the whole, and counts a question."""

    passes: float
    phrasings: float
    encoder: float
    phraser: float
    rest: float
    """Tokenising, choosing, editing and writing: everything outside the network."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What one run found out; times in seconds, each the median over the questions of its best repetition."""

    questions: int
    threads: int
    singles: Mapping[str, float]
    """The time of one question by what answers it."""
    encoder_ratio: float
    """The median over the questions of the engine's time by that of one bare pass over the same tokens."""
    bulk: Mapping[str, float]
    """Questions a second of the engine and of the bare encoder."""
    profile: Profile
    cold_s: float
    cold_mb: float
    by_questions: Mapping[int, float]
    """The time of so many questions at once."""
    by_turns: Mapping[int, float]
    """The time of one question after so many utterances."""
    skipped: Sequence[str] = field(default_factory=tuple)
    """What could not be measured here, and why."""


def measure(
    engine: Simplifier,
    examples: Sequence[Example],
    threads: int,
    rivals: Mapping[str, Callable[[], object]],
    skipped: Sequence[str] = (),
    repeats: int = 5,
    model: Path | None = None,
    clock: Clock = time.perf_counter,
) -> Measured:
    """Return the speed of ``engine`` on the examples that have a dialogue, beside ``rivals``.

    ``model`` is the folder it was loaded from, None for the one that ships: a cold start loads it again.
    """
    asked = [example for example in examples if example.context]
    if not asked:
        raise InputError("a speed needs questions with a dialogue before them; got none")
    batches = [_lay(engine, example) for example in asked]
    singles, ratio = _measure_singles(engine, asked, batches, rivals, repeats, clock)
    bulk = _measure_bulk(engine, asked, batches, repeats, clock)
    cold_s, cold_mb = _measure_cold(model, repeats, clock)
    by_questions, by_turns = _measure_growth(engine, asked, repeats, clock)
    return Measured(
        questions=len(asked),
        threads=threads,
        singles=singles,
        encoder_ratio=ratio,
        bulk=bulk,
        profile=_profile(engine, asked, clock),
        cold_s=cold_s,
        cold_mb=cold_mb,
        by_questions=by_questions,
        by_turns=by_turns,
        skipped=tuple(skipped),
    )


def _lay(engine: Simplifier, example: Example) -> Batch:
    draft = start(example.question, example.context, engine.pieces, engine.backend.max_pieces)
    return gather([draft], engine.pieces)


def _time(action: Callable[[], object], clock: Clock) -> float:
    began = clock()
    action()
    return clock() - began


def _measure_singles(
    engine: Simplifier,
    asked: Sequence[Example],
    batches: Sequence[Batch],
    rivals: Mapping[str, Callable[[], object]],
    repeats: int,
    clock: Clock,
) -> tuple[dict[str, float], float]:
    """Return the median time of one question by what answers it, and the engine's ratio to a bare pass.

    Everything takes turns within each repetition, so that a machine's other work falls on all alike; of a question's
    repetitions the fastest counts, and of a rival's turns the faster half.
    """
    mine = [float("inf")] * len(asked)
    bare = [float("inf")] * len(asked)
    theirs: dict[str, list[float]] = {name: [] for name in rivals}
    turns = max(1, len(asked) // RIVAL_TURNS)
    for _ in track(range(repeats), repeats, "one question"):
        for place, (example, batch) in enumerate(zip(asked, batches, strict=True)):
            bare[place] = min(bare[place], _time(lambda: engine.backend.score(batch), clock))  # noqa: B023
            mine[place] = min(mine[place], _time(lambda: engine(example.question, example.context), clock))  # noqa: B023
            if place % turns == 0:
                for name, rival in rivals.items():
                    theirs[name].append(_time(rival, clock))
    found = {ENGINE: median(mine), ENCODER: median(bare)}
    found |= {name: _fast_half(times) for name, times in theirs.items()}
    return found, median(one / other for one, other in zip(mine, bare, strict=True))


def _fast_half(times: Sequence[float]) -> float:
    """Return the median of the faster half: what the engine's best of several repetitions is to be set against."""
    return median(sorted(times)[: max(1, len(times) // 2)])


def _measure_bulk(
    engine: Simplifier, asked: Sequence[Example], batches: Sequence[Batch], repeats: int, clock: Clock
) -> dict[str, float]:
    backend = engine.backend
    side_by_side = isinstance(backend, ParallelBackend) and backend.workers > 1

    def read_all() -> None:
        # As the engine reads them: side by side where that is faster.
        if isinstance(backend, ParallelBackend) and side_by_side:
            with ThreadPoolExecutor(backend.workers) as pool:
                deque(pool.map(backend.single_threaded().score, batches), maxlen=0)
        else:
            for batch in batches:
                backend.score(batch)

    mine, bare = [], []
    for _ in track(range(repeats), repeats, "many questions"):
        mine.append(_time(lambda: list(engine.batch(asked)), clock))
        bare.append(_time(read_all, clock))
    return {ENGINE: len(asked) / min(mine), ENCODER: len(asked) / min(bare)}


def _profile(engine: Simplifier, asked: Sequence[Example], clock: Clock) -> Profile:
    clocked = Clocked(engine.backend, clock)
    timed = Simplifier(clocked, engine.pieces, engine.phrases, engine.max_passes, engine.calibration)
    whole = _time(lambda: [timed(example.question, example.context) for example in asked], clock)
    return Profile(
        passes=clocked.passes / len(asked),
        phrasings=clocked.phrasings / len(asked),
        encoder=clocked.encoder_s / whole,
        phraser=clocked.phraser_s / whole,
        rest=1 - (clocked.encoder_s + clocked.phraser_s) / whole,
    )


def _measure_cold(model: Path | None, repeats: int, clock: Clock) -> tuple[float, float]:
    """Return the seconds and the resident MB of a new process that answers its first question."""
    times, sizes = [], []
    for _ in track(range(repeats), repeats, "cold start"):
        began = clock()
        command = [sys.executable, "-c", COLD, *([] if model is None else [str(model)])]
        run = subprocess.run(command, capture_output=True, text=True)
        times.append(clock() - began)
        if run.returncode:
            raise InputError(f"a new process could not load the model ({run.stderr.strip().splitlines()[-1][:200]})")
        sizes.append(float(run.stdout))
    return min(times), max(sizes)


def _measure_growth(
    engine: Simplifier, asked: Sequence[Example], repeats: int, clock: Clock
) -> tuple[dict[int, float], dict[int, float]]:
    """Return the times by the number of questions, and by the number of utterances before one."""
    longest = min(len(asked), 384)
    by_questions = {
        count: min(_time(lambda: list(engine.batch(asked[:count])), clock) for _ in range(repeats))  # noqa: B023
        for count in _steps(longest)
    }
    utterances = [text for example in asked for text in (*example.context, example.question)]
    by_turns = {}
    for turns in range(1, 13):
        rows = list(_dialogues(utterances, turns))
        fastest = [min(_time(lambda: engine(*row), clock) for _ in range(repeats)) for row in rows]  # noqa: B023
        by_turns[turns] = mean(fastest)
    return by_questions, by_turns


def _steps(longest: int) -> list[int]:
    return sorted({max(1, longest * part // 6) for part in range(1, 7)})


def _dialogues(utterances: Sequence[str], turns: int, count: int = 8) -> Iterator[tuple[str, list[str]]]:
    """Yield questions after ``turns`` utterances: the same ones for every number of turns, as far as there are any."""
    for place in range(count):
        first = place * 13
        said = [utterances[(first + step) % len(utterances)] for step in range(turns + 1)]
        yield said[-1], said[:-1]
