"""States a second of RISE's training on one device, each way of running the network in turn, in one process.

    python benchmarks/bench_training.py RECIPE [--set name=value ...] [--steps 60] [--ways graphs half whole]
    python benchmarks/bench_training.py RECIPE [--set name=value ...] --starts 10 --beside 2 [--steps 30]

Each way is timed in an epoch of likelihood and in one that goes by the policy's own draws, whichever the recipe has:
in this order, for a policy that has learnt nothing draws edits without number. A phase's first steps, which capture,
are not timed but told. Utilisation is nvidia-smi's over the others. A way that fails is told with its error, and the
others go on. ``--random`` begins with random weights of gte-small's shape in place of the recipe's backbone: speed is
the same. With ``--starts`` so many short runs of the last way begin, ``--beside`` at a time in processes of their own,
to see that captures bear company: a line each tells how it ended.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from shutil import which
from typing import Any

import torch

from riseq.train.optimiser import Average, build_optimiser, set_rates
from riseq.train.processes import Processes, prefetch
from riseq.train.rise import RiseTask
from riseq.train.settings import RiseSettings, parse_override, read_recipe
from riseq.train.step import Parts
from riseq.train.task import Stream, make_rng

WAYS: Mapping[str, Mapping[str, Any]] = {
    "eager": {"graphs": False, "graphed_decoder": False, "half": False},
    "graphs": {"graphs": True, "graphed_decoder": False, "half": False},
    "half": {"graphs": True, "graphed_decoder": False, "half": True},
    "decoder": {"graphs": True, "graphed_decoder": True, "half": False},
    "whole": {"graphs": True, "graphed_decoder": True, "half": True},
}
WARMUP = 50
"""Steps of rising rates: a recipe's own take longer, and here a policy is to learn in few what it mostly keeps."""
PATIENCE = 240
"""Seconds that one start of many may take."""


def watch(found: list[float], stop: threading.Event) -> None:
    """Add nvidia-smi's utilisation of the GPU every quarter second."""
    command = ["nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits"]
    while which("nvidia-smi") and not stop.wait(0.25):
        told = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()
        found.extend(map(float, told[:1]))


def list_phases(settings: RiseSettings) -> dict[str, int]:
    """Return an epoch of each kind that a recipe has."""
    found = {"likelihood": 0} if settings.likelihood_epochs or settings.method == "mle" else {}
    return found if settings.likelihood_epochs >= settings.epochs else found | {"draws": settings.likelihood_epochs}


class Bench:
    """A task with its optimiser, as the training loop has them."""

    def __init__(self, settings: RiseSettings) -> None:
        self.settings, self.task = settings, RiseTask(settings, Processes())
        self.optimiser = build_optimiser(self.task.network, self.task.peak_rate, settings.weight_decay)
        self.average = Average(self.task.network, settings.ema) if settings.ema else None
        self.steps = 0

    def step(self, batch: Parts) -> None:
        """Take a step as the training loop does."""
        self.steps += 1
        set_rates(self.optimiser, min(1.0, self.steps / WARMUP))
        self.task.learn(batch)
        torch.nn.utils.clip_grad_norm_(self.task.network.parameters(), self.settings.clip, foreach=True)
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        if self.average is not None:
            self.average.update()

    def measure(self, epoch: int, steps: int, warm: int, profiled: int = 0) -> dict[str, Any]:
        """Return the rate of ``steps`` steps after ``warm`` others; print where the time of ``profiled`` more goes."""
        task, began = self.task, time.perf_counter()
        with task.running():
            _, batches = task.start_epoch(epoch, make_rng(self.settings.seed, Stream.EPOCH, epoch))
            task.network.train()
            ahead = prefetch(batches)
            for batch in itertools.islice(ahead, warm):
                self.step(batch)
            sync(task.device)
            ready, start = time.perf_counter() - began, time.perf_counter()
            used: list[float] = []
            stop = threading.Event()
            threading.Thread(target=watch, args=(used, stop), daemon=True).start()
            done = states = pieces = 0
            sampled = task.log.sampling_s
            for batch in itertools.islice(ahead, steps):
                self.step(batch)
                done += 1
                states += batch[1]
                pieces += sum(int(part.batch.lengths_B.sum()) for part in batch[0])
            sync(task.device)
            seconds = time.perf_counter() - start
            stop.set()
            sampled = task.log.sampling_s - sampled
            losses = torch.stack(task.log.losses[-done:]).sum().item() if done else 0.0
            if profiled:
                self._profile(ahead, profiled)
        captured = [sorted(graphs.captured) for graphs in task.graphs[:1]]
        return {
            "states_per_s": round(states / seconds),
            "pieces_a_state": round(pieces / max(1, states), 1),
            "ms_a_step": round(1e3 * seconds / max(1, done), 1),
            "sampling_ms": round(1e3 * sampled / max(1, done), 1),
            "loss_a_state": round(losses / max(1, states), 3),
            "steps": done,
            "first_steps_s": round(ready, 1),
            "gpu_percent": round(sum(used) / len(used)) if used else None,
            "captured": captured[0] if captured else [],
            "captured_decoders": sum(len(decoder.captured) for decoder in task.decoders),
        }

    def _profile(self, ahead: Any, count: int) -> None:
        kinds = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
        with torch.profiler.profile(activities=kinds) as told:
            for batch in itertools.islice(ahead, count):
                self.step(batch)
            sync(self.task.device)
        for order in ("self_cpu_time_total", "self_cuda_time_total"):
            print(told.key_averages().table(sort_by=order, row_limit=25, max_name_column_width=60))


def sync(device: torch.device) -> None:
    """Wait for the device."""
    if device.type == "cuda":
        torch.cuda.synchronize()


def write_random_backbone(folder: Path, vocabulary: Path) -> Path:
    """Write an encoder of gte-small's shape with random weights, which reads the pieces in the file ``vocabulary``."""
    from safetensors.torch import save_file
    from transformers import BertConfig, BertModel

    pieces = {piece: number for number, piece in enumerate(vocabulary.read_text(encoding="utf-8").splitlines())}
    shape = {"hidden_size": 384, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 1536}
    torch.manual_seed(0)
    model = BertModel(BertConfig(vocab_size=len(pieces), **shape), add_pooling_layer=False)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(model.config.to_dict()), encoding="utf-8")
    save_file({name: value.contiguous() for name, value in model.state_dict().items()}, folder / "model.safetensors")
    tokenizer = {"model": {"type": "WordPiece", "vocab": pieces}, "normalizer": {"lowercase": True}}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    return folder


def run_way(way: str, wanted: argparse.Namespace, changes: Mapping[str, Any]) -> bool:
    """Print what a way does in each phase, as JSON; return whether it did."""
    try:
        settings = read_recipe(wanted.recipe, {**changes, **WAYS[way]})
        assert isinstance(settings, RiseSettings)
        bench = Bench(settings)
        for phase, epoch in list_phases(settings).items():
            if phase in wanted.phases:
                found = bench.measure(epoch, wanted.steps, wanted.warm, wanted.profile)
                print(json.dumps({"way": way, "phase": phase} | found), flush=True)
    except Exception as error:
        print(json.dumps({"way": way, "error": f"{type(error).__name__}: {error}"[:500]}), flush=True)
        return False
    finally:
        gc.collect()
    return True


def start_many(wanted: argparse.Namespace, changes: Sequence[str]) -> int:
    """Print how each of some short runs beside each other ended; return how many failed."""
    command = [sys.executable, __file__, wanted.recipe, *(part for one in changes for part in ("--set", one))]
    command += ["--ways", wanted.ways[-1], "--steps", str(wanted.steps), "--warm", "5", "--phases", "likelihood"]

    def start(number: int) -> int:
        began = time.perf_counter()
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
            code, said, warned = done.returncode, done.stdout.strip(), done.stderr.count("uncaptured")
            last = said.splitlines()[-1] if said else done.stderr.strip().splitlines()[-1:]
        except subprocess.TimeoutExpired:
            code, last, warned = -1, "took too long", 0
        seconds = time.perf_counter() - began
        print(f"start {number}: rc {code}, {seconds:.0f} s, {warned} uncaptured; {last}", flush=True)
        return int(code != 0 or warned > 0)

    with ThreadPoolExecutor(wanted.beside) as pool:
        failed = sum(pool.map(start, range(1, wanted.starts + 1)))
    print(f"{wanted.starts - failed} of {wanted.starts} starts went well, {wanted.beside} at a time", flush=True)
    return failed


def main() -> None:
    """Print a line of JSON for each way and phase."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe")
    parser.add_argument("--set", action="append", default=[], dest="changes")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--warm", type=int, default=40)
    parser.add_argument("--profile", type=int, default=0, help="steps whose time is told by operation")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=["graphs", "half", "whole"])
    parser.add_argument("--phases", nargs="+", choices=["likelihood", "draws"], default=["likelihood", "draws"])
    parser.add_argument("--random", metavar="VOCAB", type=Path, help="a random backbone with the pieces of a vocab.txt")
    parser.add_argument("--starts", type=int, default=0, help="how many short runs begin")
    parser.add_argument("--beside", type=int, default=2, help="how many of them at a time")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        changes = list(wanted.changes)
        if wanted.random:
            changes.append(f"backbone={write_random_backbone(Path(folder, 'backbone'), wanted.random)}")
        if wanted.starts:
            failed = start_many(wanted, changes)
        else:
            run = partial(run_way, wanted=wanted, changes=dict(map(parse_override, changes)))
            failed = len(wanted.ways) - sum([run(way) for way in wanted.ways])
    if failed:
        sys.exit(1)


if __name__ == "__main__":
    main()
