"""What is told where a tool's package is not installed."""

from __future__ import annotations

from riseq.types import InputError


class MissingExtra(InputError, ModuleNotFoundError):
    """A package is missing, and the message names the extra that brings it."""


def name_extra(extra: str, error: ModuleNotFoundError) -> MissingExtra:
    """Return the error that says how to install what ``error`` misses."""
    return MissingExtra(
        f"riseq.integrations.{extra} needs the package {error.name!r}; install it with: pip install 'riseq[{extra}]'"
    )
