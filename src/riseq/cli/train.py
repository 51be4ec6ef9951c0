"""``riseq train``: a model, as a recipe says."""

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from riseq.cli import argument, notify, option
from riseq.types import InputError


def train(
    out: Annotated[Path, option("--out -o FOLDER", "The run's folder.")],
    recipe: Annotated[str | None, argument("RECIPE", "A YAML file of settings.")] = None,
    named: Annotated[str | None, option("--recipe RECIPE", "The recipe, by an option.")] = None,
    resume: Annotated[Literal["auto", "none"], option("--resume", "auto continues the run in FOLDER.")] = "none",
    seed: Annotated[int | None, option("--seed N", "Instead of the recipe's.", min=0)] = None,
    change: Annotated[list[str] | None, option("--set NAME=VALUE", "A setting on top of the recipe's; repeat.")] = None,
) -> None:
    """Train a model as a recipe says.

    FOLDER gets the best model by dev BLEU-4 ([bold]best[/]), the last finished
    epoch ([bold]last[/]), [bold]log.csv[/] and [bold]scores.csv[/]. Prints how the run ended
    as one JSON object. A recipe of stages ([bold]recipes/ship.yaml[/]) trains, exports,
    calibrates and scores one after the other; run again, it goes on where it was.

    \b
    [bold]Examples[/]
      riseq train recipes/default.yaml --out runs/mine
      riseq train recipes/default.yaml --out runs/mine --resume auto
      riseq train --recipe recipes/trans++.yaml --out runs/trans++
      riseq train recipes/ship.yaml --out runs/ship
      riseq train recipes/paper.yaml --out runs/paper --seed 2 --set batch=32 --set device=cpu
    """
    from riseq.reproduce.stages import read_stages, run_stages
    from riseq.train import train_recipe

    chosen = recipe or named
    if chosen is None or (recipe and named):
        raise InputError("train takes one recipe, as RECIPE or by --recipe")
    if read_stages(chosen) is not None:
        if seed is not None:
            raise InputError("--seed: the stages of this recipe have seeds of their own")
        for made in run_stages(chosen, out, change or []):
            typer.echo(json.dumps(made))
        return
    result = train_recipe(chosen, out, resume, seed, change or [])
    if result.is_main:
        typer.echo(json.dumps(result.to_dict()))
        notify(f"the best model is that of epoch {result.best_epoch}, in {result.folder}")
