"""States a second of RISE's training on one device, each way of running the network in turn, in one process.

    python benchmarks/bench_training.py RECIPE [--set name=value ...] [--steps 60] [--ways eager graphs]

A way's first steps, which capture, are not timed but told. Utilisation is nvidia-smi's over the others.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import json
import subprocess
import threading
import time
from shutil import which

import torch

from riseq.train.optimiser import build_optimiser
from riseq.train.processes import Processes, prefetch
from riseq.train.rise import RiseTask
from riseq.train.settings import RiseSettings, parse_override, read_recipe
from riseq.train.step import Parts
from riseq.train.task import Stream, make_rng

WAYS = {"eager": {"graphs": False}, "graphs": {"graphs": True}}


def watch(found: list[float], stop: threading.Event) -> None:
    """Add nvidia-smi's utilisation of the GPU every half second."""
    command = ["nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits"]
    while not stop.wait(0.5):
        told = (
            subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()
            if which("nvidia-smi")
            else []
        )
        found.extend(map(float, told[:1]))


def measure(settings: RiseSettings, steps: int, warm: int, profiled: int = 0) -> dict[str, object]:
    """Return the rate of ``steps`` steps after ``warm`` others; print what the time of ``profiled`` more goes into."""
    task = RiseTask(settings, Processes())
    optimiser = build_optimiser(task.network, task.peak_rate, settings.weight_decay)
    began = time.perf_counter()
    with task.running():
        _, batches = task.start_epoch(settings.likelihood_epochs, make_rng(settings.seed, Stream.EPOCH, 0))
        task.network.train()
        used: list[float] = []
        stop = threading.Event()
        states = pieces = 0

        def step(batch: Parts) -> None:
            task.learn(batch)
            torch.nn.utils.clip_grad_norm_(task.network.parameters(), settings.clip, foreach=True)
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)

        ahead = prefetch(batches)
        for batch in itertools.islice(ahead, warm):
            step(batch)
        sync(task.device)
        ready, start = time.perf_counter() - began, time.perf_counter()
        threading.Thread(target=watch, args=(used, stop), daemon=True).start()
        done = 0
        for batch in itertools.islice(ahead, steps):
            step(batch)
            done += 1
            states += batch[1]
            pieces += sum(int(part.batch.lengths_B.sum()) for part in batch[0])
        sync(task.device)
        seconds = time.perf_counter() - start
        stop.set()
        if profiled:
            kinds = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
            with torch.profiler.profile(activities=kinds) as told:
                for batch in itertools.islice(ahead, profiled):
                    step(batch)
                sync(task.device)
            for order in ("self_cpu_time_total", "self_cuda_time_total"):
                print(told.key_averages().table(sort_by=order, row_limit=25, max_name_column_width=60))
    captured = sorted(itertools.chain.from_iterable(graphs.captured for graphs in task.graphs))
    return {
        "states_per_s": round(states / seconds),
        "pieces_a_state": round(pieces / states, 1),
        "ms_a_step": round(1e3 * seconds / done, 1),
        "first_steps_s": round(ready, 1),
        "gpu_percent": round(sum(used) / len(used)) if used else None,
        "captured": captured,
    }


def sync(device: torch.device) -> None:
    """Wait for the device."""
    if device.type == "cuda":
        torch.cuda.synchronize()


def main() -> None:
    """Print a line of JSON for each way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe")
    parser.add_argument("--set", action="append", default=[], dest="changes")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--warm", type=int, default=20)
    parser.add_argument("--profile", type=int, default=0, help="steps whose time is told by operation")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    args = parser.parse_args()
    for way in args.ways:
        settings = read_recipe(args.recipe, dict(map(parse_override, args.changes)) | WAYS[way])
        assert isinstance(settings, RiseSettings)
        print(json.dumps({"way": way} | measure(settings, args.steps, args.warm, args.profile)), flush=True)
        gc.collect()


if __name__ == "__main__":
    main()
