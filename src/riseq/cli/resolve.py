"""``riseq resolve``: a question, or every question of a file, made self-contained."""

from typing import Any

from riseq import cli
from riseq.cli import simplify as shared
from riseq.controls import Controls
from riseq.scale import Spread
from riseq.systems.registry import SystemChoice


@cli.add_options(Controls, before="threads", direction="resolve")
@cli.add_options(Spread)
def resolve(
    source: shared.InputArgument,
    output: shared.OutputArgument = None,
    context: cli.ContextOption = None,
    context_file: cli.ContextFileOption = None,
    model: cli.ResolveModelOption = None,
    threads: cli.ThreadsOption = None,
    device: cli.DeviceOption = None,
    show_edits: shared.ShowEditsOption = False,
    as_json: shared.JsonOption = False,
    resume: shared.ResumeOption = False,
    strict: shared.StrictOption = False,
    skip_bad: shared.SkipOption = False,
    engine: shared.EngineOption = "local",
    **options: Any,
) -> None:
    """Make a question, or every question of a file, self-contained.

    The way back from [bold]riseq simplify[/]: what the dialogue makes clear is said
    again, as a search engine needs it. A question that says everything stays
    as it is, and so do greetings, answers and other languages. Files are read
    and written as [bold]riseq simplify[/] does.

    \b
    [bold]Examples[/]
      riseq resolve "When was it released?" -c "Who directed Alien?"
      riseq resolve "When was it released?" -c "Who directed Alien?" --json
      riseq resolve dialogues.jsonl resolved.jsonl --resume
      cat dialogues.jsonl | riseq resolve - | jq -r .text
    """
    choice = SystemChoice("resolve", model, cli.take_options(Controls, options), threads, device)
    place = shared.Place(source, output, context, context_file, resume)
    handling, shown = shared.Handling(skip_bad, strict), shared.Shown(show_edits, as_json)
    shared.edit_questions(place, choice, handling, shown, engine, options)
