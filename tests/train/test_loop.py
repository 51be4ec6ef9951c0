from __future__ import annotations

import csv
import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
import torch

from killed import Killed, Killer
from riseq.model.checkpoint import Checkpoint, load_checkpoint
from riseq.model.network import RiseNetwork, computes_bfloat16
from riseq.train.actions import distance_of_states, unweighted_span
from riseq.train.corpus import start_states
from riseq.train.loop import TrainResult, train
from riseq.train.optimiser import set_rates
from riseq.train.processes import Processes
from riseq.train.rise import RiseTask
from riseq.train.settings import RiseSettings
from riseq.train.tracking import Tracker
from riseq.types import InputError
from tiny_model import save_tiny

Make = Callable[..., RiseSettings]


def run(settings: RiseSettings, out: Path, resume: bool = False) -> TrainResult:
    return train(settings, out, resume, Tracker(out, every=1))


def read_losses(out: Path) -> list[str]:
    with (out / "log.csv").open(encoding="utf-8") as f:
        return [row["loss"] for row in csv.DictReader(f)]


def test_training_learns_the_made_up_language(make_settings: Make, tmp_path: Path) -> None:
    result = run(make_settings(epochs=20, own_share=0.3), tmp_path)
    (scores,) = result.scores.values()
    assert scores["exact"] > 60  # copying the question scores 0 here
    assert load_checkpoint(result.folder).facts["epoch"] == result.best_epoch


def test_bfloat16_on_a_cpu_learns_as_float32_does(
    make_settings: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = make_settings(method="mle", device="cpu", bfloat16=True)
    with monkeypatch.context() as patched:
        patched.setattr("riseq.model.network.computes_bfloat16", lambda: False)
        with pytest.raises(InputError, match="bfloat16: this CPU has no instructions for it"):
            run(settings, tmp_path / "refused")
    if not computes_bfloat16():
        pytest.skip("this CPU has no instructions for bfloat16")
    run(settings, tmp_path / "half")
    run(replace(settings, bfloat16=False), tmp_path / "whole")
    half, whole = ([float(loss) for loss in read_losses(tmp_path / name)] for name in ("half", "whole"))
    assert half != whole
    assert half == pytest.approx(whole, rel=0.1)


@pytest.mark.parametrize(
    "changes",
    [
        {"method": "mle"},
        {"method": "epsilon", "reward_floor": None},
        {"sampler": "posterior", "reward_scale": "bounded"},
        {"ema": 0.9, "drop_answers": 0.5, "samples": 3},
        {"risk_epochs": 1, "risk_samples": 4},
        {"joint": True, "risk_epochs": 1, "risk_samples": 4},
        {"joint": True, "risk_epochs": 1, "risk_samples": 4, "risk_passes": 3, "micro_batches": 2},
        {"joint": True, "method": "epsilon", "above_nothing": True, "samples": 2, "reward_floor": None},
        {"frozen_epochs": 1, "decoder_input": "tokens", "layer_decay": 0.8},
        {"frozen_layers": 1, "frozen_decoder": True, "joint": True},
        {"micro_batches": 2},
        {"joint": True, "likelihood_epochs": 1, "beside": True, "own_share": 1.0},
        {"likelihood_epochs": 1, "risk_epochs": 1, "risk": "baseline", "stops": True},
    ],
    ids=str,
)
def test_every_switch_runs_and_moves_the_loss(make_settings: Make, tmp_path: Path, changes: dict[str, object]) -> None:
    run(make_settings(**changes), tmp_path)
    losses = read_losses(tmp_path)
    assert len(set(losses)) > 4
    assert all(float(loss) == float(loss) for loss in losses)


def test_edits_that_nothing_guides_leave_the_question_unchanged_no_longer(make_settings: Make, tmp_path: Path) -> None:
    unguided = {"method": "epsilon", "epsilon": 0.1, "above_nothing": True, "reward_floor": -0.1, "samples": 8}
    result = run(make_settings(joint=True, own_share=0.3, epochs=8, **unguided), tmp_path)
    (scores,) = result.scores.values()
    assert scores["bleu4"] > 48  # copying the question has 42.7


def test_the_same_seed_gives_the_same_losses_and_another_seed_others(make_settings: Make, tmp_path: Path) -> None:
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        run(make_settings(seed=seed), tmp_path / name)
    assert read_losses(tmp_path / "a") == read_losses(tmp_path / "b")
    assert read_losses(tmp_path / "a") != read_losses(tmp_path / "c")


def test_a_killed_run_resumes_to_the_same_result(make_settings: Make, tmp_path: Path) -> None:
    settings = make_settings(epochs=3, ema=0.9)
    whole = run(settings, tmp_path / "whole")

    with pytest.raises(Killed):
        train(settings, tmp_path / "cut", False, Killer(tmp_path / "cut", every=1))
    resumed = run(settings, tmp_path / "cut", resume=True)
    assert resumed.scores == whole.scores
    assert read_losses(tmp_path / "cut") == read_losses(tmp_path / "whole")


def test_every_so_many_steps_and_each_epochs_end_are_a_row(make_settings: Make, tmp_path: Path) -> None:
    train(make_settings(epochs=2, stop_share=0.0, own_share=0.0), tmp_path, tracker=Tracker(tmp_path, every=3))
    with (tmp_path / "log.csv").open(encoding="utf-8") as f:
        assert [row["step"] for row in csv.DictReader(f)] == ["3", "4", "6", "8"]


def test_the_rate_is_one_curve_over_epochs_of_other_lengths(
    make_settings: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares: list[float] = []
    steps: list[int] = []

    class Steps(Tracker):
        def start_epoch(self, epoch: int, epochs: int, count: int) -> None:
            steps.append(count)
            super().start_epoch(epoch, epochs, count)

    def keep(optimiser: object, share: float) -> None:
        shares.append(share)
        set_rates(optimiser, share)  # type: ignore[arg-type]

    monkeypatch.setattr("riseq.train.loop.set_rates", keep)
    settings = make_settings(epochs=3, own_share=1.0, stop_share=0.5, warmup_steps=3, batch=8)
    train(settings, tmp_path / "run", tracker=Steps(tmp_path / "run"))
    assert len(shares) == sum(steps)
    assert len(set(steps)) > 1, "the policy's own states make later epochs longer"
    assert shares[:3] == pytest.approx([1 / 3, 2 / 3, 1.0])
    assert all(later < earlier for earlier, later in pairwise(shares[2:]))
    assert shares[-1] == pytest.approx(0.05)


def test_resuming_with_other_settings_is_refused(make_settings: Make, tmp_path: Path) -> None:
    run(make_settings(epochs=1), tmp_path)
    with pytest.raises(InputError, match="other data, phrases or settings"):
        run(make_settings(epochs=1, lr=1e-5), tmp_path, resume=True)


def test_a_teacher_of_the_other_family_teaches(make_settings: Make, world: Path, tmp_path: Path) -> None:
    teacher = run(make_settings(backbone=str(world / "mpnet")), tmp_path / "teacher")
    taught = make_settings(teachers=(str(teacher.folder),), distill=0.5, epochs=1)
    run(taught, tmp_path / "pupil")
    run(make_settings(epochs=1), tmp_path / "alone")
    assert read_losses(tmp_path / "pupil") != read_losses(tmp_path / "alone")


def test_states_of_a_teacher_are_imitated(make_settings: Make, tmp_path: Path) -> None:
    teacher = run(make_settings(), tmp_path / "teacher").folder
    distilled = make_settings(teachers=(str(teacher),), distill=0.5, epochs=1, seed=2)
    distances = []
    for name, settings in (("distilled", distilled), ("imitating", replace(distilled, imitate=10.0))):
        pupil = run(settings, tmp_path / name).folder
        assert all(math.isfinite(float(loss)) for loss in read_losses(tmp_path / name))
        distances.append(find_distance(RiseTask(replace(settings, start=str(pupil)), Processes())))
    assert distances[1] < 0.8 * distances[0]


@torch.no_grad()
def find_distance(task: RiseTask) -> float:
    """Return how far the network's states of the training questions are from the teacher's, a mean."""
    batch = task.policy.collate(start_states(task.corpus), task.corpus)
    inputs, spans = task.policy.send(batch), task.policy.send_spans(unweighted_span(batch))
    assert task.teacher is not None
    taught = task.teacher.teach(inputs, spans)
    encoded = task.network.eval().encode(inputs)
    return float(distance_of_states(encoded, taught.states_BLD, inputs.mask_BL)) / len(encoded)


def test_states_of_another_size_or_of_other_pieces_are_not_imitated(
    make_settings: Make, world: Path, tmp_path: Path
) -> None:
    mpnet, bert = (RiseTask(make_settings(backbone=str(world / name)), Processes()) for name in ("mpnet", "bert"))
    config = replace(bert.network.config, backbone=replace(bert.network.config.backbone, hidden=16))
    narrow = RiseNetwork(config, bert.network.cls_id)
    teachers = {}
    for name, network, lexicon in (("narrow", narrow, bert.lexicon), ("mpnet", mpnet.network, mpnet.lexicon)):
        checkpoint = Checkpoint(network, lexicon.phrases, lexicon.pieces, {})
        teachers[name] = str(save_tiny(tmp_path / name, checkpoint))
    same = str(save_tiny(tmp_path / "same", Checkpoint(bert.network, bert.lexicon.phrases, bert.lexicon.pieces, {})))
    for name, message in (
        ("narrow", "narrow: its states are of size 16, the run's 32; imitate needs the same"),
        ("mpnet", "mpnet: its pieces are not the run's; imitate needs a teacher that reads the same"),
    ):
        taught = make_settings(teachers=(teachers[name], same), distill=0.5, imitate=1.0)
        with pytest.raises(InputError, match=f"{message}$") as caught:
            RiseTask(taught, Processes())
        assert "\n" not in str(caught.value)
        RiseTask(replace(taught, imitate=0.0), Processes())
        RiseTask(replace(taught, teachers=taught.teachers[::-1]), Processes())  # only the first one's are
