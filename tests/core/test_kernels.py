"""What the compiled module asks of its surroundings: a cache on disk, and nobody else to import numba."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CALL = """
import numpy as np
from riseq.core import batch
from riseq.core import kernels as compiled
from riseq.core.packed import pack
batch.index_phrases(pack([[1], [2, 3]]))
print(sum(compiled.hashes.stats.cache_hits.values()), sum(compiled.hashes.stats.cache_misses.values()))
"""

PLAIN = """
import sys
import riseq.core.edits, riseq.core.levenshtein, riseq.core.packed, riseq.core.phrases
import riseq.core.reward, riseq.core.sampler
print("numba" in sys.modules)
"""

WITHOUT = """
import sys
sys.modules["numba"] = None
import riseq.core.batch
"""


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )


def test_a_kernel_is_compiled_once_and_then_read_from_disk(tmp_path: Path) -> None:
    first, second = (run(CALL, NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(2))
    assert first.stdout.split() == ["0", "1"], first.stderr
    assert second.stdout.split() == ["1", "0"], second.stderr


def test_the_plain_core_does_not_load_numba() -> None:
    result = run(PLAIN)
    assert result.stdout.strip() == "False", result.stderr


def test_a_missing_numba_names_the_extra() -> None:
    result = run(WITHOUT)
    assert result.returncode == 1
    assert "the batch core needs the package 'numba'; install it with: pip install '.[train]'" in result.stderr
