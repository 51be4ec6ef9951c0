"""Print how many questions a second a checkpoint answers through torch, and its share of the chip's peak.

Run it from the repository's root: ``python benchmarks/bench_gpu.py CHECKPOINT [--data SET] [--batch 4096]
[--engines N]``. On a GPU it runs in bfloat16. The whole engine is timed (tokenising, all passes, writing), and the
network alone: one encoder pass over a batch that lies on the device, which is what the share of the peak is of. A share
counts the multiplications and additions of real pieces only; padding is work, but no use. With ``--engines`` so many
processes with an engine each also share the device, every one of them asked all questions.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections.abc import Callable, Sequence
from itertools import cycle, islice
from multiprocessing.synchronize import Barrier
from pathlib import Path

import torch

from riseq.data.dataset import load_dataset
from riseq.engine.backends.pytorch import TorchBackend
from riseq.engine.drafts import Draft, gather, start
from riseq.engine.simplifier import Simplifier
from riseq.model.checkpoint import load_checkpoint
from riseq.model.network import Inputs, pick_device
from riseq.model.transformer import BackboneConfig
from riseq.reproduce.facts import describe_machine
from riseq.types import Example

H200_PEAK = 989e12
"""Dense bfloat16 operations a second, by its data sheet."""
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


def open_engine(folder: Path, device: torch.device) -> tuple[Simplifier, TorchBackend]:
    """Return the engine of a checkpoint, and the backend it runs on."""
    checkpoint = load_checkpoint(folder)
    backend = TorchBackend(checkpoint.network, device)
    return Simplifier(backend, checkpoint.pieces, checkpoint.phrases), backend


def pick_questions(examples: Sequence[Example], count: int) -> list[Example]:
    """Return ``count`` examples that have a dialogue, again and again where there are fewer."""
    return list(islice(cycle([example for example in examples if example.context]), count))


def bench_together(folder: Path, asked: Sequence[Example], device: torch.device, engines: int) -> float:
    """Return the questions a second of ``engines`` processes on one device, each asked all of ``asked``."""
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(engines + 1)
    processes = [context.Process(target=_answer, args=(folder, asked, device, barrier)) for _ in range(engines)]
    for process in processes:
        process.start()
    barrier.wait(PATIENCE)
    began = time.perf_counter()
    barrier.wait(PATIENCE)
    taken = time.perf_counter() - began
    for process in processes:
        process.join()
    return engines * len(asked) / taken


def _answer(folder: Path, asked: Sequence[Example], device: torch.device, barrier: Barrier) -> None:
    torch.set_num_threads(1)
    engine, _ = open_engine(folder, device)
    list(engine.batch(asked))
    barrier.wait(PATIENCE)
    list(engine.batch(asked))
    barrier.wait(PATIENCE)


def bench(
    folder: Path, asked: Sequence[Example], device: torch.device, repeats: int, engines: int = 0
) -> dict[str, float]:
    """Return questions a second of engine and network, and the network's operations a second."""
    engine, backend = open_engine(folder, device)
    batch = len(asked)
    drafts = [start(one.question, one.context, engine.pieces, backend.max_pieces) for one in asked]
    drafts.sort(key=lambda draft: draft.length)
    sent = [_send(backend, drafts[first : first + 512], engine) for first in range(0, len(drafts), 512)]

    def read_all() -> None:
        with torch.inference_mode(), backend.autocast():
            for inputs in sent:
                backend.network.score_edits(backend.network.encode(inputs), inputs.firsts_BW)

    of_network = measure(read_all, device, repeats)
    of_engine = measure(lambda: list(engine.batch(asked)), device, max(1, repeats // 3))
    operations = count_operations(backend.network.config.backbone, [draft.length for draft in drafts])
    pieces = sum(draft.length for draft in drafts)
    found = {
        "questions": batch,
        "pieces a question": pieces / batch,
        "engine, questions a second": batch / of_engine,
        "one encoder pass, questions a second": batch / of_network,
        "one encoder pass, TFLOP/s": operations / of_network / 1e12,
        "share of H200's bf16 peak, %": 100 * operations / of_network / H200_PEAK,
        "engine's share of it, one pass counted, %": 100 * operations / of_engine / H200_PEAK,
    }
    if engines:
        rate = bench_together(folder, asked, device, engines)
        found[f"{engines} engines at once, questions a second"] = rate
        found["their share of it, one pass counted, %"] = 100 * operations * rate / batch / H200_PEAK
    return found


def _send(backend: TorchBackend, drafts: Sequence[Draft], engine: Simplifier) -> Inputs:
    batch = gather(drafts, engine.pieces)
    arrays = (batch.ids_BL, batch.types_BL, batch.mask_BL, batch.firsts_BW[:, :-1], batch.condition_B)
    return Inputs(*(backend.put(array) for array in arrays))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Measure a checkpoint through torch.")
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--data", default="cast19/test.qonly", help="a file, or a set under RISEQ_DATA")
    parser.add_argument("--batch", type=int, default=4096)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--engines", type=int, default=0, help="how many processes share the device as well")
    parser.add_argument("--device", default="auto")
    wanted = parser.parse_args(arguments)
    device = pick_device(wanted.device)
    asked = pick_questions(load_dataset(wanted.data), wanted.batch)
    found = bench(wanted.checkpoint, asked, device, wanted.repeats, wanted.engines)
    print(f"{describe_machine()}, torch {torch.__version__}, {'bfloat16' if device.type == 'cuda' else 'float32'}")
    for name, value in found.items():
        print(f"{name:45} {value:12,.2f}")


if __name__ == "__main__":
    main()
