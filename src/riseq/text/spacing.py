"""Where a person writes a space between two words, and where not."""

from collections.abc import Sequence
from enum import Flag
from functools import lru_cache
from typing import NamedTuple

from riseq.text.lexicon import APOSTROPHES, PREFIXES, SUFFIXES, is_word
from riseq.text.words import split

_CLOSERS = frozenset(".,;:!?)]}%…”»，。？！、；：）】」』")
_OPENERS = frozenset("([{$#@“‘«¿¡（【「『")
_JOINERS = frozenset("-‐‑/\\_")
_DIGIT_JOINERS = frozenset(".,:")  # 3.5, 1,000, 10:30


class Token(NamedTuple):
    """One word of the text to be written."""

    form: str
    surface: str
    """How it is written."""
    place: int | None = None
    """Which word of the user's text it is; none for a new word."""
    space_before: bool | None = None
    """Whether a space stood before it where it was read; none where it was not read or nothing stood before it."""
    space_after: bool | None = None
    follows: bool = False
    """Whether the token before it is the one that stood before it where it was read."""


class _Side(Flag):
    """On which side a mark holds on to its neighbour."""

    NEITHER = 0
    LEFT = 1
    RIGHT = 2
    BOTH = 3


def needs_space(tokens: Sequence[Token], position: int) -> bool:
    """Return whether a space belongs between the tokens at ``position - 1`` and ``position``."""
    left, right = tokens[position - 1], tokens[position]
    if not (is_mark(left.form) or is_mark(right.form)):
        return True  # Without the space the two would be read as one word.
    if right.follows and right.space_before is not None:
        return right.space_before
    if (_is_ideograph(left.form) and _is_ideograph(right.form)) or _is_number(tokens, position):
        return False
    return _Side.RIGHT not in _hold(tokens, position - 1) and _Side.LEFT not in _hold(tokens, position)


@lru_cache(maxsize=4096)
def is_mark(form: str) -> bool:
    """Return whether ``form`` is a word of its own even without spaces: punctuation or an ideograph."""
    return len(form) == 1 and len(split(f"a{form}a")) == 3


def _is_ideograph(form: str) -> bool:
    return is_mark(form) and form.isalpha()


def _is_number(tokens: Sequence[Token], position: int) -> bool:
    """Return whether the mark at ``position - 1`` stands inside a number that goes on at ``position``."""
    mark, right = tokens[position - 1], tokens[position]
    if mark.form not in _DIGIT_JOINERS or mark.space_after or position < 2 or not right.form.isdigit():
        return False
    return tokens[position - 2].form.isdigit() and (mark.form != "," or len(right.form) == 3)


def _hold(tokens: Sequence[Token], position: int) -> _Side:
    """Return which neighbours the token holds on to, from how it was written and from what it is."""
    token = tokens[position]
    form = token.form
    if not is_mark(form) or _is_ideograph(form):
        return _Side.NEITHER
    if form in APOSTROPHES:
        return _hold_apostrophe(tokens, position)
    if form in _CLOSERS:
        # ".net" and ":)" are written so; a comma before its space is a slip that an edit may mend.
        return _Side.RIGHT if form in ".:" and _was_open(token) else _Side.LEFT
    if token.space_before is False and token.space_after is not False:
        return _Side.LEFT  # C#, Disney+
    if form in _OPENERS or _was_open(token):
        return _Side.RIGHT
    if form == '"':
        before = sum(other.form == '"' for other in tokens[:position])
        return _Side.LEFT if before % 2 else _Side.RIGHT
    if token.place is None and token.space_before is None and token.space_after is None:
        return _Side.BOTH if form in _JOINERS else _Side.NEITHER
    return _Side.NEITHER if token.space_before or token.space_after else _Side.BOTH


def _hold_apostrophe(tokens: Sequence[Token], position: int) -> _Side:
    token = tokens[position]
    if _is_inside(tokens, position):
        return _Side.BOTH
    if _was_open(token):
        return _Side.RIGHT
    if token.place is not None:
        return _Side.LEFT
    # Two of them around words are quotation marks; one alone is the plural's possessive (the Beatles' album).
    loose = [i for i, other in enumerate(tokens) if other.form == token.form and not _is_inside(tokens, i)]
    return _Side.RIGHT if loose.index(position) % 2 == 0 and position != loose[-1] else _Side.LEFT


def _is_inside(tokens: Sequence[Token], position: int) -> bool:
    """Return whether the apostrophe belongs to a word such as ``band's`` or ``o'clock``."""
    if position == 0 or position + 1 == len(tokens):
        return False
    token, before, after = tokens[position], tokens[position - 1], tokens[position + 1]
    if after.form in SUFFIXES and is_word(before.form):
        # The chord 'd' is in quotation marks.
        return position + 2 == len(tokens) or tokens[position + 2].form != token.form
    return token.place is None and before.form in PREFIXES and is_word(after.form)


def _was_open(token: Token) -> bool:
    return token.space_before is not False and token.space_after is False
