"""Optional packages: where one is missing, the error names the pip extra that brings it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from riseq.types import InputError


class MissingExtra(InputError, ModuleNotFoundError):
    """A package is missing, and the message names the extra that brings it."""


def name_extra(extra: str, error: ModuleNotFoundError, what: str | None = None) -> MissingExtra:
    """Return the error that says how to install what ``error`` misses; ``what`` needs it."""
    return MissingExtra(
        f"{what or f'riseq.integrations.{extra}'} needs the package {error.name!r}; "
        f"install it with: pip install 'riseq[{extra}]'"
    )


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
        raise name_extra(extra, error, what) from error
