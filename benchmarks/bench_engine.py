"""Measure the engine beside the encoder pass that bounds it and beside decoders that write word by word, in one run.

Run it from the repository's root: ``python benchmarks/bench_engine.py [--data SET] [--model FOLDER] [--threads N]
[--repeats N] [--limit N] [--no-decoders] [--write]``. On top of what ``riseq bench`` measures it says where the time
goes, how it grows with questions and utterances, and whether our targets are met; ``--write`` puts the section, the
numbers and the plot into this folder.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from functools import partial
from pathlib import Path
from statistics import mean
from time import perf_counter

from decoders import BERT2BERT, GPT2, make_decoders
from results import RESULTS, describe_run, format_table, say_met, write_section
from riseq.data.dataset import load_dataset
from riseq.engine.backends import Backend, BatchScores, ScoreArray
from riseq.engine.benchmark import ENCODER, ENGINE, Action, Speed, measure_speed, time_turns
from riseq.engine.directions import load_engine
from riseq.engine.drafts import start
from riseq.engine.editor import Editor
from riseq.files import write_json, write_text
from riseq.hub import find_default_model
from riseq.model.inputs import Batch, SpanBatch
from riseq.reproduce.facts import describe_machine
from riseq.text.words import forms
from riseq.types import Example

TITLE, NUMBERS, PLOT = "Engine", "engine.json", "engine.svg"
BUSY = 0.5
"""The load average from which on a run is disturbed."""


@dataclass(slots=True)
class TimedBackend:
    """A backend that notes how often and how long its two graphs ran."""

    backend: Backend
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
        began = perf_counter()
        reading = self.backend.score(batch)
        self.encoder_s += perf_counter() - began
        self.passes += len(batch.lengths_B)
        return TimedReading(reading, self)


@dataclass(frozen=True, slots=True)
class TimedReading:
    """A reading whose phrases are timed."""

    reading: BatchScores
    timed: TimedBackend

    @property
    def edits_BWE(self) -> ScoreArray:
        """Log-probabilities of the four edits at each word."""
        return self.reading.edits_BWE

    def score_phrases(self, spans: SpanBatch) -> ScoreArray:
        """Return the log-probabilities of all phrases at each span."""
        began = perf_counter()
        scores = self.reading.score_phrases(spans)
        self.timed.phraser_s += perf_counter() - began
        self.timed.phrasings += 1
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
    """Everything that one run measured; times in seconds."""

    speed: Speed
    threads: int
    profile: Profile
    by_questions: Mapping[int, float]
    """The time of so many questions at once."""
    by_turns: Mapping[int, float]
    """The time of one question after so many utterances."""
    by_cores: Mapping[int, float]
    """How many questions a second so many cores answer, all asked at once."""
    skipped: Sequence[str] = field(default_factory=tuple)
    """What could not be measured here, and why."""

    def to_dict(self) -> dict[str, object]:
        """Return the numbers as JSON has them."""
        numbers = asdict(self)
        return {**numbers.pop("speed"), **numbers}


@dataclass(frozen=True, slots=True)
class Target:
    """Something asked for, what was found, and whether that is enough."""

    what: str
    asked: str
    found: str
    met: bool


def measure(
    engine: Editor,
    examples: Sequence[Example],
    threads: int,
    decoders: Mapping[str, Action],
    skipped: Sequence[str] = (),
    repeats: int = 5,
    model: Path | None = None,
) -> Measured:
    """Return the speed of ``engine``, loaded from ``model``, on the examples that have a dialogue."""
    speed = measure_speed(engine, examples, repeats, model, decoders)
    asked = [example for example in examples if example.context]
    by_questions, by_turns = measure_growth(engine, asked, repeats)
    by_cores = measure_cores(engine, asked, threads, repeats)
    return Measured(speed, threads, measure_profile(engine, asked), by_questions, by_turns, by_cores, tuple(skipped))


def measure_profile(engine: Editor, asked: Sequence[Example]) -> Profile:
    """Return where the time of one question after the other goes."""
    backend = TimedBackend(engine.backend)
    timed = type(engine)(backend, engine.pieces, engine.phrasing, engine.max_passes, engine.calibration)
    began = perf_counter()
    for example in asked:
        timed(example.question, example.context)
    whole = perf_counter() - began
    return Profile(
        passes=backend.passes / len(asked),
        phrasings=backend.phrasings / len(asked),
        encoder=backend.encoder_s / whole,
        phraser=backend.phraser_s / whole,
        rest=1 - (backend.encoder_s + backend.phraser_s) / whole,
    )


def measure_growth(engine: Editor, asked: Sequence[Example], repeats: int) -> tuple[dict[int, float], dict[int, float]]:
    """Return the times by the number of questions, and by the number of utterances before one."""
    longest = min(len(asked), 384)
    counts = sorted({max(1, longest * part // 6) for part in range(1, 7)})
    bulk = time_turns([(str(count), partial(run_batch, engine, asked[:count])) for count in counts], repeats)
    utterances = [text for example in asked for text in (*example.context, example.question)]
    by_turns = {}
    for turns in range(1, 13):
        rows = [("", partial(engine, *row)) for row in make_dialogues(utterances, turns)]
        by_turns[turns] = mean(time_turns(rows, repeats)[""])
    return {count: bulk[str(count)][0] for count in counts}, by_turns


def measure_cores(engine: Editor, asked: Sequence[Example], threads: int, repeats: int) -> dict[int, float]:
    """Return how many questions a second the same model answers on one core, two, four ... and ``threads``."""
    counts = sorted({threads, *(2**power for power in range(threads.bit_length()) if 2**power <= threads)})
    engines = {str(count): type(engine).load(engine.model, threads=count) for count in counts}
    times = time_turns([(name, partial(run_batch, one, asked)) for name, one in engines.items()], repeats)
    return {count: len(asked) / times[str(count)][0] for count in counts}


def run_batch(engine: Editor, asked: Sequence[Example]) -> None:
    list(engine.batch(asked))


def make_dialogues(utterances: Sequence[str], turns: int, count: int = 8) -> Iterator[tuple[str, list[str]]]:
    """Yield questions after ``turns`` utterances: the same ones for every number of turns, as far as there are any."""
    for number in range(count):
        first = number * 13
        texts = [utterances[(first + step) % len(utterances)] for step in range(turns + 1)]
        yield texts[-1], texts[:-1]


def find_decoders(
    engine: Editor, examples: Sequence[Example], model: Path | None, threads: int
) -> tuple[dict[str, Action], list[str]]:
    """Return the decoders to compare with, or why there are none."""
    if model is None or not (model / "config.json").is_file():
        return {}, ["decoders that write word by word (the model's shape is not known)"]
    shape = json.loads((model / "config.json").read_text(encoding="utf-8"))["network"]["backbone"]
    drafts = [start(one.question, one.context, engine.pieces, engine.backend.max_pieces) for one in examples]
    # What a decoder writes is as long as what the engine makes of the same questions.
    written = [sum(len(engine.pieces.cut(word)) for word in forms(result.text)) for result in engine.batch(examples)]
    read = round(mean(draft.length for draft in drafts))
    try:
        return make_decoders(shape, read, max(1, round(mean(written))), threads), []
    except ModuleNotFoundError as error:
        return {}, [f"decoders that write word by word (they need the package {error.name!r})"]


def list_targets(measured: Measured) -> list[Target]:
    """Return what was asked for beside what was found, as far as it was measured."""
    speed = measured.speed
    share = speed.bulk[ENGINE] / speed.bulk[ENCODER]
    rest = measured.profile.rest
    targets = []
    for name, asked in ((GPT2, 25), (BERT2BERT, 5)):
        if name in speed.singles:
            times = speed.singles[name] / speed.singles[ENGINE]
            targets.append(Target(f"faster than {name}", f"{asked} times", f"{times:.1f} times", times >= asked))
    ratio = speed.encoder_ratio
    return [
        *targets,
        Target("one question, in bare encoder passes", "at most 1.7", f"{ratio:.2f}", ratio <= 1.7),
        Target("in bulk, share of the bare encoder's rate", "90%", f"{100 * share:.1f}%", share >= 0.9),
        Target("time outside the network", "under 5%", f"{100 * rest:.1f}%", rest < 0.05),
        Target("cold start", "under 1.5 s", f"{speed.cold_s:.2f} s", speed.cold_s < 1.5),
        Target("resident after the first question", "under 400 MB", f"{speed.cold_mb:.0f} MB", speed.cold_mb < 400),
    ]


def describe(measured: Measured, run: str, data: str, model: str, load: float) -> str:
    """Return the section of the results' page; ``run`` is the command, the machine and the day."""
    speed, profile = measured.speed, measured.profile
    mine = speed.singles[ENGINE]
    singles = [(name, f"{1000 * taken:,.1f}", f"{taken / mine:.2f}") for name, taken in speed.singles.items()]
    bulk = [(name, f"{rate:,.1f}") for name, rate in speed.bulk.items()]
    targets = [(one.what, one.asked, one.found, say_met(one.met)) for one in list_targets(measured)]
    parts = [
        f"{run}; {model}, {measured.threads} threads, batch 1, {speed.questions} questions of {data} that have a "
        f"dialogue before them, all passes. Load average when the run began: {load:.2f}.",
        format_table(("one question", "median ms", "times riseq"), singles),
        format_table(("in bulk", "questions a second"), bulk),
        f"A question takes {profile.passes:.2f} encoder passes and {profile.phrasings:.2f} runs of the phrase graph. "
        f"Of its time {100 * profile.encoder:.1f}% goes to the encoder, {100 * profile.phraser:.1f}% to the phrase "
        f"graph and {100 * profile.rest:.1f}% to everything else: tokenising, choosing, editing, writing.",
        "Encoder passes a question are counted, later ones among them, so their number is another than that of the "
        "target below, the median over the questions of each one's time by that of a bare pass over its pieces, and "
        "than the first table's, one median by another.",
        format_table(("target", "asked", "found", ""), targets),
        f"How the time grows with questions, with utterances before one, and what cores add: `{NUMBERS}`, `{PLOT}`.",
        *(f"Not measured: {reason}." for reason in measured.skipped),
    ]
    return "\n\n".join(parts) + "\n"


def draw(measured: Measured) -> str:
    """Return the plot of the three curves as SVG, each with what would be in proportion, where that says something."""
    from riseq.reproduce.figures import load_matplotlib

    figure = load_matplotlib().figure.Figure(figsize=(11, 3.2), layout="constrained")
    curves = (
        (measured.by_questions, "questions at once", "seconds", 1.0),
        (measured.by_turns, "utterances before one question", "milliseconds", 1000.0),
        (measured.by_cores, "cores", "questions a second", 1.0),
    )
    for axes, (curve, label, value, unit) in zip(figure.subplots(1, 3), curves, strict=True):
        steps = list(curve)
        axes.plot(steps, [unit * curve[step] for step in steps], marker="o", label="measured")
        if curve is not measured.by_turns:
            whole = steps[-1] if curve is measured.by_questions else steps[0]
            axes.plot(
                [0, steps[-1]], [0, unit * curve[whole] * steps[-1] / whole], linestyle=":", label="in proportion"
            )
            axes.legend(frameon=False)
        axes.set(xlabel=label, ylabel=value, xlim=(0, None), ylim=(0, None))
    drawn = io.StringIO()
    figure.savefig(drawn, format="svg", metadata={"Date": None})
    return drawn.getvalue()


def write_results(measured: Measured, section: str, circumstances: Mapping[str, object], page: Path = RESULTS) -> None:
    """Put the section into the page, and the numbers and the plot beside it."""
    write_section(TITLE, section, page)
    write_json(page.with_name(NUMBERS), {**measured.to_dict(), **circumstances})
    write_text(page.with_name(PLOT), draw(measured))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="cast19/test.qonly", help="a file, or a set under RISEQ_DATA")
    parser.add_argument("--model", type=Path, help="a model's folder; the one that ships without it")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--limit", type=int, help="take so many questions")
    parser.add_argument("--no-decoders", action="store_true", help="leave out GPT-2 and BERT2BERT, which need torch")
    parser.add_argument("--write", action="store_true", help=f"replace the section of RESULTS.md, {NUMBERS} and {PLOT}")
    asked = parser.parse_args(arguments)
    load = os.getloadavg()[0]
    if load > BUSY:
        print(
            f"the machine is at work already (load average {load:.2f}): every number is worse for it", file=sys.stderr
        )
    examples = load_dataset(asked.data)[: asked.limit]
    engine = load_engine(asked.model, threads=asked.threads)
    decoders, skipped = (
        ({}, [])
        if asked.no_decoders
        else find_decoders(engine, examples, asked.model or find_default_model(), asked.threads)
    )
    measured = measure(engine, examples, asked.threads, decoders, skipped, asked.repeats, asked.model)
    model = "the model that ships" if asked.model is None else asked.model.name
    run = describe_run()
    section = describe(measured, run, "CAsT-19" if asked.data == "cast19/test.qonly" else asked.data, model, load)
    print(section)
    if asked.write:
        circumstances = {"command": run.split("`")[1], "machine": describe_machine(), "day": str(date.today())}
        write_results(measured, section, {**circumstances, "load": load, "model": model})


if __name__ == "__main__":
    main()
