"""The systems of the tables and their commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from riseq.reproduce import paper
from riseq.reproduce.plan import BY_NAME, PLAN


def test_every_recipe_of_the_plan_is_there(root: Path) -> None:
    missing = {one.recipe for one in PLAN if one.recipe and not (root / "recipes" / one.recipe).is_file()}
    assert not missing


def test_the_paper_has_a_row_for_every_system_that_claims_one() -> None:
    rows = {*paper.OVERALL, *paper.ABLATION}
    assert {one.paper for one in PLAN if one.paper} <= rows


def test_commands() -> None:
    dps = BY_NAME["ablation-dps-2"]
    assert dps.make_command() == (
        "riseq train recipes/ablation-dps.yaml --out runs/ablation-dps-2 --resume auto --seed 2 && "
        "riseq predict --system rise --model runs/ablation-dps-2/best --into benchmarks/predictions/ablation-dps-2"
    )
    assert (
        BY_NAME["rise-small"].make_command() == "riseq predict --system rise --into benchmarks/predictions/rise-small"
    )
    with pytest.raises(ValueError, match="origin is not trained"):
        BY_NAME["origin"].train_command()


def test_the_papers_numbers_have_the_papers_own_slips() -> None:
    """What looks like a mistake of ours is one of the paper's, kept as printed."""
    assert paper.ABLATION["-MLD"] == paper.OVERALL["QGDiv"]
    assert paper.VALIDATION["-MLD"] == paper.VALIDATION["QGDiv"]
