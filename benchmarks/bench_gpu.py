"""Print how many questions a second a checkpoint answers through torch, and its share of the chip's peak.

    python benchmarks/bench_gpu.py MODEL [--data SET] [--batch 8192] [--engines 4 8] [--compare 1000] [--compile]

MODEL is the folder or the name of a checkpoint, or of an exported model, whose weights torch then reads as floats.

On a GPU it runs in bfloat16. The whole engine is timed in one process (tokenising, all passes, writing), and the
network alone: one encoder pass over batches that lie on the device, which is what the share of the peak is of. A share
counts the multiplications and additions of real pieces only. With ``--engines`` so many processes with an engine each
share the device, every one of them asked all questions; with ``--workers`` they do a file together, as one command.
``--compare`` sets the texts of the first questions against those of float32 on the CPU: float32 on the device has to
write the same, bfloat16 is counted. ``--compile`` has torch.compile fuse what follows attention in a layer, which costs
half a minute at the start: with it the network is timed both ways. ``--profile`` ends with what the chip does in a
pass, by kernel. What fails is said; the rest goes on.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import cycle, islice
from multiprocessing.synchronize import Barrier
from operator import ne
from pathlib import Path

import torch

from riseq.data.dataset import load_dataset
from riseq.data.rows import BadRow, result_row
from riseq.data.tables import read_outcomes, write_rows
from riseq.engine.backends.pytorch import Precision, TorchBackend
from riseq.engine.confidence import read_calibration
from riseq.engine.drafts import gather, split_batches, start
from riseq.engine.phrasing import Phrasing
from riseq.engine.simplifier import Simplifier
from riseq.hub import find_model
from riseq.model.checkpoint import load_trained
from riseq.model.network import pick_device
from riseq.model.transformer import BackboneConfig
from riseq.reproduce.facts import describe_machine
from riseq.systems.registry import SystemChoice
from riseq.systems.workers import PART, Workers
from riseq.types import Device, Example

H200_PEAK = 989e12
"""Dense bfloat16 operations a second, by its data sheet."""
Found = dict[str, float]
REPEATED = 4
"""How often a file has all questions: several processes are soon through with them."""
PATIENCE = 180.0
"""Seconds that engines wait for each other: a process that died would be waited for without end."""


def count_operations(shape: BackboneConfig, lengths: Sequence[int]) -> int:
    """Return the multiplications and additions of one encoder pass over rows of ``lengths`` pieces."""
    matrices = 4 * shape.hidden**2 + 2 * shape.hidden * shape.intermediate
    per_piece = 2 * shape.layers * matrices
    # Scores and weighted values: each piece with each, once by keys and once by values.
    attention = sum(2 * 2 * shape.layers * shape.hidden * length**2 for length in lengths)
    return per_piece * sum(lengths) + attention


def measure(action: Callable[[], object], device: torch.device, repeats: int) -> float:
    """Return the seconds of the fastest of ``repeats`` runs, after one that is not counted."""
    seconds = []
    for _ in range(repeats + 1):
        began = time.perf_counter()
        action()
        if device.type == "cuda":
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - began)
    return min(seconds[1:])


def open_engine(
    folder: Path, device: torch.device, precision: Precision | None = None, compiled: bool = False
) -> tuple[Simplifier, TorchBackend]:
    """Return the engine of a checkpoint, as ``Simplifier.load`` makes it, and the backend it runs on."""
    checkpoint = load_trained(folder)
    network = checkpoint.network
    backend = TorchBackend(network, device, precision, compiled)
    phrasing = Phrasing(checkpoint.phrases, network.config.copies, checkpoint.templates)
    fitted, window = read_calibration(folder), Simplifier.read_window(checkpoint.facts)
    return Simplifier(backend, checkpoint.pieces, phrasing, calibration=fitted, window=window), backend


def pick_questions(examples: Sequence[Example], count: int) -> list[Example]:
    """Return ``count`` examples that have a dialogue, again and again where there are fewer."""
    return list(islice(cycle([example for example in examples if example.context]), count))


def bench_together(folder: Path, asked: Sequence[Example], device: torch.device, engines: int, compiled: bool) -> float:
    """Return the questions a second of ``engines`` processes on one device, each asked all of ``asked``."""
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(engines + 1)
    given = folder, asked, device, barrier, compiled
    # Daemons: one that waits for another that died does not keep the program.
    processes = [context.Process(target=_answer, args=given, daemon=True) for _ in range(engines)]
    for process in processes:
        process.start()
    barrier.wait(PATIENCE)
    began = time.perf_counter()
    barrier.wait(PATIENCE)
    taken = time.perf_counter() - began
    for process in processes:
        process.join()
    return engines * len(asked) / taken


def bench_file(folder: Path, asked: list[Example], device: torch.device, workers: int) -> float:
    """Return the rows a second of a file through what ``riseq simplify --workers`` does, once its engines are warm."""
    kind: Device = "cuda" if device.type == "cuda" else "cpu"
    choice = SystemChoice("rise", folder, device=kind, workers=workers)
    system = choice.load()
    assert isinstance(system, Workers)
    with tempfile.TemporaryDirectory() as place:
        source, target = Path(place, "in.jsonl"), Path(place, "out.jsonl")
        rows = [{"id": one.id, "context": list(one.context), "question": one.question} for one in asked]
        write_rows(source, rows * REPEATED)
        try:
            for _ in system.simplify(asked * (1 + workers * PART // len(asked))):  # every engine is made, and warm
                pass
            began = time.perf_counter()
            results = system.simplify_rows(read_outcomes(source), source.name)
            written = write_rows(target, (result_row(*one) for one in results if not isinstance(one, BadRow)))
            return written / (time.perf_counter() - began)
        finally:
            system.close()


def _answer(folder: Path, asked: Sequence[Example], device: torch.device, barrier: Barrier, compiled: bool) -> None:
    torch.set_num_threads(1)
    engine, _ = open_engine(folder, device, compiled=compiled)
    list(engine.batch(asked))
    barrier.wait(PATIENCE)
    list(engine.batch(asked))
    barrier.wait(PATIENCE)


def bench_network(engine: Simplifier, backend: TorchBackend, asked: Sequence[Example], repeats: int) -> Found:
    """Return questions and operations a second of one encoder pass over batches that lie on the device."""
    said = (engine.pieces, backend.max_pieces)
    drafts = [start(one.question, one.context, *said, window=engine.window) for one in asked]
    sent = [backend.send(gather(batch, engine.pieces)) for batch in split_batches(drafts, backend.batch_pieces)]

    def read_all() -> None:
        with torch.inference_mode():
            for rows, firsts_BW in sent:
                backend.score_edits(rows, backend.encode(rows), firsts_BW)

    def encode_all() -> None:
        with torch.inference_mode():
            for rows, _ in sent:
                backend.encode(rows)

    taken, encoder = (measure(action, backend.device, repeats) for action in (read_all, encode_all))
    operations = count_operations(backend.network.config.backbone, [draft.length for draft in drafts])
    return {
        "pieces a question": sum(draft.length for draft in drafts) / len(drafts),
        "one pass with edit scores, questions a second": len(asked) / taken,
        "one encoder pass, questions a second": len(asked) / encoder,
        "one encoder pass, TFLOP/s": operations / encoder / 1e12,
        "share of H200's bf16 peak, %": 100 * operations / encoder / H200_PEAK,
    }


def compare_texts(folder: Path, asked: Sequence[Example], device: torch.device) -> Found:
    """Return how many texts differ from those of float32 on the CPU, in each precision of the device."""
    ways: dict[str, tuple[torch.device, Precision]] = {
        "CPU": (torch.device("cpu"), "float32"),
        "float32": (device, "float32"),
        "bfloat16": (device, "bfloat16"),
    }
    texts = {}
    for name, (where, precision) in ways.items():
        engine, _ = open_engine(folder, where, precision)
        texts[name] = [result.text for result in engine.batch(asked)]
    return {
        f"texts of {len(asked)} that differ from the CPU's, {name}": float(sum(map(ne, texts[name], texts["CPU"])))
        for name in ("float32", "bfloat16")
    }


def bench(wanted: argparse.Namespace, asked: list[Example], device: torch.device) -> Iterator[tuple[str, float]]:
    """Yield each measure by its name, as soon as it is known."""
    engine, backend = open_engine(wanted.checkpoint, device)
    yield "questions", float(len(asked))
    yield from attempt("network", lambda: bench_network(engine, backend, asked, wanted.repeats))
    rate = measure_engine(engine, backend, asked, wanted.repeats)
    yield "1 engine, questions a second", rate
    if wanted.compile:
        compiled = open_engine(wanted.checkpoint, device, compiled=True)

        def bench_compiled() -> Found:
            found = bench_network(*compiled, asked, wanted.repeats)
            found["1 engine, questions a second"] = measure_engine(*compiled, asked, wanted.repeats)
            return {f"compiled: {name}": value for name, value in found.items()}

        yield from attempt("compiled", bench_compiled)
    for engines in wanted.engines:
        name = f"{engines} engines, questions a second"
        share = partial(bench_together, wanted.checkpoint, asked, device, engines, False)
        yield from attempt(name, lambda name=name, share=share: {name: share()})  # type: ignore[misc]
    for workers in wanted.workers:
        name = f"a file by {workers} workers, rows a second"
        run = partial(bench_file, wanted.checkpoint, asked, device, workers)
        yield from attempt(name, lambda name=name, run=run: {name: run()})  # type: ignore[misc]
    if wanted.compare:
        yield from attempt("texts", lambda: compare_texts(wanted.checkpoint, asked[: wanted.compare], device))
    if wanted.profile:
        print(profile_pass(engine, backend, asked[: wanted.profile]), flush=True)


def measure_engine(engine: Simplifier, backend: TorchBackend, asked: Sequence[Example], repeats: int) -> float:
    """Return the questions a second of a whole engine."""
    return len(asked) / measure(lambda: list(engine.batch(asked)), backend.device, max(1, repeats // 3))


def profile_pass(engine: Simplifier, backend: TorchBackend, asked: Sequence[Example]) -> str:
    """Return a table of what one encoder pass of the network and one run of the engine spend, by kernel."""
    from torch.profiler import ProfilerActivity, profile

    order = "self_cuda_time_total" if backend.device.type == "cuda" else "self_cpu_time_total"
    parts: dict[str, Callable[[], object]] = {
        "network": lambda: bench_network(engine, backend, asked, 1),
        "engine": lambda: list(engine.batch(asked)),
    }
    tables = []
    for name, action in parts.items():
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as told:
            action()
        table = told.key_averages().table(sort_by=order, row_limit=18, max_name_column_width=70)
        tables.append(f"{name}\n{table}")
    return "\n".join(tables)


def attempt(name: str, action: Callable[[], Found]) -> Iterator[tuple[str, float]]:
    """Yield what ``action`` measures; of one that fails, NaN by its ``name`` and the reason."""
    try:
        yield from action().items()
    except Exception as error:
        print(f"{name}: {type(error).__name__}: {str(error)[:500]}", flush=True)
        yield name, float("nan")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("checkpoint", type=find_model, metavar="MODEL")
    parser.add_argument("--data", default="cast19/test.qonly", help="a file, or a set under RISEQ_DATA")
    parser.add_argument("--batch", type=int, default=8_192, help="how many questions are asked")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--engines", type=int, nargs="*", default=[4, 8], help="how many processes share the device")
    parser.add_argument("--workers", type=int, nargs="*", default=[], help="how many processes do a file together")
    parser.add_argument("--compare", type=int, default=1_000, help="how many texts are set against the CPU's")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--profile", type=int, default=0, help="how many questions are answered under the profiler")
    parser.add_argument("--device", default="auto")
    wanted = parser.parse_args(arguments)
    device = pick_device(wanted.device)
    asked = pick_questions(load_dataset(wanted.data), wanted.batch)
    print(f"{describe_machine()}, torch {torch.__version__}, {device}", flush=True)
    for name, value in bench(wanted, asked, device):
        print(f"{name:60} {value:12,.2f}", flush=True)


if __name__ == "__main__":
    main()
