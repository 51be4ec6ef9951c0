"""``riseq simplify``: a question, or every question of a file, made conversational; ``riseq resolve`` shares it."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from riseq import cli
from riseq.controls import Controls
from riseq.data.dialogue_file import read_dialogue, read_questions
from riseq.data.rows import RESULT_COLUMNS, BadRow, BadRows, find_kinds, flat_rows, result_row, sift
from riseq.data.tables import Outcomes, check_output, read_outcomes, write_rows
from riseq.extras import INSTALL
from riseq.files import STDOUT, check_apart, name_source
from riseq.jobs import Journal, digest, journal_path
from riseq.scale import Spread
from riseq.systems import RoundTripCheck, System
from riseq.systems.bulk import LARGEST_CHUNK, Simplified, simplify_rows
from riseq.systems.registry import SystemChoice
from riseq.systems.workers import Workers
from riseq.types import InputError, RoundTripMode

Dialogue = tuple[str, ...] | None
"""The dialogue that all questions of a file follow; None where each row has its own."""
_INPUT = "A question in quotes, a file (.jsonl, .json, .csv, .tsv, .parquet, .gz), or - for JSONL on standard input."
_EXTRA = INSTALL.format(extra="scale").replace("[", r"\[")  # or rich would take the bracket for markup
InputArgument = Annotated[str, cli.argument("INPUT", _INPUT)]
# As a Path, a URL would lose a slash.
OutputArgument = Annotated[str | None, cli.argument("OUTPUT", "The file to write; its suffix is its format.")]
ShowEditsOption = Annotated[bool, cli.option("--show-edits", "Show what was edited.")]
JsonOption = Annotated[bool, cli.option("--json", "Print JSON, an object a line, on a terminal too.")]
ResumeOption = Annotated[bool, cli.option("--resume", "Continue a run that was stopped or killed, or start.")]
StrictOption = Annotated[bool, cli.option("--strict", "Do nothing if any row is bad.")]
SkipOption = Annotated[bool, cli.option("--skip-bad", "Exit with 0, not 3, if bad rows were left out.")]
RoundTripOption = Annotated[
    RoundTripMode | None,
    cli.option("--round-trip require|prefer", "Say the shortest form that can be resolved again, if there is one."),
]
EngineOption = Annotated[Literal["local", "ray"], cli.option("--engine", f"local, or a Ray cluster ({_EXTRA}).")]


@cli.add_options(Controls, before="threads")
@cli.add_options(Spread)
def simplify(
    source: InputArgument,
    output: OutputArgument = None,
    context: cli.ContextOption = None,
    context_file: cli.ContextFileOption = None,
    system: cli.SystemOption = cli.DEFAULT_SYSTEM,
    model: cli.ModelOption = None,
    threads: cli.ThreadsOption = None,
    device: cli.DeviceOption = None,
    show_edits: ShowEditsOption = False,
    as_json: JsonOption = False,
    resume: ResumeOption = False,
    strict: StrictOption = False,
    skip_bad: SkipOption = False,
    engine: EngineOption = "local",
    round_trip: RoundTripOption = None,
    resolver: cli.ResolverOption = None,
    **options: Any,
) -> None:
    """Make a question, or every question of a file, conversational.

    A file has the columns [bold]question[/] and [bold]context[/] (a list of the earlier
    utterances, or of chat messages), or [bold]messages[/]; other columns are copied.
    Without OUTPUT the results are printed, as JSONL in a pipe.

    OUTPUT appears when it is complete; until then finished rows are in
    OUTPUT.part, and [bold]--resume[/] continues there. Rows that cannot be used
    are left out; OUTPUT.bad.jsonl lists them with line and reason. The exit
    code is 0, or 3 if rows were left out.

    With [bold]--context-file[/] all questions follow one dialogue, and INPUT may be a
    .txt file with a question a line.

    With [bold]--round-trip[/] each form of a question is resolved again, and the shortest is
    said that gives all its content words back. Where none does, [bold]require[/] leaves the
    question as it is and [bold]prefer[/] says what it would without; see docs/round-trip.md.

    With [bold]--engine ray[/] INPUT is a file, a folder or a pattern, OUTPUT a folder, on
    disk or by URL; see docs/scale.md.

    \b
    [bold]Examples[/]
      riseq simplify "When was Alien released?" -c "Who directed Alien?"
      riseq simplify dialogues.jsonl --show-edits
      riseq simplify dialogues.jsonl --strength 0.3 --protect "Ira Hayes"
      riseq simplify dialogues.csv results.parquet --resume
      riseq simplify questions.txt --context-file chat.json
      cat dialogues.jsonl | riseq simplify - | jq -r .text
      riseq simplify dialogues.jsonl out.jsonl --device cuda --workers 12
      riseq simplify "dialogues/*.parquet" results/ --engine ray --workers 8
    """
    back = cli.choose_resolver(round_trip, resolver)
    check = RoundTripCheck(back, round_trip) if back and round_trip else None
    choice = SystemChoice(system, model, cli.take_options(Controls, options), threads, device, check)
    place = Place(source, output, context, context_file, resume)
    edit_questions(place, choice, Handling(skip_bad, strict), Shown(show_edits, as_json), engine, options)


@dataclass(frozen=True, slots=True)
class Handling:
    """How bad rows are handled: left out, which the exit code shows unless ``skip``, or with ``strict`` an error."""

    skip: bool = False
    strict: bool = False

    def __post_init__(self) -> None:
        if self.skip and self.strict:
            raise InputError("--strict and --skip-bad contradict each other; expected one of them")

    def code(self, bad: int) -> int:
        """Return the exit code after ``bad`` rows were left out."""
        return cli.BAD_ROWS if bad and not self.skip else 0

    def report(self, written: int, bad: int, output: str, reasons: str) -> int:
        """Print how many rows went to ``output`` and how many did not, with ``reasons``; return the exit code."""
        cli.notify(f"wrote {cli.count(written, 'question')} to {output}")
        if bad:
            cli.notify(f"left out {cli.count(bad, 'bad row')} of {written + bad:,}; the reasons are in {reasons}")
        return self.code(bad)


@dataclass(frozen=True, slots=True)
class Place:
    """Where questions come from and where results go, as the command line has it."""

    source: str
    output: str | None = None
    context: Sequence[str] | None = None
    context_file: Path | None = None
    resume: bool = False


@dataclass(frozen=True, slots=True)
class Shown:
    """How results are printed that go to no file."""

    edits: bool = False
    as_json: bool = False

    def __post_init__(self) -> None:
        if self.edits and self.as_json:
            raise InputError("--show-edits and --json contradict each other; JSON has the edits, as steps")


def edit_questions(
    place: Place, choice: SystemChoice, handling: Handling, shown: Shown, engine: str, options: Mapping[str, Any]
) -> None:
    """Do what ``riseq simplify`` does with any system; exit with its code where that is not 0."""
    source, output, resume = place.source, place.output, place.resume
    spread = cli.take_options(Spread, options)
    if engine == "ray":
        single = place.context or place.context_file or shown != Shown()
        if output is None or output == STDOUT or source == STDOUT or single:
            raise InputError("--engine ray takes a file, a folder or a pattern, and a folder for the results")
        code = simplify_folder(source, output, choice, handling, spread, resume)
    else:
        spread.check_unset()
        spread.check(choice.threads)
        choice = replace(choice, workers=spread.workers or 1)
        if place.context and place.context_file:
            raise InputError("--context and --context-file contradict each other; expected one of them")
        dialogue = read_dialogue(place.context_file) if place.context_file else None
        if not cli.names_file(source):
            if output is not None:
                raise InputError(f"OUTPUT {output!r} goes with a file; put a question in quotes")
            given = ("resume", resume), ("strict", handling.strict), ("skip-bad", handling.skip)
            for name, wanted in (*given, ("workers", choice.workers > 1)):
                if wanted:
                    raise InputError(f"--{name} goes with a file of questions; got the question {source!r}")
            simplify_question(source, place.context or dialogue or [], choice, shown)
            return
        if place.context:
            raise InputError("--context goes with a question; a file has its own column 'context', or --context-file")
        if output is None or output == STDOUT:
            if resume:
                raise InputError("--resume goes with an OUTPUT file, beside which finished rows are kept")
            as_json = shown.as_json or output is not None
            code = simplify_stream(source, choice, handling, shown.edits, as_json, dialogue)
        elif shown != Shown():
            option = "--json" if shown.as_json else "--show-edits"
            raise InputError(f"{option} is for the terminal, without OUTPUT; a file always has the edits, as steps")
        else:
            code = simplify_file(source, Path(output), choice, handling, resume, dialogue)
    if code:
        raise typer.Exit(code)


def simplify_question(question: str, context: Sequence[str], choice: SystemChoice, shown: Shown) -> None:
    """Print what becomes of one question, or all its forms, with its edits above if wanted, or as JSON."""
    example = cli.make_example(question, context)
    (result,) = choice.load().simplify([example])
    if shown.as_json:
        typer.echo(json.dumps(result.to_dict(), ensure_ascii=False))
        return
    if shown.edits:
        from riseq.terminal.results import show_edits as show

        show(cli.open_console(), result)
    for one in result.alternatives or (result,):
        typer.echo(one.text)


def simplify_stream(
    source: str,
    choice: SystemChoice,
    handling: Handling,
    show_edits: bool = False,
    as_json: bool = False,
    dialogue: Dialogue = None,
) -> int:
    """Print the results of a file as they come, for people or as JSONL; return the exit code."""
    system, bad = choice.load(), 0
    if handling.strict and Path(source).is_file():
        _count_rows(source, dialogue, strict=True)

    def leave_out(row: BadRow) -> None:
        nonlocal bad
        if handling.strict:
            raise BadRows([row])
        bad += 1
        cli.notify(f"skipped {row}")

    results = sift(_simplify(source, dialogue, system), leave_out)
    if not as_json and (show_edits or sys.stdout.isatty()):
        from riseq.terminal.results import show

        console, written = cli.open_console(), 0
        for written, (record, result) in enumerate(results, 1):  # noqa: B007
            show(console, record.example, result)
    else:
        written = write_rows(STDOUT, (result_row(*one) for one in results))
    if bad:
        cli.notify(f"went on without {cli.count(bad, 'bad row')} of {bad + written:,}")
    return handling.code(bad)


def simplify_file(
    source: str,
    output: Path,
    choice: SystemChoice,
    handling: Handling,
    resume: bool = False,
    dialogue: Dialogue = None,
) -> int:
    """Write the results of a file to ``output``, which appears when the last one is there; return the exit code."""
    from riseq.terminal import track

    check_output(output)
    check_apart(source, output)
    again = Path(source).is_file()  # a pipe is read once
    if resume and not again:
        raise InputError(f"--resume goes with a file, which can be read again; got {source!r}")
    choice = choice.resolve()
    system = choice.load()
    # Read twice: the first time checks and counts the rows, so that none of them has to be held.
    total = _count_rows(source, dialogue, handling.strict) if again else None
    # What came through a pipe does not come again: nothing could go on with its rows.
    said = {} if dialogue is None else {"dialogue": sha256(json.dumps(dialogue).encode()).hexdigest()[:16]}
    settings = {"input": digest(Path(source)), **said, **choice.settings()} if again else {}
    with Journal(journal_path(output), settings, resume) as journal:
        before = journal.done
        if before:
            cli.notify(f"continuing after {cli.count(before, 'finished row')}")
        try:
            results = _simplify(source, dialogue, system, skip=before)
            # Closed, so that the bar is gone before anything else is printed.
            with closing(track(results, total, system.name, done=before, log=cli.notify)) as outcomes:
                for outcome in outcomes:
                    if not isinstance(outcome, BadRow):
                        journal.add({"result": result_row(*outcome)})
                    elif handling.strict:
                        raise BadRows([outcome])
                    else:
                        journal.add({"bad": outcome.to_row()})
            written, bad = _finish(journal, output)
        except (KeyboardInterrupt, InputError):
            if again and journal.done:
                kept = cli.count(journal.done, "finished row")
                cli.notify(f"{kept} kept in {journal.path}; the same command with --resume continues")
            raise
        journal.remove()
    return handling.report(written, bad, str(output), str(bad_rows_path(output)))


def simplify_folder(
    source: str, output: str, choice: SystemChoice, handling: Handling, spread: Spread, resume: bool = False
) -> int:
    """Write the results of the files that ``source`` stands for into the folder ``output``; return the exit code."""
    from riseq.scale.run import describe_worker, open_run
    from riseq.scale.storage import display_name
    from riseq.scale.workers import load_same, prepare
    from riseq.terminal import track

    if handling.strict:
        why = "which reads every row before it begins"
        raise InputError(f"--strict goes with one process, {why}; not with --engine ray")
    spread.check(choice.threads)
    choice = prepare(choice, spread.gpus)
    threads = choice.threads or 1
    settings = choice.resolve().settings()
    make_system = partial(load_same, choice, settings)
    shown = display_name(output)
    with open_run(source, output, make_system, settings, spread, threads, resume) as run:
        if run.done:
            cli.notify(f"continuing after {cli.count(run.done, 'finished row')}")
        if run.missing and not run.has_room:
            worker = describe_worker(threads, spread.gpus)
            cli.notify(f"no machine of the cluster has room for a worker with {worker} yet: waiting for one")
        try:
            rows, blocks = run.manifest.rows, run.results()
            progress = track(blocks, rows, choice.system, None, run.done, lambda one: one.block.rows, log=cli.notify)
            with closing(progress):
                for _ in progress:
                    pass
        except KeyboardInterrupt:
            cli.notify(f"finished blocks are kept in {shown}; the same command with --resume continues")
            raise
        manifest = run.finish()
    for failure in manifest.failures:
        cli.notify(f"{failure['block']}: {cli.count(failure['rows'], 'row')} not done: {failure['reason']}")
    code = handling.report(manifest.written, manifest.bad, shown, f"{shown}/_bad")
    if manifest.failures:
        cli.notify(f"{cli.count(len(manifest.failures), 'block')} not done; the same command with --resume tries again")
        return cli.INCOMPLETE
    return code


def bad_rows_path(output: Path) -> Path:
    """Return where the bad rows of the input that became ``output`` are listed."""
    return output.with_name(f"{output.name}.bad.jsonl")


def _read(source: str, dialogue: Dialogue) -> Outcomes:
    return read_outcomes(source) if dialogue is None else read_questions(source, dialogue)


def _count_rows(source: str, dialogue: Dialogue, strict: bool) -> int:
    """Read the file to its end before any work, and return how many rows it has; where ``strict`` none may be bad."""
    rows = _read(source, dialogue)
    return sum(1 for _ in (sift(rows, None) if strict else rows))


def _simplify(source: str, dialogue: Dialogue, system: System, skip: int = 0) -> Iterator[Simplified | BadRow]:
    largest = LARGEST_CHUNK if Path(source).is_file() else 1
    rows = islice(_read(source, dialogue), skip, None)
    if isinstance(system, Workers) and largest > 1:
        return system.simplify_rows(rows, name_source(source))
    return simplify_rows(system, rows, name_source(source), largest=largest)


def _finish(journal: Journal, output: Path) -> tuple[int, int]:
    """Make the output and the list of bad rows of a journal that has every row; return how many there are of each."""

    def select(kind: str) -> Iterator[dict[str, Any]]:
        entries: Iterator[dict[str, Any]] = journal.entries()
        found = (one for one in entries if kind in one)
        return ({"row": one["row"], **one[kind]} if kind == "bad" else one[kind] for one in found)

    aside, bad = bad_rows_path(output), 0
    if any(select("bad")):
        bad = write_rows(aside, select("bad"))
    else:
        aside.unlink(missing_ok=True)  # an older run's
    nested = output.name.lower().removesuffix(".gz").endswith((".jsonl", ".json"))
    if nested:
        return write_rows(output, select("result"), RESULT_COLUMNS), bad
    kinds = find_kinds(select("result"))
    return write_rows(output, flat_rows(select("result"), kinds), kinds), bad
