"""The Ray cluster a run has: one that is there, or one on this machine for as long as the run takes."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from riseq.types import InputError

OBJECT_STORE = 256 << 20
"""Bytes of shared memory on a cluster of our own: only blocks' places and receipts are in it, no rows."""
PATIENCE = 10.0
"""How many seconds a cluster has to answer."""


def import_ray() -> Any:
    """Return Ray with Ray Data."""
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise InputError(
            f"--engine ray needs the package {error.name!r}; install it with: pip install 'riseq[scale]'"
        ) from None
    return ray


@contextmanager
def connect(address: str | None, cpus: float | None) -> Iterator[Any]:
    """Give Ray, on the cluster at ``address``, else on a new one here with ``cpus`` (all there are where None).

    RAY_ADDRESS names a cluster where ``address`` does not, as it does for Ray. A program that is connected already
    stays so.
    """
    address = address or os.environ.get("RAY_ADDRESS") or None
    # Ray tells its makers of every cluster unless it is told not to, and its log repeats what is told here.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    ray = import_ray()
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)
    if address is not None:
        _check_answers(address)
    if ray.is_initialized():
        yield ray
        return
    own = {} if address else {"num_cpus": cpus, "include_dashboard": False, "object_store_memory": OBJECT_STORE}
    try:
        ray.init(address=address or "local", log_to_driver=False, logging_level=logging.ERROR, **own)
    except (ConnectionError, RuntimeError, ValueError) as error:
        told = str(error).partition("\n")[0]
        raise InputError(f"no Ray cluster: {f'{address} gave' if address else 'got'} {told!r}") from None
    try:
        yield ray
    finally:
        ray.shutdown()


def has_room(ray: Any, cores: float, gpus: float) -> bool:
    """Return whether a machine of the cluster, as it is now, is large enough for a worker."""
    machines = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    return any(one.get("CPU", 0) >= cores and one.get("GPU", 0) >= gpus for one in machines)


def _check_answers(address: str) -> None:
    """Raise where nobody listens at ``address``: Ray itself would wait for minutes."""
    if address == "auto":
        return
    try:
        place = urlsplit(address if "://" in address else f"//{address}")
        host, port = place.hostname, place.port
    except ValueError:
        host = port = None
    if host is None or port is None:
        raise InputError(f"--address: got {address!r}, expected HOST:PORT or auto")
    try:
        socket.create_connection((host, port), PATIENCE).close()
    except OSError as error:
        raise InputError(f"--address {address}: no Ray cluster answers there ({error.strerror or error})") from None
