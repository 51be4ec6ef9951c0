"""The machine that something was measured on, in words."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path


def describe_machine(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """Return the processor with the cores this process may use, and the GPU where torch is loaded and sees one."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    described = f"{cores} {'core' if cores == 1 else 'cores'} of {_find_processor(cpuinfo)}"
    torch = sys.modules.get("torch")  # a description is no reason to load it
    if torch is not None and torch.cuda.is_available():
        described = f"{torch.cuda.get_device_name()}, {described}"
    return described


def _find_processor(cpuinfo: Path) -> str:
    if cpuinfo.is_file():
        for line in cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                return " ".join(value.split())
    return platform.processor() or platform.machine()
