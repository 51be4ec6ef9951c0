"""The metadata of the shipped models' cards, with the scores of their saved outputs."""

from collections.abc import Mapping
from pathlib import Path

from riseq.engine.simplifier import Simplifier
from riseq.files import write_text
from riseq.metrics.scores import METRICS
from riseq.model.folder import LAYOUT
from riseq.reproduce.plan import TEST_SETS
from riseq.reproduce.scoreboard import Scoreboard

_SAVED_AS = {"default": "rise-small", "large": "rise-large"}
"""The shipped models, and the names of their saved outputs."""


def refresh_cards(board: Scoreboard, models: Mapping[str, Path]) -> list[Path]:
    """Write the metadata of the cards of the shipped ``models`` anew and return the cards; their text stays."""
    cards = []
    for name, folder in models.items():
        scores = {}
        for dataset in TEST_SETS:
            found = board.scores(_SAVED_AS[name], dataset)
            if found is not None:
                scores[dataset] = {metric: found.score(metric) for metric in METRICS}
        card = folder / LAYOUT.card
        write_text(card, Simplifier.load(folder).write_card(f"riseq-{name}", scores, refresh=True))
        cards.append(card)
    return cards
