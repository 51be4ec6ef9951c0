"""A calibration on disk and at work between passes, with weights written by hand."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from riseq.engine.confidence import FEATURES, FILE, Calibration, Logistic, read_calibration
from riseq.engine.simplifier import Simplifier
from riseq.model.inputs import Batch
from riseq.types import InputError
from tiny_model import export_tiny, make_examples


def weigh(bias: float = 0.0, **weights: float) -> Logistic:
    return Logistic(bias, tuple(weights.get(name, 0.0) for name in FEATURES))


HAND = Calibration(
    right=weigh(0.2, odds=0.7, answers=0.1),
    again=weigh(-1.0),
    enough=0.0,
    later=0.0,
    sureness=0.0,
    alone=1.0,
    untouched=0.1,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_tiny(tmp_path_factory.getbasetemp(), "bert", "float32")[1]


def load(folder: Path, calibration: Calibration | None) -> Simplifier:
    engine = Simplifier.load(folder, threads=1)
    engine.calibration = calibration
    return engine


def write(folder: Path, told: Any) -> Path:
    (folder / FILE).write_text(told if isinstance(told, str) else json.dumps(told), encoding="utf-8")
    return folder


def test_it_comes_back_from_disk_as_it_was(tmp_path: Path) -> None:
    calibration = replace(HAND, network={"encoder.onnx": "abc"}, facts={"n": 3})
    assert read_calibration(tmp_path) is None
    assert read_calibration(write(tmp_path, calibration.to_dict()), {"encoder.onnx": "abc"}) == calibration


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ("{", "not usable JSON"),
        ("[]", "format None; this riseq reads 2"),
        ({"format": 1}, "format 1; this riseq reads 2"),
        ({**HAND.to_dict(), "enough": "much"}, "field 'enough': got 'much', expected a number"),
        ({**HAND.to_dict(), "later": float("nan")}, "field 'later': got nan, expected a number"),
        ({**HAND.to_dict(), "right": {"bias": 1}}, "field 'right': expected a number for bias and each of"),
        ({**HAND.to_dict(), "network": {"encoder.onnx": "other"}}, "fitted to another network; fit it again with"),
    ],
)
def test_a_damaged_file_is_told(tmp_path: Path, told: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_calibration(write(tmp_path, told), {"encoder.onnx": "mine"})


def test_a_logistic_is_finite_everywhere() -> None:
    model = weigh(0.0, odds=1.0)
    values = [model.rate([score if name == "odds" else 0.0 for name in FEATURES]) for score in (-1e4, 0, 1e4)]
    assert values == [0, 0.5, 1]


def test_every_result_has_a_confidence(folder: Path) -> None:
    engine = load(folder, HAND)
    for example in make_examples(30):
        result = engine(example.question, example.context, n_best=3)
        assert result.confidence is not None
        assert (result.confidence == 1.0) == (not example.context)
        assert all(0 <= (one.confidence or -1) <= 1 for one in result.alternatives)
    assert engine("Who was Ira Hayes?", ["A Marine."], strength=0).confidence == 0.1
    assert engine("Who was Ira Hayes?").confidence == 1.0


def test_below_min_confidence_a_milder_form_is_taken(folder: Path) -> None:
    engine = load(folder, HAND)
    asked = [one for one in make_examples(30) if one.context]
    plain = list(engine.batch(asked))
    middle = sorted(one.confidence or 0.0 for one in plain)[len(plain) // 2]
    strict = list(engine.batch(asked, min_confidence=middle))
    for before, after in zip(plain, strict, strict=True):
        if (before.confidence or 0) >= middle:
            assert after == before
        else:
            assert (after.reason or "").startswith("below min_confidence ")
            assert after.text == after.question or (after.confidence or 0) >= middle
    assert {one.reason is None for one in strict} == {True, False}
    assert all(one.text == one.question for one in load(folder, None).batch(asked, min_confidence=0.1))
    several = engine(asked[0].question, asked[0].context, min_confidence=1.0, n_best=20)
    assert several.text in [one.text for one in several.alternatives]
    assert type(several).from_dict(several.to_dict()) == several


def test_without_a_calibration_there_is_none(folder: Path) -> None:
    assert all(one.confidence is None for one in load(folder, None).batch(make_examples(10)))


def test_a_result_has_one_confidence_alone_and_in_company(folder: Path) -> None:
    engine = load(folder, HAND)
    examples = make_examples(30)
    alone = [engine(one.question, one.context).confidence for one in examples]
    assert [one.confidence for one in engine.batch(examples)] == pytest.approx(alone, abs=1e-4)


def count_readings(engine: Simplifier, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    readings, read = [0], engine.backend.score

    def count(batch: Batch) -> object:
        readings[0] += len(batch.ids_BL)
        return read(batch)

    monkeypatch.setattr(engine.backend, "score", count)
    texts = [result.text for result in engine.batch(make_examples(40))]
    return [*texts, str(readings[0])]


def test_passes_are_taken_where_they_seem_worth_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    *every, taken = count_readings(load(folder, HAND), monkeypatch)
    *first, least = count_readings(load(folder, replace(HAND, enough=0.9)), monkeypatch)
    some = replace(HAND, again=weigh(4.0, runs=-2.0), enough=0.5)
    *mixed, middle = count_readings(load(folder, some), monkeypatch)
    plain = load(folder, None)
    assert every == [result.text for result in plain.batch(make_examples(40))]
    assert first == [result.text for result in plain.batch(make_examples(40), max_passes=1)]
    assert int(least) < int(middle) < int(taken)
    for result, text in zip(plain.batch(make_examples(40)), mixed, strict=True):
        assert text in (result.question, *(step.text for step in result.steps))


def test_a_later_pass_has_to_be_surer(folder: Path) -> None:
    strict = load(folder, replace(HAND, later=50.0))
    once = load(folder, None).batch(make_examples(40), max_passes=1)
    assert [one.text for one in strict.batch(make_examples(40))] == [one.text for one in once]


def test_the_guard_can_be_switched_off(folder: Path) -> None:
    engine = load(folder, replace(HAND, sureness=50.0))
    examples = [one for one in make_examples(40) if one.context]
    context = ["A statement."]
    guarded = [engine(one.question, context, grounded=False).text for one in examples]
    free = [engine(one.question, context, grounded=False, guard=False).text for one in examples]
    assert free == [load(folder, None)(one.question, context, grounded=False).text for one in examples]
    assert sum(len(a) > len(b) for a, b in zip(guarded, free, strict=True)) > 10
    with pytest.raises(InputError, match="guard is 1, expected True or False"):
        engine("Why?", guard=1)  # type: ignore[arg-type]


def test_it_survives_a_pickle(folder: Path) -> None:
    assert pickle.loads(pickle.dumps(load(folder, HAND))).calibration == HAND


def test_a_model_is_loaded_with_its_calibration_or_without(folder: Path, tmp_path: Path) -> None:
    import shutil

    own = tmp_path / "model"
    shutil.copytree(folder, own)
    write(own, HAND.to_dict())
    assert Simplifier.load(own).calibration == HAND
    assert Simplifier.load(own, calibrated=False).calibration is None
    write(own, "{")
    assert Simplifier.load(own, calibrated=False)("Why?").text == "Why?"
    with pytest.raises(InputError, match="not usable JSON"):
        Simplifier.load(own)
