"""The verbs that turn a checkpoint into what ships and say how good and how fast that is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from riseq.cli.options import ModelOption
from riseq.cli.shared import load_set, open_console, say
from riseq.types import InputError

if TYPE_CHECKING:
    from riseq.types import Example

FAILED = 1
_CHECKED = 1_000
"""How many questions of a set are checked."""


def export(
    checkpoint: Annotated[Path, typer.Argument(metavar="CHECKPOINT", show_default=False, help="A trained model.")],
    output: Annotated[Path, typer.Argument(metavar="OUT", show_default=False, help="The folder to write.")],
    precision: Annotated[
        str, typer.Option("--precision", "-p", metavar="KIND", help="int8 (small and fast) or float32.")
    ] = "int8",
    data: Annotated[
        Path | None,
        typer.Option(
            "--data", "-d", metavar="FILE", help="Check on this file or set. The example dialogues of a checkout."
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, help="Check on N questions, spread evenly over the set.")
    ] = _CHECKED,
    check: Annotated[bool, typer.Option("--check/--no-check", help="Whether to compare it with CHECKPOINT.")] = True,
) -> None:
    """Turn a checkpoint into a model that runs without torch.

    OUT holds graphs for onnxruntime, the phrases, the vocabulary and the
    model card; [bold]riseq simplify --system rise --model OUT[/] uses it. Then the same
    questions go through the checkpoint and through OUT: in float32 all texts
    must be the same, in int8 97 of 100; else the exit code is 1.

    \b
    [bold]Examples[/]
      riseq export runs/small/best models/small
      riseq export runs/small/best models/small --data canard/dev.qonly
      riseq export runs/small/best models/small-float32 --precision float32
    """
    try:
        from riseq.model.export import export as write
    except ModuleNotFoundError as error:
        raise InputError(
            f"export needs the package {error.name!r}; install it with: pip install 'riseq[train]'"
        ) from error

    # Read before the work begins, for a mistake should not wait for its end.
    examples = _spread(_load(data), limit) if check else []
    sizes = write(checkpoint, output, precision)
    say(f"wrote {sum(sizes.values()) / 1e6:,.1f} MB to {output}")
    if not check:
        return
    if not examples:
        say("not checked: there are no example dialogues here; name a file of questions with --data")
        return
    from riseq.calibrate.export_check import check_parity, show_parity

    found = check_parity(checkpoint, output, examples)
    show_parity(open_console(), found)
    apart = [one.engine for one in found if not one.holds]
    if apart:
        say(f"{' and '.join(apart)}: further from the checkpoint than asked; {output} should not be used")
        raise typer.Exit(FAILED)


def _load(data: Path | None) -> list[Example]:
    if data is not None:
        return load_set(data, skip_bad=False)
    from riseq.data.dataset import load_dataset
    from riseq.hub import find_examples

    return [example for file in find_examples() for example in load_dataset(file)]


def _spread(examples: list[Example], limit: int) -> list[Example]:
    """Return ``limit`` examples, or all there are, at even distances."""
    count = min(limit, len(examples))
    return [examples[place * len(examples) // count] for place in range(count)]


def bench(
    model: ModelOption = None,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data", "-d", metavar="FILE", help="Questions with dialogues. CAsT-19 under RISEQ_DATA, or the examples."
        ),
    ] = None,
    threads: Annotated[int, typer.Option("--threads", "-t", metavar="N", min=1, help="Cores that one call uses.")] = 2,
    repeats: Annotated[int, typer.Option("--repeats", metavar="N", min=1, help="How often all is measured.")] = 5,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, help="Take N questions, spread evenly over the set.")
    ] = None,
    rivals: Annotated[
        bool, typer.Option("--rivals/--no-rivals", help="Whether GPT-2 and a BERT2BERT write beside it (needs torch).")
    ] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the page.")] = False,
    write: Annotated[
        Path | None,
        typer.Option("--write", "-w", metavar="FOLDER", help="Put the page into FOLDER/RESULTS.md, numbers beside it."),
    ] = None,
) -> None:
    """Measure how fast the engine is on this machine.

    One question at a time beside one bare encoder pass over the same
    tokens, and beside decoders that write word by word; many at once; where
    the time goes; a cold start; how it grows. All take turns in one run.

    \b
    [bold]Examples[/]
      riseq bench
      riseq bench --no-rivals --limit 50 --repeats 3
      riseq bench --write benchmarks
    """
    from riseq.cli.benching import run_bench

    asked = _load_bench(data)
    run_bench(model, (asked[0], _spread(asked[1], limit or len(asked[1]))), threads, repeats, rivals, as_json, write)


def _load_bench(data: Path | None) -> tuple[str, list[Example]]:
    """Return questions and what to call them."""
    import os

    from riseq.data.dataset import data_root

    if data is not None:
        return str(data), load_set(data, skip_bad=False)
    if data_root(os.environ) is not None:
        return "CAsT-19", load_set(Path("cast19/test.qonly"), skip_bad=False)
    examples = _load(None)
    if not examples:
        raise InputError("no questions to measure with: RISEQ_DATA is not set; name a file with --data")
    return "the example dialogues", examples
