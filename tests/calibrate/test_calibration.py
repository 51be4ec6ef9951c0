"""A tiny network fitted to targets that follow from its own first pass."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from riseq.calibrate.calibration import COST, FOLDS, MARGINS, SAME, STAYS, calibrate, find_fold
from riseq.cli import main
from riseq.data.dataset import load_dataset
from riseq.engine.confidence import FILE, read_calibration
from riseq.engine.resolver import Resolver
from riseq.engine.simplifier import Simplifier
from riseq.files import write_json
from riseq.metrics.behaviour import Case
from riseq.types import Example, InputError
from tiny_model import export_tiny, make_examples
from tiny_resolver import export_tiny_resolver, make_rows


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_tiny(tmp_path_factory.getbasetemp(), "bert", "int8")[1]


@pytest.fixture(scope="module")
def engine(folder: Path) -> Simplifier:
    return Simplifier.load(folder, threads=1)


@pytest.fixture(scope="module")
def examples(engine: Simplifier) -> list[Example]:
    """Two turns a dialogue; a person agrees with the first pass wherever the network is rather sure of it."""
    asked = [one for one in make_examples(110) if one.context]
    made = list(engine.batch(asked, max_passes=1))
    middle = sorted(result.probability or 0.0 for result in made)[len(made) // 2]
    rows = []
    for number, (one, result) in enumerate(zip(asked, made, strict=True)):
        sure = (result.probability or 0.0) > middle
        target = result.text if sure else f"{one.question} indeed"
        rows.append(Example(f"d{number // 2}-{number % 2}", one.context, one.question, target))
    return rows


def test_the_fit_finds_out_when_the_network_is_right(engine: Simplifier, examples: list[Example]) -> None:
    cases = [Case(one, (one.target or "",)) for one in examples]
    sets = {"one": cases[:60], "two": cases[60:]}
    found = calibrate(engine, sets, {"encoder.onnx": "abc"})
    assert set(found.reliability) == {"all", "one", "two"}
    assert found.reliability["all"].discrimination > 0.8
    assert found.reliability["all"].error < 0.15
    assert sum(found.reliability["all"].counts) == len(examples)
    assert found.calibration.network == {"encoder.onnx": "abc"}
    assert found.calibration.facts["passes"]["same"] >= SAME
    assert 0 <= found.calibration.facts["passes"]["saved"] <= 1

    fitted = Simplifier(engine.backend, engine.pieces, engine.phrasing, calibration=found.calibration)
    results = list(fitted.batch(examples))
    right = np.array([result.text == one.target for result, one in zip(results, examples, strict=True)])
    confidence = np.array([result.confidence for result in results])
    assert confidence[right].mean() > confidence[~right].mean() + 0.2


def test_everyday_cases_say_what_is_right_and_targets_when_to_stop(engine: Simplifier, examples: list[Example]) -> None:
    everyday = [Case(one, (one.target or "", one.question), "everyday") for one in examples[:60]]
    plain = [Case(one, (one.target or "",)) for one in examples[60:]]
    found = calibrate(engine, {"suite": everyday, "dev": plain})
    assert set(found.reliability) == {"all", "suite"}
    assert sum(found.reliability["all"].counts) == len(everyday), "the usual way alone is shown"
    assert {row["set"] for row in found.calibration.facts["later"]} == {"dev"}
    assert found.calibration.facts["passes"]["second_passes_before"] > 120, (
        "both say when another pass changes something, asked grounded and not"
    )
    assert found.calibration.untouched == 1.0, "every question may stay as it is here"


def test_a_resolver_is_fitted_to_sets_read_backwards(tmp_path_factory: pytest.TempPathFactory) -> None:
    resolver = Resolver.load(export_tiny_resolver(tmp_path_factory.getbasetemp(), "float32")[1], threads=1)
    pairs = [Example(row["id"], tuple(row["context"]), row["target"], row["question"]) for row in make_rows()]
    wrong = [replace(one, target="Who was Frank Zappa?") for one in pairs[::3]]
    cases = [Case(one, (one.target or "",), "back", resolves=True) for one in (*pairs, *wrong)]
    found = calibrate(resolver, {"back": cases})
    assert found.calibration.facts["sureness"] == [], "the guard is for simplifying"
    tried, margin = found.calibration.facts["margin"], found.calibration.margin
    chosen = next(row for row in tried if row["margin"] == margin)
    assert max(row["bleu4"] for row in tried) - chosen["bleu4"] <= COST
    assert [row["margin"] for row in tried] == list(MARGINS)
    assert found.calibration.to_dict()["margin"] == margin
    complete = [replace(case, example=replace(case.example, question=case.gold[0])) for case in cases]
    short = [case for case in cases if "about" in case.example.question]
    complete += [replace(case, gold=(case.example.question,)) for case in short[::3]]
    both = calibrate(resolver, {"back": cases, "complete": complete})
    assert both.calibration.needs is not None
    assert 0 < both.calibration.needed < 1
    stayed = both.calibration.facts["complete"]["unchanged"]
    assert stayed["complete"] >= STAYS
    saved = tmp_path_factory.mktemp("model")
    write_json(saved / FILE, both.calibration.to_dict())
    assert read_calibration(saved) == replace(both.calibration, network=None)
    assert found.reliability["all"].discrimination > 0.5
    fitted = Resolver(resolver.backend, resolver.pieces, resolver.phrasing, calibration=found.calibration)
    assert all(0 < (result.confidence or 0) < 1 for result in fitted.batch(pairs[:20]))
    careful = replace(found.calibration, margin=50.0)
    unsure = Resolver(resolver.backend, resolver.pieces, resolver.phrasing, calibration=careful)
    assert not any(result.changed for result in unsure.batch(pairs[:20]))
    with pytest.raises(InputError, match="not the direction of the model, which is to resolve questions"):
        calibrate(resolver, {"forth": [replace(case, resolves=False) for case in cases]})


def test_a_few_questions_are_too_few(engine: Simplifier, examples: list[Example]) -> None:
    with pytest.raises(InputError, match="at least 50 questions"):
        calibrate(engine, {"few": [Case(one, ("",)) for one in examples[:20]]})


def test_a_dialogue_is_in_one_fold_whatever_its_turns_are_called() -> None:
    names = ("canard-dev-C_{d}_0-{t}", "{d}_{t}", "coqar-{d}-{t}-1", "gecor-{t}{d}-ellipsis", "row-{t}{d}")
    for name in names:
        turns = [
            Example(name.format(d=d, t=t), tuple(f"Utterance {k} of {d}." for k in range(t)), f"Utterance {t} of {d}.")
            for d in range(40)
            for t in range(5)
        ]
        folds = [find_fold(turn) for turn in turns]
        assert all(len(set(folds[at : at + 5])) == 1 for at in range(0, len(folds), 5)), name
        assert len(set(folds)) == FOLDS


@pytest.mark.parametrize(
    ("dataset", "turn"),
    [
        ("canard/dev.qonly", r"-\d+$"),
        ("canard/dev.qa", r"-\d+$"),
        ("cast19/test.qonly", r"_\d+$"),
        ("qrecc/extra_train.qonly", r"-\d+$"),
        ("more/coqar_sample.qa", r"-\d+-\d+$"),
    ],
)
def test_the_dialogues_of_the_data_sets_are_each_in_one_fold(data_dir: Path, dataset: str, turn: str) -> None:
    folds: dict[str, set[int]] = {}
    for example in load_dataset(dataset, root=data_dir):
        if example.context:  # one without is not fitted to
            folds.setdefault(re.sub(turn, "", example.id), set()).add(find_fold(example))
    assert {len(found) for found in folds.values()} == {1}
    assert set.union(*folds.values()) == set(range(FOLDS))


def test_rows_that_are_dialogues_of_their_own_are_spread(data_dir: Path) -> None:
    """Its ids are rows' numbers, which say nothing of a dialogue."""
    folds = [find_fold(example) for example in load_dataset("more/followup_train.qonly", root=data_dir)]
    assert all(100 < folds.count(fold) < 220 for fold in range(FOLDS))


def test_the_command_writes_beside_the_model(
    folder: Path, examples: list[Example], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import shutil

    pytest.importorskip("matplotlib")
    model, data, report = tmp_path / "model", tmp_path / "dev.jsonl", tmp_path / "report"
    shutil.copytree(folder, model)
    rows = [
        {"id": one.id, "context": one.context, "question": one.question, "target": one.target} for one in examples[:55]
    ]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    arguments = ["calibrate", str(model), "--data", str(data), "--report", str(report), "--threads", "1"]
    assert main(arguments) == 0
    assert "ECE" in capsys.readouterr().out
    assert read_calibration(model) is not None
    assert {path.name for path in report.iterdir()} == {"calibration.json", "reliability.png"}
    assert not list(model.glob(".riseq-*"))
    assert Simplifier.load(model)(examples[0].question, examples[0].context).confidence is not None

    written = (model / FILE).read_bytes()
    (model / FILE).write_text("{", encoding="utf-8")
    assert main(arguments[:4]) == 0, "a damaged one is made anew"
    assert (model / FILE).read_bytes() == written, "the same data gives the same fit"
    assert main(["passes", str(data), "--model", str(model), "--most", "2"]) == 0
    assert "worse" in capsys.readouterr().out
    assert main(["calibrate", str(tmp_path), "--data", str(data)]) == 2
