"""The engine for a model, whichever direction it was trained for."""

from pathlib import Path

from riseq.controls import MAX_PASSES
from riseq.engine.editor import Editor
from riseq.engine.resolver import Resolver
from riseq.engine.simplifier import Simplifier
from riseq.hub import MODEL_FOLDER, check_files, find_model
from riseq.model.folder import LAYOUT, read_config, read_direction
from riseq.types import Direction

ENGINES: dict[Direction, type[Editor]] = {one.direction: one for one in (Simplifier, Resolver)}


def load_engine(
    model: str | Path | None = None,
    *,
    threads: int | None = None,
    max_passes: int = MAX_PASSES,
    calibrated: bool = True,
) -> Editor:
    """Return the Simplifier or the Resolver for ``model``; the one for the model that ships where none is named."""
    found = Simplifier.find_default() if model is None else find_model(model)
    check_files(found, [LAYOUT.config], MODEL_FOLDER)
    engine = ENGINES[read_direction(read_config(found, {}))]
    return engine.load(found, threads=threads, max_passes=max_passes, calibrated=calibrated)
