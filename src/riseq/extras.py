"""Optional packages: where one is missing, the error names the pip extra that brings it."""

from collections.abc import Iterator
from contextlib import contextmanager

from riseq.types import InputError


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
        message = f"{what} needs the package {error.name!r}; install it with: pip install 'riseq[{extra}]'"
        raise MissingExtra(message) from error
