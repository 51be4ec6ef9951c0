"""What a user may ask for beside the question: declared once here, and taken by every door of riseq in these words."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, TypedDict

from riseq.text.lexicon import PERSONAL_PRONOUNS
from riseq.types import Direction, InputError, suggest

NEUTRAL = 0.5
"""The strength that takes the network's scores as they are."""
READ = ("all", "relevant")
"""What may be read of a long dialogue."""
MAX_PASSES = 3
"""How many passes an engine makes at most by default."""


def described(default: Any, help: str, **metadata: Any) -> Any:
    """Return the field of a dataclass with its ``help``, and what else an option on the command line may have."""
    return field(default=default, metadata={"help": help, **metadata})


class ControlOptions(TypedDict, total=False):
    """The fields of ``Controls`` as the keyword arguments of a call."""

    strength: float
    protect: Iterable[str]
    max_passes: int | None
    n_best: int
    guard: bool
    grounded: bool
    pronouns: Mapping[str, str] | Iterable[str]
    min_confidence: float
    read: Literal["all", "relevant"] | None


@dataclass(frozen=True, slots=True)
class Controls:
    """How questions are edited; every field is checked, and a wrong one is an ``InputError``.

    The metadata of a field is its help text wherever it is shown: on the command line, in the API's document, in tools;
    and ``only``, the direction that it makes sense in, where that is one.
    """

    strength: float = described(
        NEUTRAL,
        "0 keeps the question, 0.5 is the model's own choice, 1 gives the shortest form.",
        resolve_help="0 keeps the question, 0.5 is the model's own choice, 1 puts in the most.",
    )
    protect: tuple[str, ...] = described((), "Words that are left as they are.")
    max_passes: int | None = described(
        None, f"Edit in at most so many passes (default the model's own number, mostly {MAX_PASSES})."
    )
    n_best: int = described(1, "Above 1 the result has up to so many alternatives.")
    guard: bool = described(
        True, "If not grounded: keep words that only the question has, unless the model is sure.", only="simplify"
    )
    grounded: bool = described(
        True, "Drop only what the dialogue has said; without it, edit as in the benchmark.", only="simplify"
    )
    pronouns: tuple[str, ...] = described(
        (), 'Someone\'s pronoun (he, she, they or it), as "Alex Morgan=she".', only="simplify"
    )
    min_confidence: float = described(
        0.0, "If the confidence is lower, take the mildest form that reaches it, or else the question."
    )
    read: Literal["all", "relevant"] | None = described(
        None,
        "Of a long dialogue: all that fits, or the last turn and relevant sentences (default relevant if grounded).",
        resolve_help="Of a long dialogue: all that fits, or the last turn and relevant sentences (default all).",
        metavar="all|relevant",
    )

    def __post_init__(self) -> None:
        for name in ("strength", "min_confidence"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
                raise InputError(f"{name} is {value!r}, expected a number from 0 to 1")
            object.__setattr__(self, name, float(value))
        object.__setattr__(self, "protect", _check_protect(self.protect))
        object.__setattr__(self, "pronouns", _check_pronouns(self.pronouns))
        if self.max_passes is not None:
            check_count("max_passes", self.max_passes)
        check_count("n_best", self.n_best)
        if self.read is not None and self.read not in READ:
            raise InputError(f"read is {self.read!r}, expected {' or '.join(READ)}")
        for name in ("guard", "grounded"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"{name} is {getattr(self, name)!r}, expected True or False")

    @classmethod
    def of(cls, controls: Controls | None = None, /, **options: Any) -> Controls:
        """Return ``controls`` (else the defaults) with ``options``, which are ``ControlOptions``, on top of them."""
        known = [one.name for one in fields(cls)]
        for name in options:
            if name not in known:
                raise InputError(f"{name!r} is no control; {suggest(name, known)}")
        return replace(cls() if controls is None else controls, **options)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Controls:
        """Return the controls that ``to_dict`` wrote; what is missing has its default."""
        return cls.of(**values)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that differ from the defaults, as JSON has them."""
        values = {one.name: getattr(self, one.name) for one in fields(self) if getattr(self, one.name) != one.default}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    def check(self, direction: Direction, given: Container[str] = ()) -> None:
        """Raise where a field was set that makes sense in the other direction only.

        One was set if it differs from its default, or is one of those that were ``given``, by name.
        """
        for one in fields(self):
            was_set = one.name in given or getattr(self, one.name) != one.default
            if was_set and one.metadata.get("only", direction) != direction:
                raise InputError(f"{one.name} goes with riseq {one.metadata['only']}, not with riseq {direction}")

    @property
    def reads_relevant(self) -> bool:
        """Whether a long dialogue is read in part; the benchmark's way reads all, unless told otherwise."""
        return self.grounded if self.read is None else self.read == "relevant"

    def protected_words(self) -> tuple[tuple[str, ...], ...]:
        """Return the words of each protected phrase."""
        return tuple(_find_words(phrase) for phrase in self.protect)

    def pronoun_words(self) -> tuple[tuple[tuple[str, ...], str], ...]:
        """Return the words of each name that has a pronoun of its own, and the pronoun."""
        pairs = (one.rsplit("=", 1) for one in self.pronouns)
        return tuple((_find_words(name), pronoun) for name, pronoun in pairs)


def check_count(name: str, value: int) -> int:
    """Return ``value``, which is a whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(f"{name} is {value!r}, expected 1 or more")
    return value


def _check_protect(protect: Iterable[str]) -> tuple[str, ...]:
    if isinstance(protect, str | bytes) or not isinstance(protect, Iterable):
        raise InputError(f"protect is a {type(protect).__name__}, expected a list of strings")
    phrases = tuple(protect)
    for index, phrase in enumerate(phrases):
        if not isinstance(phrase, str):
            raise InputError(f"protect[{index}] is a {type(phrase).__name__}, expected a string")
        if not _find_words(phrase):
            raise InputError(f"protect[{index}] is {phrase!r}, expected at least one word")
    return phrases


def _check_pronouns(pronouns: Mapping[str, str] | Iterable[str]) -> tuple[str, ...]:
    """Return ``pronouns``, a mapping of names or a list, as "Alex Morgan=she" each."""
    if isinstance(pronouns, str | bytes) or not isinstance(pronouns, Iterable):
        raise InputError(f"pronouns is a {type(pronouns).__name__}, expected names with their pronouns")
    pairs = [f"{name}={pronoun}" for name, pronoun in pronouns.items()] if isinstance(pronouns, Mapping) else pronouns
    for pair in (checked := tuple(pairs)):
        name, _, pronoun = pair.rpartition("=") if isinstance(pair, str) else ("", "", "")
        if pronoun not in PERSONAL_PRONOUNS or not _find_words(name):
            raise InputError(f"pronouns has {pair!r}, expected NAME=PRONOUN, with he, she, they or it")
    return checked


def _find_words(phrase: str) -> tuple[str, ...]:
    from riseq.text.words import forms  # it loads a tokenizer, which a command's --help can do without

    return tuple(forms(phrase))
