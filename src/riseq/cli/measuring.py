"""The verb that turns a checkpoint into what ships and says how good that is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

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
    examples = take_evenly(load_set_or_examples(data), limit) if check else []
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


def load_set_or_examples(data: Path | None) -> list[Example]:
    """Return the set called ``data``, else the example dialogues of a checkout, of which there may be none."""
    if data is not None:
        return load_set(data, skip_bad=False)
    from riseq.data.dataset import load_dataset
    from riseq.engine.models import find_examples

    return [example for file in find_examples() for example in load_dataset(file)]


def take_evenly(examples: list[Example], limit: int) -> list[Example]:
    """Return ``limit`` examples, or all there are, at even distances."""
    count = min(limit, len(examples))
    return [examples[index * len(examples) // count] for index in range(count)]
