"""How fast an engine is on this machine, beside the bare encoder pass that bounds it."""

import subprocess
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

from riseq.engine.backends import ParallelBackend
from riseq.engine.drafts import gather, start
from riseq.engine.editor import Editor
from riseq.model.card import EXAMPLES
from riseq.types import Example, InputError

Action = Callable[[], object]
ENGINE, ENCODER = "riseq", "bare encoder pass"
# Prints the size of a process after its first answer; on Linux ru_maxrss would be that of the process that started it.
COLD_START = """
import resource, riseq, sys
engine, question, *model = sys.argv[1:]
getattr(riseq, engine).load(*model)(question, context=["Who directed Alien?"])
size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
if sys.platform == "linux":
    size = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(size / 1024 if sys.platform != "darwin" else size / 1024**2)
"""


@dataclass(frozen=True, slots=True)
class Speed:
    """What was measured: times in seconds, each the best of its repetitions; the cold ones are of a new process."""

    questions: int
    singles: Mapping[str, float]
    """The median time of one question, by what answers it."""
    encoder_ratio: float
    """The median over the questions of the engine's time by that of one bare pass over the same tokens."""
    bulk: Mapping[str, float]
    """Questions a second, when all are asked at once."""
    cold_s: float
    cold_mb: float


def measure_speed(
    engine: Editor, examples: Sequence[Example], repeats: int, model: Path | None, others: Mapping[str, Action]
) -> Speed:
    """Return the speed of ``engine``, loaded from ``model``, on the examples with a dialogue; ``others`` take turns."""
    asked, backend = [example for example in examples if example.context], engine.backend
    if not asked:
        raise InputError("a speed needs questions with a dialogue before them; got none")
    window = engine.window
    drafts = [start(one.question, one.context, engine.pieces, backend.max_pieces, (), window) for one in asked]
    batches = [gather([draft], engine.pieces, engine.phrasing.copies) for draft in drafts]
    actions: list[tuple[str, Action]] = []
    for index, (one, batch) in enumerate(zip(asked, batches, strict=True)):
        actions += [(ENCODER, partial(backend.score, batch)), (ENGINE, partial(engine, one.question, one.context))]
        # Three times in a repetition: they may take as long as a hundred questions do.
        actions += others.items() if index % max(1, len(asked) // 3) == 0 else ()

    def read_all() -> None:
        if isinstance(backend, ParallelBackend) and backend.workers > 1:  # side by side, as the engine reads them
            with ThreadPoolExecutor(backend.workers) as pool:
                deque(pool.map(backend.single_threaded().score, batches), maxlen=0)
        else:
            deque(map(backend.score, batches), maxlen=0)

    singles = time_turns(actions, repeats)
    bulk = time_turns([(ENGINE, lambda: list(engine.batch(asked))), (ENCODER, read_all)], repeats)
    medians = {name: median(singles[name]) for name in (ENGINE, ENCODER, *others)}
    ratio = median(mine / bare for mine, bare in zip(singles[ENGINE], singles[ENCODER], strict=True))
    rates = {name: len(asked) / times[0] for name, times in bulk.items()}
    return Speed(len(asked), medians, ratio, rates, *_measure_cold_start(engine, model, repeats))


def time_turns(actions: Sequence[tuple[str, Action]], repeats: int) -> dict[str, list[float]]:
    """Return the fastest of ``repeats`` times of each action, by name; in turns, a machine's other work hits all."""
    best: dict[int, float] = {}
    for index, (_, action) in list(enumerate(actions)) * repeats:
        began = perf_counter()
        action()
        best[index] = min(perf_counter() - began, best.get(index, float("inf")))
    names = dict.fromkeys(name for name, _ in actions)
    return {name: [best[index] for index, (one, _) in enumerate(actions) if one == name] for name in names}


def _measure_cold_start(engine: Editor, model: Path | None, repeats: int) -> tuple[float, float]:
    question = EXAMPLES[engine.direction][0][1]
    asked = [type(engine).__name__, question, *([] if model is None else [str(model)])]
    command, sizes = [sys.executable, "-c", COLD_START, *asked], []

    def start_process() -> None:
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode:
            raise InputError(f"a new process could not load the model ({run.stderr.strip().splitlines()[-1][:200]})")
        sizes.append(float(run.stdout))

    return time_turns([("", start_process)], repeats)[""][0], max(sizes)
