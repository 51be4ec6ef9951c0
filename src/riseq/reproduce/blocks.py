"""Parts of pages that are made from saved outputs: each stands between two comments, and nobody writes it by hand."""

from collections.abc import Callable, Mapping
from pathlib import Path

from riseq.files import write_text
from riseq.types import InputError

END = "<!-- end of what riseq reproduce makes -->"


def replace_blocks(text: str, builders: Mapping[str, Callable[[], str]]) -> str:
    """Return ``text`` with what each builder returns between the comment it goes by and the next ``END``.

    A comment that the text does not have is left out.
    """
    for begin, build in builders.items():
        head, found, rest = text.partition(begin)
        _, end, tail = rest.partition(END)
        if found and not end:
            raise InputError(f"the block that begins with {begin!r} has no end, expected {END!r}")
        if found:
            text = f"{head}{begin}\n{build()}{END}{tail}"
    return text


def write_blocks(path: Path, builders: Mapping[str, Callable[[], str]]) -> Path:
    """Write the blocks of the page ``path`` anew and return it; the rest stays."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    if not any(begin in text for begin in builders):
        expected = ", ".join(map(repr, builders))
        raise InputError(f"{path}: has no place for the results, expected the lines {expected} and {END!r}")
    try:
        write_text(path, replace_blocks(text, builders))
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return path


def find_root(page: Path) -> Path | None:
    """Return the folder of the project that a page lies in, which has the everyday cases; None where it is in none."""
    return next((folder for folder in page.resolve().parents if (folder / "data" / "everyday").is_dir()), None)
