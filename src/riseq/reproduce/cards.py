"""The shipped models' cards: scores of their saved outputs and of their training, in the metadata and in the text."""

import re
from collections.abc import Mapping
from pathlib import Path

from riseq.engine.simplifier import Simplifier
from riseq.files import write_text
from riseq.metrics.scores import METRICS
from riseq.model.folder import LAYOUT
from riseq.reproduce.blocks import find_root, replace_blocks
from riseq.reproduce.everyday import SHARES_BEGIN, build_card
from riseq.reproduce.facts import read_config
from riseq.reproduce.plan import GROUNDED_SETS, SAVED_SETS, SHIPPED, TEST_SETS, split_form
from riseq.reproduce.score_tables import TITLES
from riseq.reproduce.scoreboard import Scoreboard
from riseq.terminal.results import score_digits


def refresh_cards(board: Scoreboard, models: Mapping[str, Path]) -> list[Path]:
    """Write the scores and metadata of the cards of the shipped ``models`` anew, and return the cards.

    A model in a package of its own has a second card, that of the package, which has the table and no metadata.
    """
    cards: list[Path] = []
    for name, folder in models.items():
        scores = {}
        for dataset in TEST_SETS:
            found = board.scores(SHIPPED[name], dataset)
            if found is not None:
                scores[dataset] = {metric: found.score(metric) for metric in METRICS}
        card = folder / LAYOUT.card
        text = Simplifier.load(folder).write_card(f"riseq-{name}", scores, refresh=True)
        trained = read_config(folder).get("scores", {})
        texts = {card: text}
        page = folder.parent.parent / LAYOUT.card
        if (folder.parent / "__init__.py").is_file() and page.is_file():
            texts[page] = page.read_text(encoding="utf-8")
        for path, text in texts.items():
            write_text(path, replace_everyday(board, name, replace_scores(board, SHIPPED[name], text, trained), path))
        cards += texts
    return cards


def replace_everyday(board: Scoreboard, name: str, text: str, path: Path) -> str:
    """Return the text of the card ``path`` with the table of everyday cases of the model ``name``, if it has one."""
    return replace_blocks(text, {SHARES_BEGIN: lambda: build_card(board.store.folder, find_root(path), name)})


def replace_scores(
    board: Scoreboard, system: str, text: str, trained: Mapping[str, Mapping[str, float]] | None = None
) -> str:
    """Return a card's text with the scores of saved outputs in the rows of its table that are theirs.

    Such a row names a set, then how it is asked, then the six scores. Rows ``by the training code`` have those of
    ``trained``, the scores that the model's config has by set.
    """
    for dataset in (*SAVED_SETS, *GROUNDED_SETS):
        found = board.scores(system, dataset)
        if found is not None:
            text = _replace_row(text, dataset, r"(?: \(\w+\))?", {metric: found.score(metric) for metric in TITLES})
    for dataset, scores in (trained or {}).items():
        text = _replace_row(text, dataset, ", by the training code[^|]*", scores)
    return text


def _replace_row(text: str, dataset: str, after: str, scores: Mapping[str, float]) -> str:
    """Return ``text`` with the scores in the row of a set; the pattern ``after`` is what follows the set's name."""
    name, grounded = split_form(dataset)
    asked = "grounded" if grounded else "the benchmark's way"
    numbers = " ".join(f"{scores[metric]:{score_digits(metric)}}" for metric in TITLES)
    row = rf"^(\| `{re.escape(name)}`{after} \| {asked} \| )[\d. ]+( \|)$"
    return re.sub(row, rf"\g<1>{numbers}\g<2>", text, flags=re.MULTILINE)
