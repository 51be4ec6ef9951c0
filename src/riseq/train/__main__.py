"""``python -m riseq.train`` (and ``accelerate launch -m riseq.train``): train from a recipe, or score checkpoints."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from riseq.train.command import Resume, describe, train_recipe
from riseq.types import InputError

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def run(
    recipe: Annotated[str, typer.Argument(help="a YAML recipe")],
    out: Annotated[str, typer.Option(help="the run's folder")],
    change: Annotated[list[str] | None, typer.Option("--set", help="name=value on top of the recipe")] = None,
    resume: Annotated[Resume, typer.Option(help="auto goes on from the run's last finished epoch")] = "none",
    seed: Annotated[int | None, typer.Option(help="the run's seed, instead of the recipe's")] = None,
) -> None:
    """Train a model: ``riseq train``, which ``accelerate launch`` can start several times."""
    result = train_recipe(recipe, out, resume, seed, change or [])
    from riseq.train.processes import Processes, leave_processes

    if Processes.current().is_main:
        print(describe(result))
    leave_processes()


@app.command()
def score(
    model: Annotated[list[str], typer.Option(help="a checkpoint's folder; several are averaged")],
    data: Annotated[list[str], typer.Option(help="a data set")],
    passes: int = 3,
    device: str = "auto",
    out: Annotated[str | None, typer.Option(help="a folder for the outputs, one JSON Lines file a set")] = None,
) -> None:
    """Score checkpoints on data sets, after each pass."""
    from riseq.train.predictions import score_models

    for name, found in score_models(model, data, passes, device, out).items():
        for number, scores in enumerate(found, start=1):
            print(json.dumps({"data": name, "passes": number, **scores.as_dict()}))


@app.command()
def predict(
    system: Annotated[str, typer.Option(help="the system that the model is one of")],
    model: Annotated[str, typer.Option(help="a trained model's folder")],
    data: Annotated[list[str], typer.Option(help="a data set with targets")],
    out: Annotated[str, typer.Option(help="a folder for the predictions, one JSON Lines file a set")],
) -> None:
    """Write a model's predictions on data sets, and print its scores on each."""
    from riseq.train.baseline_predictions import predict_sets

    for found in predict_sets(system, model, data, out):
        print(json.dumps(found), flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Run the module's command line and return its exit code: 2 for a user's mistake, told in one line."""
    try:
        app(args=arguments, prog_name="python -m riseq.train")
    except InputError as error:
        print(f"riseq: {error}", file=sys.stderr)
        return 2
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
