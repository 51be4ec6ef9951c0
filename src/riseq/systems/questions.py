"""What a user wants simplified: one question in its context, or a file of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from riseq.data.source import STDIN
from riseq.data.tables import SUFFIXES
from riseq.types import Example, InputError


def names_file(source: str) -> bool:
    """Return whether ``source`` is the name of a file (or ``-``), which has to be there, and not a question."""
    if source == STDIN:
        return True
    if not source.strip():
        return False
    try:
        exists, is_folder = Path(source).exists(), Path(source).is_dir()
    except (OSError, ValueError):  # too long for a name, or with a null character in it
        return False
    if is_folder:
        raise InputError(f"{source}: is a folder, expected a file or a question")
    if not exists and _looks_like_name(source):
        raise InputError(f"{source}: no such file")
    return exists


def ask(question: str, context: Sequence[str] = ()) -> Example:
    """Return the example of one question after the utterances of ``context``, oldest first."""
    named = [("the question", question), *((f"context {place}", text) for place, text in enumerate(context, 1))]
    for name, text in named:
        if not text.strip():
            raise InputError(f"{name} is empty, expected some text")
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InputError(f"{name} is not Unicode text: {text!r}") from None
    return Example("1", tuple(context), question)


def _looks_like_name(source: str) -> bool:
    # "dialogues.txt" is a slip of the fingers; "Why?" and "What is in data.csv?" are questions.
    one_word = len(source.split()) == 1
    return source.lower().endswith(tuple(SUFFIXES)) or (
        one_word and ("/" in source or Path(source).suffix[1:].isalnum())
    )
