"""What ships from one recipe: trainings that build on each other, then exports that are calibrated and scored.

A recipe of stages names them in the order in which they run. ``{NAME}`` in a stage stands for what an earlier one made.
Each has a folder of its own, and ``stage.json`` there once it is done: a run that was stopped goes on where it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from riseq.extras import needs_extra
from riseq.files import write_json
from riseq.model.folder import read_json
from riseq.types import InputError

DONE = "stage.json"
KEYS = {"train": {"recipe", "set"}, "export": {"export", "precision", "like", "noise", "calibrate", "score"}}


@dataclass(frozen=True, slots=True)
class Stage:
    """One training or one export."""

    name: str
    values: Mapping[str, Any]

    @property
    def kind(self) -> str:
        """What it does: train or export."""
        return "train" if "recipe" in self.values else "export"

    def find_product(self, out: Path) -> Path:
        """Return the folder of the model that it makes under ``out``."""
        return out / self.name / "best" if self.kind == "train" else out / self.name


def read_stages(path: str | Path) -> list[Stage] | None:
    """Return the stages of a recipe, all their names checked; None where the recipe is one training's."""
    path = Path(path)
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return None  # told by whoever reads the recipe
    if not isinstance(values, dict) or "stages" not in values:
        return None
    if not isinstance(values["stages"], dict) or len(values) > 1:
        raise InputError(f"{path}: expected the one key stages, with a name and what to do for each")
    stages: list[Stage] = []
    for name, said in values["stages"].items():
        where = f"{path}, stage {name!r}"
        if not isinstance(said, dict) or ("recipe" in said) == ("export" in said):
            raise InputError(f"{where}: expected a recipe to train by, or an export of an earlier stage")
        stage = Stage(str(name), said)
        if unknown := sorted(set(said) - KEYS[stage.kind]):
            known = ", ".join(sorted(KEYS[stage.kind]))
            raise InputError(f"{where}: no key is called {unknown[0]!r}; expected {known}")
        _fill(said, {one.name: "" for one in stages}, where)
        if stage.kind == "train" and not (path.parent / str(said["recipe"])).is_file():
            raise InputError(f"{where}: no recipe {said['recipe']} beside it")
        stages.append(stage)
    return stages


def run_stages(recipe: str | Path, out: str | Path, changes: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """Run the stages of ``recipe`` that are not done yet and yield what each made; ``changes`` are all trainings'."""
    stages, out = read_stages(recipe), Path(out)
    if stages is None:
        raise InputError(f"{recipe}: no stages in it")
    made: dict[str, str] = {}
    for stage in stages:
        done = out / stage.name / DONE
        values = _fill(stage.values, made, f"{recipe}, stage {stage.name!r}")
        asked = {"stage": stage.name, **values, "changes": list(changes)}
        found = read_json(done) if done.is_file() else None
        if found is not None and found["asked"] != asked:
            raise InputError(f"{done.parent}: this stage was run otherwise; move it away or take another folder")
        if found is None:
            run = _train if stage.kind == "train" else _export
            found = {"asked": asked, "made": run(values, Path(recipe).parent, out / stage.name, changes)}
            write_json(done, found)
        made[stage.name] = str(stage.find_product(out))
        yield {"stage": stage.name, **found["made"]}


def _fill(value: Any, made: Mapping[str, str], where: str) -> Any:
    """Return ``value`` with each ``{NAME}`` in its texts replaced by the folder that was made under that name."""
    if isinstance(value, Mapping):
        return {name: _fill(one, made, where) for name, one in value.items()}
    if isinstance(value, list):
        return [_fill(one, made, where) for one in value]
    if not isinstance(value, str) or not (value.startswith("{") and value.endswith("}")):
        return value
    if value[1:-1] not in made:
        raise InputError(f"{where}: {value} is no earlier stage; expected one of {', '.join(made) or 'none'}")
    return made[value[1:-1]]


def _train(values: Mapping[str, Any], recipes: Path, folder: Path, changes: Sequence[str]) -> dict[str, Any]:
    with needs_extra("train", "train"):
        from riseq.train.loop import train
        from riseq.train.settings import parse_override, read_recipe
    overrides = {**values.get("set", {}), **dict(parse_override(text) for text in changes)}
    result = train(read_recipe(recipes / values["recipe"], overrides), folder, resume=folder.is_dir())
    return result.to_dict()


def _export(values: Mapping[str, Any], recipes: Path, folder: Path, changes: Sequence[str]) -> dict[str, Any]:  # noqa: ARG001
    with needs_extra("train", "export"):
        from riseq.model.export import export
    from riseq.calibrate.calibration import calibrate
    from riseq.engine.confidence import FILE
    from riseq.engine.directions import load_engine
    from riseq.metrics.behaviour import load_cases, load_scored
    from riseq.metrics.scores import score
    from riseq.model.folder import load_exported

    asked = {name: values[name] for name in ("precision", "like", "noise") if name in values}
    sizes = export(values["export"], folder, **asked)
    if names := values.get("calibrate"):
        sets = {name: load_cases(name) for name in names}
        fitted = calibrate(load_engine(folder, calibrated=False), sets, load_exported(folder).config["checksums"])
        write_json(folder / FILE, fitted.calibration.to_dict())
    engine, scores = load_engine(folder), {}
    for name in values.get("score", ()):
        examples = load_scored(name, need_target=True)
        texts = [result.text for result in engine.batch(examples)]
        scores[name] = score(texts, [example.target or "" for example in examples]).as_dict()
    return {"model": str(folder), "bytes": sum(sizes.values()), "scores": scores}
