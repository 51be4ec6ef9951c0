"""The verbs that simplify: a question, every question of a file, and one question pass by pass."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from riseq.cli.options import (
    AddressOption,
    BlockRowsOption,
    ContextOption,
    EngineOption,
    FormatOption,
    GpusOption,
    MaxPassesOption,
    ModelOption,
    NBestOption,
    ProtectOption,
    StrengthOption,
    SystemOption,
    ThreadsOption,
    WorkersOption,
)
from riseq.cli.shared import Wishes, load_asked, open_console
from riseq.systems.registry import default_system_name
from riseq.types import InputError

DEFAULT_SYSTEM = default_system_name()


def simplify(
    source: Annotated[
        str,
        typer.Argument(
            metavar="INPUT",
            show_default=False,
            help="A question in quotes, a file of questions (.jsonl, .csv, .tsv, .parquet, .gz), or - for JSONL on "
            "standard input.",
        ),
    ],
    output: Annotated[
        str | None,  # as a Path, a URL would lose a slash
        typer.Argument(
            metavar="OUTPUT", show_default=False, help="The file to write; its suffix is its format. - is JSONL."
        ),
    ] = None,
    context: ContextOption = None,
    system: SystemOption = DEFAULT_SYSTEM,
    model: ModelOption = None,
    strength: StrengthOption = None,
    protect: ProtectOption = None,
    max_passes: MaxPassesOption = None,
    n_best: NBestOption = None,
    threads: ThreadsOption = None,
    show_edits: Annotated[bool, typer.Option("--show-edits", help="Show what was edited.")] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on where a run that was stopped or killed had come to, or start.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Do nothing where any row is bad.")] = False,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Take bad rows for granted: exit with 0 and not 3.")
    ] = False,
    engine: EngineOption = "local",
    address: AddressOption = None,
    workers: WorkersOption = None,
    gpus: GpusOption = None,
    block_rows: BlockRowsOption = None,
    form: FormatOption = None,
) -> None:
    """Make a question, or every question of a file, conversational.

    A file has the columns [bold]context[/] (a list of the earlier utterances, or of
    chat messages) and [bold]question[/], and may have [bold]id[/]. Without OUTPUT the
    results are listed on a terminal, and are JSONL in a pipe.

    OUTPUT appears when it is whole; until then finished rows are in
    OUTPUT.part, where [bold]--resume[/] goes on after a kill. Rows that cannot be
    used are left out; OUTPUT.bad.jsonl has them with line and reason. The
    exit code is 0, or 3 where rows were left out.

    With [bold]--engine ray[/] INPUT is a file, a folder or a pattern, OUTPUT a folder, on
    disk or by URL, and a pool of workers does it; see docs/scale.md.

    \b
    [bold]Examples[/]
      riseq simplify "When was Alien released?" -c "Who directed Alien?"
      riseq simplify dialogues.jsonl --show-edits
      riseq simplify dialogues.jsonl --strength 0.3 --protect "Ira Hayes"
      riseq simplify dialogues.csv results.parquet --resume
      cat dialogues.jsonl | riseq simplify - | jq -r .text
      riseq simplify "dialogues/*.parquet" results/ --engine ray --workers 8
    """
    from riseq.cli.files import STDOUT, Handling, simplify_file, simplify_stream
    from riseq.cli.scaling import Spread, simplify_folder
    from riseq.systems.questions import names_file

    wishes = Wishes(system, model, strength, protect, max_passes, n_best, threads)
    spread = Spread(address, workers, gpus, block_rows, form)
    if engine == "ray":
        if output is None or output == STDOUT or source == STDOUT or context or show_edits:
            raise InputError("--engine ray takes a file, a folder or a pattern, and a folder for the results")
        handling = Handling(skip_bad, strict)
        if code := simplify_folder(source, output, wishes, handling, spread, resume):
            raise typer.Exit(code)
        return
    spread.check_unset()
    if not names_file(source):
        if output is not None:
            raise InputError(f"OUTPUT {output!r} goes with a file; put a question in quotes")
        for name, wanted in (("resume", resume), ("strict", strict), ("skip-bad", skip_bad)):
            if wanted:
                raise InputError(f"--{name} goes with a file of questions; got the question {source!r}")
        _simplify_question(source, context or [], wishes, show_edits)
        return
    if context:
        raise InputError("--context goes with a question; a file has its own column 'context'")
    handling = Handling(skip_bad, strict)
    handling.check()
    if output is None or output == STDOUT:
        if resume:
            raise InputError("--resume goes with an OUTPUT file, beside which finished rows are kept")
        code = simplify_stream(source, wishes, handling, show_edits, as_json=output is not None)
    elif show_edits:
        raise InputError("--show-edits is for the terminal, without OUTPUT; a file always has the edits, as steps")
    else:
        code = simplify_file(source, Path(output), wishes, handling, resume)
    if code:
        raise typer.Exit(code)


def explain(
    question: Annotated[str, typer.Argument(metavar="QUESTION", show_default=False, help="A question in quotes.")],
    context: ContextOption = None,
    model: ModelOption = None,
    strength: StrengthOption = None,
    protect: ProtectOption = None,
    max_passes: MaxPassesOption = None,
    n_best: NBestOption = None,
) -> None:
    """Show how a question becomes conversational, pass by pass.

    Each pass has its edits in place, and below it how probable the model
    holds each of them.

    \b
    [bold]Examples[/]
      riseq explain "When was Alien released?" -c "Who directed Alien?"
      riseq explain "When was Alien released?" -c "Who directed Alien?" --strength 1
      riseq explain "When was Alien released?" -c "Who directed Alien?" --n-best 4
    """
    from riseq.systems.questions import ask
    from riseq.terminal.results import explain as show

    asked = ask(question, context or [])
    (result,) = load_asked(Wishes("rise", model, strength, protect, max_passes, n_best)).simplify([asked])
    show(open_console(), result)


def _simplify_question(question: str, context: list[str], wishes: Wishes, show_edits: bool) -> None:
    """Print the conversational form of one question, or all its forms, below its edits where they are wanted."""
    from riseq.systems.questions import ask

    asked = ask(question, context)
    (result,) = load_asked(wishes).simplify([asked])
    if show_edits:
        from riseq.terminal.results import show_edits as show

        show(open_console(), result)
    for one in result.alternatives or (result,):
        typer.echo(one.text)
