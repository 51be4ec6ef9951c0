"""A run's folder: new, or resumed, and never two runs in one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from riseq.train.loop import train
from riseq.train.settings import RiseSettings
from riseq.train.task import StepMeans
from riseq.train.tracking import Tracker, open_run
from riseq.types import InputError

Make = Callable[..., RiseSettings]


@pytest.mark.parametrize("name", ["log.csv", "scores.csv", "last", "best"])
def test_a_folder_with_a_run_is_refused_without_resume(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(InputError, match="holds a run already"):
        open_run(tmp_path, resume=False)
    open_run(tmp_path, resume=True)


def test_a_folder_with_other_things_is_fine_and_a_file_is_not(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    open_run(tmp_path, resume=False)
    open_run(tmp_path / "new", resume=False)
    with pytest.raises(InputError, match="is a file"):
        open_run(tmp_path / "notes.txt", resume=False)


def test_what_a_kill_left_is_cleared_and_the_older_state_comes_back(tmp_path: Path) -> None:
    for name in (".last.abc", ".best.xyz", ".last.old"):
        (tmp_path / name).mkdir()
    (tmp_path / ".last.old" / "progress.json").write_text("{}", encoding="utf-8")
    open_run(tmp_path, resume=True)
    assert [path.name for path in tmp_path.iterdir()] == ["last"]
    assert (tmp_path / "last" / "progress.json").is_file()


class Killed(Exception):
    pass


class Killer(Tracker):
    """Dies in the middle of the second epoch."""

    def step(self, step: int, means: StepMeans, elapsed: float) -> None:
        super().step(step, means, elapsed)
        if self.epoch == 1 and step >= 6:
            raise Killed


def test_a_run_killed_within_an_epoch_resumes_to_the_same_logs(make_settings: Make, tmp_path: Path) -> None:
    settings = make_settings(epochs=3)
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    train(settings, whole, tracker=Tracker(whole, every=1))
    with pytest.raises(Killed):
        train(settings, cut, tracker=Killer(cut, every=1))
    with pytest.raises(InputError, match="holds a run already"):
        train(settings, cut)
    resumed = train(settings, cut, resume=True, tracker=Tracker(cut, every=1))
    assert columns(cut / "log.csv") == columns(whole / "log.csv")
    assert (cut / "scores.csv").read_bytes() == (whole / "scores.csv").read_bytes()
    weights = [(folder / "best" / "network.safetensors").read_bytes() for folder in (whole, cut)]
    assert weights[0] == weights[1]
    assert train(settings, cut, resume=True).scores == resumed.scores, "a finished run resumes to its end"


class ScoreKiller(Tracker):
    def scores(self, epoch: int, scores: dict[str, dict[str, float]]) -> None:
        if epoch == 2:
            raise Killed
        super().scores(epoch, scores)


def test_an_epoch_that_is_being_scored_is_not_lost(make_settings: Make, tmp_path: Path) -> None:
    settings = make_settings(epochs=2, ema=0.9)
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    train(settings, whole, tracker=Tracker(whole, every=1))
    with pytest.raises(Killed):
        train(settings, cut, tracker=ScoreKiller(cut, every=1))
    trained = (cut / "log.csv").read_bytes()
    resumed = train(settings, cut, resume=True, tracker=Tracker(cut, every=1))
    assert (cut / "log.csv").read_bytes() == trained, "no step is taken again"
    assert (cut / "scores.csv").read_bytes() == (whole / "scores.csv").read_bytes()
    weights = [(folder / "best" / "network.safetensors").read_bytes() for folder in (whole, cut)]
    assert weights[0] == weights[1]
    assert train(settings, cut, resume=True).scores == resumed.scores


def columns(path: Path) -> list[list[str]]:
    """The columns that are no times."""
    return [line.split(",")[:5] for line in path.read_text(encoding="utf-8").splitlines()]


def test_resuming_where_nothing_is_starts(make_settings: Make, tmp_path: Path) -> None:
    result = train(make_settings(epochs=1), tmp_path / "new", resume=True)
    assert result.folder.is_dir()


def test_a_damaged_state_is_one_line(make_settings: Make, tmp_path: Path) -> None:
    train(make_settings(epochs=1), tmp_path / "run")
    (tmp_path / "run" / "last" / "state.safetensors").write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be read") as caught:
        train(make_settings(epochs=1), tmp_path / "run", resume=True)
    assert "\n" not in str(caught.value)


def test_more_workers_than_cores_are_refused(make_settings: Make, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="workers: 10000"):
        train(make_settings(workers=10_000), tmp_path / "run")
    assert not (tmp_path / "run").exists()
