"""The command line: one function a verb, which imports its room when it is called."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from riseq import __version__
from riseq.cli.bench import bench
from riseq.cli.calibrating import calibrate, passes
from riseq.cli.connecting import mcp
from riseq.cli.measuring import export
from riseq.cli.options import ModelOption, Resume, SetArgument, SkipBadOption, SystemOption
from riseq.cli.reproducing import predict, reproduce
from riseq.cli.serving import serve
from riseq.cli.shared import count, load_set, open_console, say
from riseq.cli.simplifying import DEFAULT_SYSTEM, explain, simplify
from riseq.systems.registry import load_system
from riseq.types import InputError

INPUT_ERROR = 2
INTERRUPTED = 130
COVERAGE_SIZES = (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000)
# The error of a wrong option or argument; typer brings its own click or uses the installed one, by its version.
_USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[1]

app = typer.Typer(
    name="riseq",
    help="Make self-contained questions conversational.",
    epilog="[bold]riseq VERB --help[/] shows what a verb takes, with examples.",
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
data_app = typer.Typer(help="Look at data sets.", rich_markup_mode="rich")
app.add_typer(data_app, name="data")
app.command()(simplify)
app.command()(explain)
app.command()(serve)
app.command()(predict)
app.command()(reproduce)
app.command()(export)
app.command()(bench)
app.command()(calibrate)
app.command()(passes)
app.command()(mcp)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"riseq {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def riseq(
    context: typer.Context,
    _version: Annotated[
        bool, typer.Option("--version", "-V", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Make self-contained questions conversational."""
    _show_help_alone(context)


@data_app.callback(invoke_without_command=True)
def data(context: typer.Context) -> None:
    """Look at data sets."""
    _show_help_alone(context)


@app.command()
def evaluate(
    data: Annotated[
        Path,
        typer.Option(
            "--data",
            "-d",
            metavar="FILE",
            help="A file with targets, or a set's name under RISEQ_DATA.",
        ),
    ],
    system: SystemOption = DEFAULT_SYSTEM,
    model: ModelOption = None,
    predictions: Annotated[
        Path | None, typer.Option("--predictions", metavar="OUT", help="Also write each prediction beside its target.")
    ] = None,
    confidence: Annotated[
        bool, typer.Option("--confidence", help="Also tell how well the results' confidences keep their word.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
    skip_bad: SkipBadOption = False,
) -> None:
    """Score a system on a set, as the paper scores it.

    Prints the number of questions, BLEU-1 to BLEU-4, ROUGE-L, CIDEr, the
    share of exact matches and the mean word-level Levenshtein distance to
    the target. Scores are in percent, except CIDEr and the distance.

    \b
    [bold]Examples[/]
      riseq evaluate --system rule --data test.jsonl
      riseq evaluate --system origin --data test.jsonl --json
      riseq evaluate --data test.jsonl --predictions predictions.jsonl
    """
    from riseq.data.tables import check_output, write_rows
    from riseq.reproduce.runner import run
    from riseq.systems.rows import prediction_row

    if predictions is not None:
        check_output(predictions)
    examples = load_set(data, skip_bad, need_target=True)
    evaluation = run(load_system(system, model), examples)
    if predictions is not None:
        rows = zip(examples, evaluation.predictions, strict=True)
        write_rows(predictions, (prediction_row(example, prediction) for example, prediction in rows))
    kept = None
    if confidence:
        from riseq.metrics.reliability import check_confidence

        kept = check_confidence(examples, evaluation.predictions)
    if as_json:
        import json

        told = {} if kept is None else {"confidence": {"ece": kept.error, "auc": kept.discrimination}}
        typer.echo(json.dumps({**evaluation.scores.as_dict(), **told}))
        return
    from riseq.terminal.tables import show_scores

    console = open_console()
    show_scores(console, {system: evaluation.scores})
    if kept is not None:
        console.print(f"confidence: expected calibration error {kept.error:.3f}, AUC {kept.discrimination:.3f}")


@data_app.command()
def stats(
    file: SetArgument,
    skip_bad: SkipBadOption = False,
) -> None:
    """Show what is in a data set.

    Its size, how long its dialogues, questions and targets are,
    and how its targets differ from its questions.

    \b
    [bold]Examples[/]
      riseq data stats train.jsonl.gz
      RISEQ_DATA=~/data riseq data stats canard/test.qonly
    """
    from riseq.data.dataset import stats as measure
    from riseq.terminal.tables import show_stats

    show_stats(open_console(), measure(load_set(file, skip_bad)))


@app.command()
def vocab(
    file: SetArgument,
    size: Annotated[
        int | None, typer.Option("--size", "-k", metavar="K", min=1, help="Keep the K most frequent phrases.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the phrases, one a line.")
    ] = None,
    skip_bad: SkipBadOption = False,
) -> None:
    """Build the phrase vocabulary of a set, and show what it reaches.

    A phrase is what one edit puts in: "he", "this film". A pair is reached
    when every phrase between its question and its target is there.

    \b
    [bold]Examples[/]
      riseq vocab train.jsonl.gz
      riseq vocab train.jsonl.gz --size 3000 --output phrases.txt
    """
    from riseq.core.edits import MARKER
    from riseq.core.phrases import PhraseVocabulary
    from riseq.files import check_place, replace_file
    from riseq.terminal.tables import show_coverage
    from riseq.text.words import forms

    if output is not None:
        check_place(output)
    examples = load_set(file, skip_bad, need_target=True)
    pairs = [((MARKER, *forms(one.question)), (MARKER, *forms(one.target or ""))) for one in examples]
    vocabulary = PhraseVocabulary.from_pairs(pairs, size)
    sizes = sorted({k for k in COVERAGE_SIZES if k < len(vocabulary)} | {len(vocabulary)})
    show_coverage(open_console(), vocabulary.coverage(pairs, sizes))
    if output is not None:
        with replace_file(output) as out:
            out.writelines(f"{line}\n".encode() for line in vocabulary.to_lines())
        say(f"wrote {count(len(vocabulary), 'phrase')} to {output}")


@app.command()
def train(
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="The run's folder.")],
    recipe: Annotated[
        str | None, typer.Argument(metavar="RECIPE", show_default=False, help="A YAML file of settings.")
    ] = None,
    named: Annotated[str | None, typer.Option("--recipe", metavar="RECIPE", help="The recipe, by an option.")] = None,
    resume: Annotated[
        Resume, typer.Option("--resume", help="auto goes on where the run in FOLDER stopped, or starts it.")
    ] = "none",
    seed: Annotated[int | None, typer.Option("--seed", metavar="N", min=0, help="Instead of the recipe's.")] = None,
    change: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A setting on top of the recipe's; repeat.")
    ] = None,
) -> None:
    """Train a model as a recipe says.

    FOLDER gets the best model by dev BLEU-4 ([bold]best[/]), the last finished
    epoch ([bold]last[/]), [bold]log.csv[/] and [bold]scores.csv[/]. Prints how the run ended
    as one JSON object.

    \b
    [bold]Examples[/]
      riseq train recipes/small.yaml --out runs/small
      riseq train recipes/small.yaml --out runs/small --resume auto
      riseq train --recipe recipes/trans++.yaml --out runs/trans++
      riseq train recipes/paper.yaml --out runs/paper --seed 2 --set batch=32 --set device=cpu
    """
    from riseq.train.command import describe, train_recipe

    asked = recipe or named
    if asked is None or (recipe and named):
        raise InputError("train takes one recipe, as RECIPE or by --recipe")
    result = train_recipe(asked, out, resume, seed, change or [])
    typer.echo(describe(result))
    say(f"the best model is that of epoch {result.best_epoch}, in {result.folder}")


def _show_help_alone(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), nl=False)


def _describe_usage(error: Exception) -> str:
    """Return what is wrong with the command line, and where to read how it is used."""
    told = error.format_message() if hasattr(error, "format_message") else str(error)
    context = getattr(error, "ctx", None)
    return f"{told.rstrip('.')}; see {context.command_path if context else 'riseq'} --help"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 2 for a user's mistake, told in one line."""
    from riseq.data.rows import BadRows

    try:
        code = app(args=arguments, prog_name="riseq", standalone_mode=False)
        sys.stdout.flush()
    except BadRows as error:
        for row in error.rows:
            say(str(row))
        say(f"{count(len(error.rows), 'bad row')}, nothing was done; --skip-bad goes on without bad rows")
        return INPUT_ERROR
    except InputError as error:
        say(str(error))
        return INPUT_ERROR
    except _USAGE_ERROR as error:
        say(_describe_usage(error))
        return INPUT_ERROR
    except (typer.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    if code == INTERRUPTED:
        say("interrupted")
    return code if isinstance(code, int) else 0
