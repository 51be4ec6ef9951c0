"""Questions with no dialogue before them: the rule that they stay as they are, given to every system or to none.

The rule is the evaluation's, not a system's: ``kept`` scores such a question unchanged, whatever a system wrote, and
``asked`` scores what the system itself made of it.
"""

from collections.abc import Sequence
from typing import Literal

from riseq.types import Example

FirstTurns = Literal["kept", "asked"]


def has_first_turns(examples: Sequence[Example]) -> bool:
    """Return whether some question has no dialogue before it."""
    return any(not example.context for example in examples)


def keep_first_turns(examples: Sequence[Example], texts: Sequence[str]) -> list[str]:
    """Return ``texts`` with each question that has no dialogue before it as it is."""
    return [text if one.context else one.question for one, text in zip(examples, texts, strict=True)]
