"""An engine without weights: the whole server can be tried with it, and its answers are known beforehand."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence

from riseq.core.edits import Op
from riseq.server.engine import About, Ask
from riseq.types import Simplification, Step, TextEdit

_WORD = re.compile(r"\w+")


class DummyEngine:
    """Puts "it" for the first word of four letters or more that the dialogue had; the rest stays."""

    about = About("dummy", "dummy")

    def __init__(self, seconds: float = 0.0) -> None:
        """Take how long each question is to last."""
        self.seconds = seconds

    def simplify(self, asks: Sequence[Ask]) -> list[Simplification]:
        """Return one result an ask, in order."""
        if self.seconds:
            time.sleep(self.seconds * len(asks))
        return [_simplify(ask) for ask in asks]


def _simplify(ask: Ask) -> Simplification:
    said = {word.lower() for text in ask.context for word in _WORD.findall(text)}
    kept = {word.lower() for phrase in ask.wishes.protect for word in _WORD.findall(phrase)}
    plain = Simplification(ask.question, ask.question, probability=0.25)
    if not ask.wishes.strength:
        return plain
    for word in _WORD.finditer(ask.question):
        form = word[0].lower()
        if len(form) < 4 or form not in said or form in kept:
            continue
        text = f"{ask.question[: word.start()]}it{ask.question[word.end() :]}"
        edit = TextEdit(Op.SUBSTITUTE, word.start(), word.end(), word[0], "it", 0.75)
        edited = Simplification(ask.question, text, (Step(text, (edit,)),), probability=0.75)
        if ask.wishes.n_best == 1:
            return edited
        return Simplification(ask.question, text, edited.steps, probability=0.75, alternatives=(plain, edited))
    return plain
