"""Whether an exported model says what its checkpoint says: the same questions through torch and through onnxruntime."""

import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from riseq.engine.directions import load_engine
from riseq.metrics.scores import score
from riseq.terminal import track
from riseq.terminal.results import open_table
from riseq.types import Example, InputError

ASKED = {"float32": 1.0, "int8": 0.97, "int4": 0.9}
"""The share of questions that must come out with the checkpoint's own text, by precision."""
MAX_LOSS = 0.3
"""How much BLEU-4 may be lost where the questions have targets."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far one engine's texts are the checkpoint's own."""

    engine: str
    questions: int
    same: int
    asked: float
    bleu4: float | None
    """None where not every question has a target."""
    lost: float | None
    """BLEU-4 below the checkpoint's own."""

    @property
    def share(self) -> float:
        """The share of questions with the same text."""
        return self.same / self.questions

    @property
    def holds(self) -> bool:
        """Whether it is as near as was asked; of few questions, one may differ where not all are asked for."""
        allowed = 0 if self.asked == 1 else max(1, math.floor((1 - self.asked) * self.questions + 1e-9))
        return self.questions - self.same <= allowed and (self.lost is None or self.lost <= MAX_LOSS)


def check_export(checkpoint: Path, exported: Path, examples: Sequence[Example]) -> list[Agreement]:
    """Return how far onnxruntime's texts, in float32 and in the precision of ``exported``, are the checkpoint's."""
    from riseq.model.export import export
    from riseq.model.folder import load_exported

    if not examples:
        raise InputError("a parity check needs at least one example; got none")
    targets = [example.target for example in examples if example.target is not None]

    def run(folder: Path, engine: str) -> tuple[list[str], float | None]:
        results = track(load_engine(folder).batch(examples), len(examples), engine)
        texts = [result.text for result in results]
        return texts, score(texts, targets).bleu4 if len(targets) == len(examples) else None

    own, own_bleu = run(checkpoint, "torch float32")
    found = [Agreement("torch float32", len(own), len(own), 1.0, own_bleu, None)]
    precision = load_exported(exported).precision
    with tempfile.TemporaryDirectory(prefix="riseq-parity-") as work:
        folders = {precision: exported}
        if precision != "float32":
            export(checkpoint, Path(work) / "float32", "float32")
            folders = {"float32": Path(work) / "float32", **folders}
        for kind, folder in folders.items():
            texts, bleu = run(folder, f"onnxruntime {kind}")
            same = sum(mine == theirs for mine, theirs in zip(texts, own, strict=True))
            lost = None if bleu is None or own_bleu is None else own_bleu - bleu
            found.append(Agreement(f"onnxruntime {kind}", len(texts), same, ASKED[kind], bleu, lost))
    return found


def show_agreement(console: Console, found: Sequence[Agreement]) -> None:
    """Print one row an engine."""
    table = open_table(console, "engine", "n", "same text %", "asked %", "B-4", "lost")
    for one in found:
        bleu, lost = ("" if value is None else f"{value:.2f}" for value in (one.bleu4, one.lost))
        table.add_row(one.engine, f"{one.questions:,}", f"{100 * one.share:.1f}", f"{100 * one.asked:g}", bleu, lost)
    console.print(table)
