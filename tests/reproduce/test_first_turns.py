"""The rule that a question without a dialogue stays as it is: given to every system, or to none."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from riseq.cli import main
from riseq.data.dataset import load_dataset
from riseq.hub import find_default_model
from riseq.metrics.first_turns import FirstTurns, has_first_turns, keep_first_turns
from riseq.metrics.scores import score
from riseq.reproduce.document import Table
from riseq.reproduce.predict import PredictionJob, evaluate, import_outputs, save_outputs
from riseq.reproduce.report import build_report
from riseq.reproduce.scoreboard import Scoreboard
from riseq.systems.registry import load_system
from riseq.systems.saved import Manifest, SetFacts, Store
from riseq.types import Example, InputError, Simplification
from tiny_report import TEST, UNSEEN, make_store, write_data

FIRST = Example("first", (), "When was Alien released?", "When was Alien released?")
LATER = Example("later", ("Who directed Alien?",), "When was Alien released?", "When was it released?")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The sets of the report; CAsT-19 begins with a question that has no dialogue before it."""
    folder = write_data(tmp_path / "data")
    path = folder / f"{UNSEEN}.jsonl"
    row: dict[str, object] = {"id": FIRST.id, "context": [], "question": FIRST.question, "target": FIRST.target}
    path.write_text(json.dumps(row) + "\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setenv("RISEQ_DATA", str(folder))
    return folder


@pytest.fixture
def store(tmp_path: Path, root: Path) -> Store:
    """Outputs of which every system's first turn is wrong; RISE's by itself would be the question."""
    found = make_store(tmp_path / "store", root)
    for name in found.names():
        outputs = dict(found.read(name, UNSEEN) or {})
        found.write(name, UNSEEN, {**outputs, FIRST.id: ["When was it out?"] if name != "rise-small" else []})
    return found


def test_first_turns_are_found_and_kept() -> None:
    assert has_first_turns([LATER, FIRST])
    assert not has_first_turns([LATER])
    assert keep_first_turns([FIRST, LATER], ["a", "b"]) == [FIRST.question, "b"]


def test_the_rule_belongs_to_the_evaluation() -> None:
    class Shouter:
        name = "shouter"

        def simplify(self, examples: Iterable[Example]) -> Iterator[Simplification]:
            return (Simplification(one.question, "WHAT?") for one in examples)

    forms: dict[FirstTurns | None, list[str]] = {
        None: ["WHAT?"] * 2,
        "asked": ["WHAT?"] * 2,
        "kept": [FIRST.question, "WHAT?"],
    }
    for form, texts in forms.items():
        found = evaluate(Shouter(), [FIRST, LATER], form)
        assert [one.text for one in found.predictions] == texts
        assert found.scores == score(texts, [str(FIRST.target), str(LATER.target)])


@pytest.mark.skipif(find_default_model() is None, reason="no model ships with this checkout")
def test_rise_keeps_them_by_itself_and_its_network_can_be_asked(root: Path, tmp_path: Path) -> None:
    plain = evaluate(load_system("rise", grounded=False), [FIRST, LATER])
    assert plain.predictions[0].text == FIRST.question
    assert plain.predictions[0].probability is None
    assert plain.predictions[0].reason == "there is no dialogue before it"
    asked = evaluate(load_system("rise", grounded=False), [FIRST, LATER], "asked")
    assert asked.predictions[0].reason is None
    assert asked.predictions[0].probability is not None, "the network was asked"
    assert asked.predictions[1].text == plain.predictions[1].text

    store = Store(tmp_path / "asked")
    job = PredictionJob("rise-small", "rise", "riseq predict --first-turns asked", limit=2, first_turns="asked")
    save_outputs(store, job, [UNSEEN])
    manifest = store.read_manifest("rise-small")
    assert manifest is not None
    assert manifest.asks(UNSEEN)
    assert (store.read("rise-small", UNSEEN) or {})[FIRST.id] == tuple(step.text for step in asked.predictions[0].steps)
    assert save_outputs(store, replace(job, first_turns=None), [UNSEEN]) == [UNSEEN], "other outputs"


def test_saved_outputs_say_whether_the_system_was_asked(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    rule, rise = (store.read_manifest(name) for name in ("rule", "rise-small"))
    assert rule is not None
    assert rise is not None
    assert rule.asks(UNSEEN)
    assert not rise.asks(UNSEEN)
    assert "first_turns" not in rise.to_dict()["sets"][UNSEEN], "nothing is made up"
    facts = replace(rise.sets[UNSEEN], first_turns="asked")
    asked = Manifest.from_dict(json.loads(json.dumps(rise.with_set(UNSEEN, facts).to_dict())))
    assert asked.asks(UNSEEN)
    path = store.find("rise-small", UNSEEN)
    command = ["evaluate", "--system", "saved", "--model", str(path), "--data", UNSEEN, "--json", "--first-turns"]
    assert main([*command, "asked"]) == 2
    assert "questions without a dialogue were kept as they are, the system was not asked" in capsys.readouterr().err
    assert main([*command, "kept"]) == 0
    store.write_manifest(asked)
    assert main([*command, "asked"]) == 0


def test_the_report_has_both_forms_and_the_rule_is_given_to_all(store: Store, root: Path) -> None:
    board = Scoreboard(store, load=lambda name: load_dataset(name, root=root))
    targets = [str(one.target) for one in board.examples(UNSEEN)]
    kept, asked = board.texts("rule", UNSEEN), board.texts("rule", UNSEEN, first_turns="asked")
    assert kept is not None
    assert asked is not None
    assert (kept[0], asked[0]) == (FIRST.question, "When was it out?")
    assert kept[1:] == asked[1:]
    report = build_report(board, ["table1", "first-turns"])
    tables = {part.key: part for section in report.sections for part in section.parts if isinstance(part, Table)}
    both = {row.label: row.cells for row in tables["first-turns"].rows}
    overall = {row.label: row.cells for row in tables["overall"].rows}
    assert overall["Rule"][9].value == both["Rule"][3].value == pytest.approx(score(kept, targets).bleu4)
    assert both["Rule"][9].value == pytest.approx(score(asked, targets).bleu4)
    assert str(both["Rule"][3].command).endswith(f"--data {UNSEEN} --first-turns kept")
    assert str(both["Rule"][9].command).endswith(f"--data {UNSEEN} --first-turns asked")
    assert both["Rise-Small"][3].value is not None
    assert {cell.text for cell in both["Rise-Small"][6:]} == {"not saved"}
    assert str(both["Rise-Small"][6].command).endswith("--first-turns asked")
    assert "1 of the 7 questions" in tables["first-turns"].note
    assert board.rescore_command("rule", TEST).endswith(f"--data {TEST}")


def test_outputs_from_elsewhere_are_taken_as_asked(root: Path, tmp_path: Path) -> None:
    examples = load_dataset(UNSEEN, root=root)
    (tmp_path / "pred").mkdir()
    rows = [json.dumps({"id": one.id, "passes": ["What?"]}) for one in examples]
    (tmp_path / "pred" / "cast19.test.qonly.jsonl").write_text("\n".join(rows), encoding="utf-8")
    store = Store(tmp_path / "taken")
    into = str(store.folder / "ablation-rise-1")
    take = ["predict", "--system", "rise", "--take", str(tmp_path / "pred"), "--into", into]
    assert main([*take, "--first-turns", "asked", "--made-by", "benchmarks/train_terms.sh runs"]) == 0
    manifest = store.read_manifest("ablation-rise-1")
    assert manifest is not None
    assert manifest.sets[UNSEEN] == SetFacts(7, "benchmarks/train_terms.sh runs", first_turns="asked")
    job = PredictionJob("x", "rise", "x")
    with pytest.raises(InputError, match=r"expected some of .*canard\.test\.qa\.jsonl"):
        import_outputs(store, job, tmp_path)
    assert main([*take, "--trained-by", "the steps of recipes/ship.yaml, by hand"]) == 0
    noted = store.read_manifest("ablation-rise-1")
    assert noted is not None
    assert noted.training is not None
    assert noted.training.command == "the steps of recipes/ship.yaml, by hand"
