"""An exported model is set beside its checkpoint, question by question."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from riseq.calibrate.export_check import Agreement, check_export, show_agreement
from riseq.types import InputError
from tiny_model import export_tiny, make_examples


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.getbasetemp()


def test_a_float32_export_says_what_the_checkpoint_says(base: Path) -> None:
    checkpoint, exported = export_tiny(base, "bert", "float32")
    torch_row, onnx_row = check_export(checkpoint, exported, make_examples(30))
    assert (torch_row.engine, onnx_row.engine) == ("torch float32", "onnxruntime float32")
    assert onnx_row.same == onnx_row.questions == 30
    assert onnx_row.holds
    assert onnx_row.bleu4 is None, "the examples have no targets"


def test_targets_give_scores(base: Path) -> None:
    checkpoint, exported = export_tiny(base, "bert", "float32")
    examples = [replace(one, target=one.question) for one in make_examples(6)]
    torch_row, onnx_row = check_export(checkpoint, exported, examples)
    assert torch_row.bleu4 is not None
    assert onnx_row.bleu4 == pytest.approx(torch_row.bleu4)
    assert onnx_row.lost == pytest.approx(0)


def test_int8_is_compared_through_float32(base: Path) -> None:
    checkpoint, exported = export_tiny(base, "bert", "int8")
    rows = check_export(checkpoint, exported, make_examples(30))
    assert [row.engine for row in rows] == ["torch float32", "onnxruntime float32", "onnxruntime int8"]
    assert rows[1].holds
    assert rows[2].asked == 0.97
    assert rows[2].share > 0.5


def test_another_models_export_is_found_out(base: Path, tmp_path: Path) -> None:
    from riseq.model.checkpoint import load_checkpoint
    from tiny_model import save_tiny

    checkpoint, exported = export_tiny(base, "bert", "float32")
    other = load_checkpoint(checkpoint)
    other.network.edit_head.weight.data.neg_()
    changed = save_tiny(tmp_path / "other", other)
    row = check_export(changed, Path(shutil.copytree(exported, tmp_path / "copy")), make_examples(30))[-1]
    assert row.share < 0.7
    assert not row.holds


def test_no_examples_are_no_check(base: Path) -> None:
    checkpoint, exported = export_tiny(base, "bert", "float32")
    with pytest.raises(InputError, match="at least one example"):
        check_export(checkpoint, exported, [])


@pytest.mark.parametrize(
    ("questions", "same", "asked", "lost", "holds"),
    [
        (1000, 970, 0.97, None, True),
        (1000, 969, 0.97, None, False),
        (1000, 990, 0.97, 0.31, False),
        (1000, 990, 0.97, 0.3, True),
        (1000, 999, 1.0, None, False),
        (20, 19, 0.97, None, True),  # of few, one may differ
        (20, 18, 0.97, None, False),
        (20, 19, 1.0, None, False),
    ],
)
def test_how_near_is_near_enough(questions: int, same: int, asked: float, lost: float | None, holds: bool) -> None:
    assert Agreement("x", questions, same, asked, None, lost).holds is holds


def test_the_table_has_a_row_an_engine(capsys: pytest.CaptureFixture[str]) -> None:
    show_agreement(Console(width=100), [Agreement("onnxruntime int8", 1000, 985, 0.97, 75.125, 0.02)])
    printed = capsys.readouterr().out
    assert "onnxruntime int8" in printed
    assert "98.5" in printed
    assert "75.12" in printed
