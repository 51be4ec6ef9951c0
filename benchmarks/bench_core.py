"""Measure the compiled core against the plain-Python oracle on real CANARD training pairs.

    python benchmarks/bench_core.py [--write]

Every rate is the best of several rounds after compilation, in pairs a second; the samplers include drawing the
seeds and making the result arrays. The oracle runs on pairs taken evenly from the same 20,000.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import islice

import numba
import numpy as np
from numpy.typing import NDArray

from results import ROOT, describe_run, find_data, format_table, say_met, write_section
from riseq.core import batch
from riseq.core.edits import MARKER
from riseq.core.packed import Interner, Packed
from riseq.core.sampler import Method
from riseq.text.words import forms

sys.path.insert(0, str(ROOT / "tests" / "core"))

import oracle

PAIRS = 20_000
ORACLE_PAIRS = 300
ROUNDS = 20
TARGET_RATIO = 200
TARGET_RATE = 100_000


def read_pairs(count: int) -> tuple[list[list[str]], list[list[str]]]:
    file = find_data() / "canard" / "train.all.jsonl.gz"
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in islice(lines, count)]
    return [[MARKER, *forms(row["question"])] for row in rows], [[MARKER, *forms(row["target"])] for row in rows]


def make_policies(sources: Packed, seed: int) -> NDArray[np.float32]:
    scores = np.random.default_rng(seed).normal(scale=1.5, size=(len(sources.values), 4))
    return (scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)).astype(np.float32)


def time_call(action: Callable[[], object]) -> float:
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def measure_rates(slow: Callable[[], object], quick: Callable[[], object], threads: int) -> tuple[float, float, float]:
    """Return pairs a second of the oracle, of the compiled work on one thread and on several.

    Each is the quickest of its rounds, for the others waited for somebody else's work; the three take turns, so that a
    busy minute does not fall on one of them alone.
    """
    quick()
    best = [np.inf, np.inf, np.inf]
    for _ in range(ROUNDS):
        best[0] = min(best[0], time_call(slow))
        for index, count in ((1, 1), (2, threads)):
            numba.set_num_threads(count)
            best[index] = min(best[index], *(time_call(quick) for _ in range(3)))
    return ORACLE_PAIRS / best[0], PAIRS / best[1], PAIRS / best[2]


def measure_compilation() -> tuple[float, float]:
    """Return the seconds the first calls take in a new process with an empty cache, and in the next one."""
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, __file__, "--first-calls"]
        runs = [
            subprocess.run(
                command, env={**os.environ, "NUMBA_CACHE_DIR": cache}, capture_output=True, text=True, check=True
            )
            for _ in range(2)
        ]
    return float(runs[0].stdout), float(runs[1].stdout)


def time_first_calls() -> float:
    pair = Interner().pack([[MARKER, "a"]])
    policy = make_policies(pair, 0)
    begin = time.perf_counter()
    batch.sample_seeded(pair, pair, policy, np.zeros(1, dtype=np.uint64))
    batch.distances(pair, pair)
    return time.perf_counter() - begin


def measure() -> list[str]:
    source_words, target_words = read_pairs(PAIRS)
    interner = Interner()
    sources, targets = interner.pack(source_words), interner.pack(target_words)
    policies = make_policies(sources, seed=1)
    seeds = np.random.default_rng(2).integers(0, 2**64, size=PAIRS, dtype=np.uint64)

    chosen = range(0, PAIRS, PAIRS // ORACLE_PAIRS)[:ORACLE_PAIRS]
    few_sources, few_targets = [source_words[k] for k in chosen], [target_words[k] for k in chosen]
    few_policies = [policies[sources.offsets[k] : sources.offsets[k + 1]].tolist() for k in chosen]
    few_seeds = [int(seeds[k]) for k in chosen]

    def sample_slowly(method: Method) -> Callable[[], object]:
        return lambda: oracle.sample(few_sources, few_targets, few_policies, few_seeds, method)

    def sample_quickly(method: Method) -> Callable[[], object]:
        return lambda: batch.sample_seeded(sources, targets, policies, seeds, method)

    few_numbers = [sources[k].tolist() for k in chosen], [targets[k].tolist() for k in chosen]
    works: list[tuple[str, Callable[[], object], Callable[[], object]]] = [
        ("sample, DPS", sample_slowly("dps"), sample_quickly("dps")),
        ("sample, posterior", sample_slowly("posterior"), sample_quickly("posterior")),
        ("Levenshtein", lambda: oracle.distances(*few_numbers), lambda: batch.distances(sources, targets)),
    ]
    cold, cached = measure_compilation()
    threads = min(2, numba.config.NUMBA_NUM_THREADS)
    mean_lengths = f"{sources.lengths.mean() - 1:.1f} and {targets.lengths.mean() - 1:.1f} words a source and target"
    lines = [
        f"{PAIRS:,} CANARD training pairs ({mean_lengths}), pairs a second; the oracle on {ORACLE_PAIRS} of them.",
        f"Compiling DPS, posterior and Levenshtein: {cold:.1f} s with an empty cache, {cached:.2f} s from the cache; "
        "not part of the rates.",
        "",
    ]
    titles = ("", "oracle, 1 core", "compiled, 1 thread", "times the oracle", f"compiled, {threads} threads")
    rows, met = [], []
    for name, slow, quick in works:
        slow_rate, one, many = measure_rates(slow, quick, threads)
        figures = (slow_rate, one, one / slow_rate, many, many / threads / slow_rate)
        rows.append((name, *(f"{figure:,.0f}" for figure in figures)))
        met.append(min(one, many / threads) >= TARGET_RATIO * slow_rate and many >= TARGET_RATE)
    lines += [format_table((*titles, "times the oracle per core"), rows), ""]
    lines += [
        f"Target, {TARGET_RATIO} times the oracle per core and {TARGET_RATE:,} pairs a second: {say_met(all(met))}."
    ]
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the compiled core against the plain-Python oracle.")
    parser.add_argument("--write", action="store_true", help="put the result into benchmarks/RESULTS.md")
    parser.add_argument("--first-calls", action="store_true", help="print the seconds the first calls take, and stop")
    arguments = parser.parse_args()
    if arguments.first_calls:
        print(time_first_calls())
        return
    lines = measure()
    print("\n".join(lines))
    if arguments.write:
        write_section("Core", "\n".join([f"{describe_run()}.", "", *lines]))


if __name__ == "__main__":
    main()
