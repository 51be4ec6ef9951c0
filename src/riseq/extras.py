"""Packages that are imported late: the optional ones, whose error names the pip extra, and onnxruntime."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from riseq.types import InputError

INSTALL = "pip install '.[{extra}]' in a checkout of riseq"
"""How an extra is installed; riseq is not on a package index yet."""


class MissingExtra(InputError, ModuleNotFoundError):
    """A package is missing, and the message names the extra that brings it."""


@contextmanager
def needs_extra(extra: str, what: str) -> Iterator[None]:
    """Turn the lack of a package that the block imports into a ``MissingExtra``; ``what`` needs it."""
    try:
        yield
    except MissingExtra:
        raise
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "riseq":  # a mistake of ours, no missing package
            raise
        install = INSTALL.format(extra=extra)
        raise MissingExtra(f"{what} needs the package {error.name!r}; install it with: {install}") from error


def import_onnxruntime(module: str = "onnxruntime") -> Any:
    """Return onnxruntime, or one of its modules; its telemetry is off unless ORT_DISABLE_TELEMETRY is set."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # read once, when the runtime is loaded
    return import_module(module)
