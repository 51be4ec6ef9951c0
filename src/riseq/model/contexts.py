"""What a network reads before the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from riseq.text.pieces import Pieces
from riseq.text.words import forms

UTTERANCE_PIECES = 30
"""The paper's cut of each utterance."""
UTTERANCES = 6
"""Three turns of question and answer."""


@dataclass(frozen=True, slots=True)
class ContextIds:
    """The piece ids of ``[CLS] c1 [SEP] c2``, without a last [SEP], and whether anything was left out."""

    ids: list[int]
    truncated: bool


def encode_context(pieces: Pieces, context: Sequence[str], utterances: int = UTTERANCES) -> ContextIds:
    """Return the last ``utterances`` of a dialogue in pieces, each cut at a whole word within its limit."""
    kept = context[len(context) - utterances :] if len(context) > utterances else context
    truncated = len(kept) < len(context)
    ids = [pieces.cls_id]
    for place, utterance in enumerate(kept):
        if place:
            ids.append(pieces.sep_id)
        room = UTTERANCE_PIECES
        for form in forms(utterance):
            cut = pieces.cut(form)
            if len(cut) > room:
                truncated = True
                break
            ids.extend(cut)
            room -= len(cut)
    return ContextIds(ids, truncated)
