"""``riseq export``: a checkpoint becomes a model that runs without torch."""

from pathlib import Path
from typing import Annotated

import typer

from riseq.cli import FAILED, argument, load_set_or_examples, notify, open_console, option, take_evenly
from riseq.extras import needs_extra


def export(
    checkpoint: Annotated[Path, argument("CHECKPOINT", "A trained model.")],
    output: Annotated[Path, argument("OUT", "The folder to write.")],
    precision: Annotated[str, option("--precision -p KIND", "int8 (fast), int4 (smaller) or float32.")] = "int8",
    like: Annotated[str | None, option("--like MODEL", "Take over the bytes of layers that are as in MODEL.")] = None,
    noise: Annotated[
        float, option("--noise N", "How far int8 numbers of what differs from MODEL may be off.", min=0.01)
    ] = 0.5,
    data: Annotated[Path | None, option("--data -d FILE", "Check on this set (default the examples).")] = None,
    limit: Annotated[int, option("--limit N", "Check on N questions, spread evenly over the set.", min=1)] = 1_000,
    check: Annotated[bool, option("--check/--no-check", "Whether to compare it with CHECKPOINT.")] = True,
) -> None:
    """Turn a checkpoint into a model that runs without torch.

    OUT holds graphs for onnxruntime, the phrases, the vocabulary and the
    model card; [bold]riseq simplify --system rise --model OUT[/], or [bold]riseq resolve[/], uses it. Then the same
    questions go through the checkpoint and through OUT: in float32 all texts
    must be the same, in int8 97 of 100, in int4 90; else the exit code is 1.

    A model that was learnt above MODEL (low_rank, keep_layers) is written as what
    differs from it: the larger --noise, the fewer bytes.

    \b
    [bold]Examples[/]
      riseq export runs/small/best models/small
      riseq export runs/small/best models/small --data canard/dev.qonly
      riseq export runs/fast/best models/fast --like default --noise 1
      riseq export runs/small/best models/small-float32 --precision float32
    """
    with needs_extra("train", "export"):
        from riseq.model.export import export as write

    # Read before the work begins, for a mistake should not wait for its end.
    examples = take_evenly(load_set_or_examples(data), limit) if check else []
    sizes = write(checkpoint, output, precision, like, noise)
    notify(f"wrote {sum(sizes.values()) / 1e6:,.1f} MB to {output}")
    if not check:
        return
    if not examples:
        notify("not checked: there are no example dialogues here; name a file of questions with --data")
        return
    from riseq.calibrate.export_check import check_export, show_agreement

    found = check_export(checkpoint, output, examples)
    show_agreement(open_console(), found)
    apart = [one.engine for one in found if not one.holds]
    if apart:
        notify(f"{' and '.join(apart)}: further from the checkpoint than asked; {output} should not be used")
        raise typer.Exit(FAILED)
