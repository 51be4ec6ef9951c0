"""The options and arguments that several verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from riseq.systems.registry import SYSTEMS

Resume = Literal["auto", "none"]


def _complete_system(incomplete: str) -> list[tuple[str, str]]:
    return [(name, entry.about) for name, entry in SYSTEMS.items() if name.startswith(incomplete)]


SystemOption = Annotated[
    str,
    typer.Option(
        "--system",
        "-s",
        metavar="NAME",
        help=f"What simplifies: {', '.join(SYSTEMS)}, or FILE.py:CLASS of your own.",
        autocompletion=_complete_system,
    ),
]
ModelOption = Annotated[
    Path | None,
    typer.Option(
        "--model", "-m", metavar="MODEL", help="A model's folder, or its name on the Hugging Face hub (owner/name)."
    ),
]

ContextOption = Annotated[
    list[str] | None,
    typer.Option("--context", "-c", metavar="TEXT", help="An earlier utterance, oldest first; repeat it for each."),
]
StrengthOption = Annotated[
    float | None,
    typer.Option(
        "--strength", metavar="0..1", help="0 keeps the question, 0.5 is the model's own choice, 1 the shortest form."
    ),
]
ProtectOption = Annotated[
    list[str] | None,
    typer.Option("--protect", metavar="WORDS", help="Words that are never edited; repeat it for each."),
]
MaxPassesOption = Annotated[
    int | None, typer.Option("--max-passes", metavar="N", help="Edit in at most N passes; 3 where it is not said.")
]
NBestOption = Annotated[
    int | None,
    typer.Option("--n-best", metavar="K", help="Also give up to K forms of each question, from milder to stronger."),
]
ThreadsOption = Annotated[
    int | None, typer.Option("--threads", metavar="N", help="Use at most N cores; all of them where it is not said.")
]

Engine = Literal["local", "ray"]
EngineOption = Annotated[
    Engine, typer.Option("--engine", help="local is this process; ray a cluster (pip install 'riseq[scale]').")
]
AddressOption = Annotated[
    str | None,
    typer.Option("--address", metavar="HOST:PORT", help="The Ray cluster; a new one here where it is not said."),
]
WorkersOption = Annotated[
    int | None, typer.Option("--workers", metavar="N", help="With ray, N engines; as many as fit where it is not said.")
]
GpusOption = Annotated[
    float | None, typer.Option("--gpus", metavar="SHARE", help="With ray, how much of a GPU each worker has: 1, 0.25.")
]
BlockRowsOption = Annotated[
    int | None, typer.Option("--block-rows", metavar="N", help="With ray, rows of each file of results: 2048.")
]
FormatOption = Annotated[
    str | None, typer.Option("--format", metavar="NAME", help="With ray, parquet or jsonl; parquet where not said.")
]

SetArgument = Annotated[
    Path,
    typer.Argument(metavar="FILE", show_default=False, help="A file of questions, or a set's name under RISEQ_DATA."),
]
SkipBadOption = Annotated[bool, typer.Option("--skip-bad", help="Go on without rows that cannot be used.")]
