"""A Ray cluster of several processes, for as long as the tests that ask for it."""

from __future__ import annotations

import secrets
import subprocess
import sys
from collections.abc import Iterator

import pytest

WORKERS = 2
# Its GPU is Ray's word alone: workers are placed by it, and run on the CPU where there is none.
# The cluster lasts as long as the process that started it, which waits for the end of its input.
HOLD = f"""
import sys, ray
ray.init(address="local", num_cpus={WORKERS}, num_gpus=1, include_dashboard=False, object_store_memory=100 << 20)
print(ray.get_runtime_context().gcs_address, flush=True)
sys.stdin.read()
ray.shutdown()
"""


@pytest.fixture(scope="session")
def cluster() -> Iterator[str]:
    """The address of a Ray cluster on this machine: its processes are below this one."""
    with pytest.MonkeyPatch.context() as patch:
        # A secret of its own: nothing is written to the user's home, and nobody else on the machine gets in. Ray reads
        # it when it is imported.
        patch.setenv("RAY_AUTH_MODE", "token")
        patch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        pytest.importorskip("ray", reason="Ray is not installed: pip install '.[scale]'")
        with subprocess.Popen(
            [sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as holder:
            assert holder.stdin is not None
            assert holder.stdout is not None
            address = holder.stdout.readline().strip()
            assert address, "no cluster"
            yield address
            holder.stdin.close()
            holder.wait(60)
