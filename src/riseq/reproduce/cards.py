"""The shipped models' cards, with the scores of their saved outputs in the metadata and in the table of their text."""

import re
from collections.abc import Mapping
from pathlib import Path

from riseq.engine.simplifier import Simplifier
from riseq.files import write_text
from riseq.metrics.scores import METRICS
from riseq.model.folder import LAYOUT
from riseq.reproduce.plan import GROUNDED_SETS, SAVED_SETS, TEST_SETS, split_form
from riseq.reproduce.score_tables import TITLES
from riseq.reproduce.scoreboard import Scoreboard
from riseq.terminal.results import score_digits

_SAVED_AS = {"default": "rise-small", "large": "rise-large"}
"""The shipped models, and the names of their saved outputs."""


def refresh_cards(board: Scoreboard, models: Mapping[str, Path]) -> list[Path]:
    """Write the scores and metadata of the cards of the shipped ``models`` anew, and return the cards."""
    cards = []
    for name, folder in models.items():
        scores = {}
        for dataset in TEST_SETS:
            found = board.scores(_SAVED_AS[name], dataset)
            if found is not None:
                scores[dataset] = {metric: found.score(metric) for metric in METRICS}
        card = folder / LAYOUT.card
        text = Simplifier.load(folder).write_card(f"riseq-{name}", scores, refresh=True)
        write_text(card, replace_scores(board, _SAVED_AS[name], text))
        cards.append(card)
    return cards


def replace_scores(board: Scoreboard, system: str, text: str) -> str:
    """Return a card's text with the scores of saved outputs in the rows of its table that are theirs.

    Such a row names a set, then how it is asked, then the six scores; rows of the training code stay.
    """
    for dataset in (*SAVED_SETS, *GROUNDED_SETS):
        name, grounded = split_form(dataset)
        asked = "grounded" if grounded else "the benchmark's way"
        found = board.scores(system, dataset)
        if found is not None:
            numbers = " ".join(f"{found.score(metric):{score_digits(metric)}}" for metric in TITLES)
            row = rf"^(\| `{re.escape(name)}`(?: \(\w+\))? \| {asked} \| )[\d. ]+( \|)$"
            text = re.sub(row, rf"\g<1>{numbers}\g<2>", text, flags=re.MULTILINE)
    return text
