"""The exported graphs say what the network says, and the folder holds together."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from torch import nn

from riseq.cli import main
from riseq.engine.backends.onnx_runtime import OnnxBackend
from riseq.engine.backends.pytorch import TorchBackend
from riseq.engine.drafts import gather, start
from riseq.files import checksum
from riseq.model import folder as model_folder
from riseq.model.card import make_metadata, read_metadata, replace_metadata
from riseq.model.checkpoint import load_checkpoint, save_checkpoint
from riseq.model.export import export
from riseq.model.folder import LAYOUT, load_exported, save_folder
from riseq.model.inputs import Batch, SpanBatch, find_spans
from riseq.model.quantisation import ByteEmbedding
from riseq.types import InputError
from tiny_model import CARD, PHRASES, Family, export_tiny, make_checkpoint, make_examples, make_pieces, save_tiny


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.getbasetemp()


def make_batch(family: Family, count: int = 12) -> Batch:
    pieces = make_pieces(family)
    drafts = [start(one.question, one.context, pieces, 512) for one in make_examples(count)]
    return gather(drafts, pieces)


@pytest.mark.parametrize("family", ["bert", "mpnet"])
def test_float32_scores_are_the_networks(base: Path, family: Family) -> None:
    checkpoint, folder = export_tiny(base, family, "float32")
    batch = make_batch(family)
    assert len(set(batch.lengths_B.tolist())) > 5, "rows of one length would not try the padding"
    mine = OnnxBackend(load_exported(folder), folder).score(batch)
    theirs = TorchBackend(load_checkpoint(checkpoint).network).score(batch)
    real = batch.real_BW[:, :-1]
    np.testing.assert_allclose(mine.edits_BWE[real], theirs.edits_BWE[real], atol=1e-4)
    spans = find_spans(batch, theirs.edits_BWE.argmax(-1))
    assert len(spans.row_N) > 10
    np.testing.assert_allclose(mine.score_phrases(spans), theirs.score_phrases(spans), atol=1e-4)


@pytest.mark.parametrize("family", ["bert", "mpnet"])
def test_some_rows_and_a_span_longer_than_the_decoder_reads(base: Path, family: Family) -> None:
    checkpoint, folder = export_tiny(base, family, "float32")
    batch = make_batch(family)
    longest = int(batch.lengths_B.argmax())
    end = int(batch.lengths_B[longest])
    rows, starts, ends = [longest, 2, longest], [1, 1, end - 1], [end, 3, end]
    spans = SpanBatch(*(np.array(column) for column in (rows, [0, 0, 0], starts, ends)))
    assert end > 20
    mine = OnnxBackend(load_exported(folder), folder).score(batch).score_phrases(spans)
    theirs = TorchBackend(load_checkpoint(checkpoint).network).score(batch).score_phrases(spans)
    np.testing.assert_allclose(mine, theirs, atol=1e-4)


def test_int8_scores_are_near_the_networks(base: Path) -> None:
    checkpoint, folder = export_tiny(base, "bert", "int8")
    batch = make_batch("bert")
    mine = OnnxBackend(load_exported(folder), folder).score(batch)
    theirs = TorchBackend(load_checkpoint(checkpoint).network).score(batch)
    real = batch.real_BW[:, :-1]
    assert np.abs(np.exp(mine.edits_BWE[real]) - np.exp(theirs.edits_BWE[real])).mean() < 0.03


def test_int8_keeps_no_matrix_in_float32_but_the_small_ones(base: Path) -> None:
    _, folder = export_tiny(base, "bert", "int8")
    for name in (LAYOUT.encoder, LAYOUT.phraser):
        weights = onnx.load(folder / name).graph.initializer
        wide = [tuple(weight.dims) for weight in weights if weight.data_type == onnx.TensorProto.FLOAT]
        # The edit head and the scales of pieces and positions; a table of pieces or a layer's matrix has 32 columns.
        scales = {(len(make_pieces("bert")), 1), (512, 1)}
        assert {shape for shape in wide if len(shape) == 2} <= {(2, 32), (32, 4), (16, 32), *scales}


def test_the_folder_carries_card_phrases_vocabulary_and_facts(base: Path) -> None:
    _, folder = export_tiny(base, "bert", "float32")
    assert (folder / LAYOUT.card).read_text(encoding="utf-8").endswith(f"---\n{CARD}")
    exported = load_exported(folder)
    assert exported.phrases == PHRASES
    assert exported.pieces.vocabulary == make_pieces("bert").vocabulary
    assert (exported.max_pieces, exported.span_pieces, exported.precision) == (512, 15, "float32")
    assert exported.config["epoch"] == 3
    assert not list(base.glob(".tiny*")), "no half-written folder stays behind"


def test_the_card_says_that_it_is_an_export_and_keeps_what_a_person_wrote(tmp_path: Path) -> None:
    scores = {"canard/dev.qonly": {"bleu4": 76.5}}
    facts = {"settings": {"backbone": "thenlper/gte-small", "train": ["canard/train.qonly"]}, "scores": scores}
    shown = [(["Who?"], "Why is it so?", "Why?")]
    trained = make_metadata(facts, shown=shown) | {"license": "mit", "tags": ["mine", "dialogue"], "since": "2026"}
    checkpoint, folder = tmp_path / "best", tmp_path / "small"
    save_checkpoint(checkpoint, replace(make_checkpoint("bert"), facts=facts), replace_metadata(CARD, trained))
    assert main(["export", str(checkpoint), str(folder), "--precision", "float32", "--no-check"]) == 0
    card = (folder / LAYOUT.card).read_text(encoding="utf-8")
    assert card.endswith(f"---\n{CARD}")
    metadata = read_metadata(card)
    assert "onnx" not in trained["tags"]
    assert metadata["tags"][:2] == ["mine", "dialogue"]
    assert metadata["tags"].count("dialogue") == metadata["tags"].count("onnx") == 1
    assert (metadata["license"], metadata["since"]) == ("mit", "2026")
    assert (metadata["base_model"], metadata["datasets"]) == ("thenlper/gte-small", ["canard"])
    (model,) = metadata["model-index"]
    assert model["name"] == "small"
    assert [one["task"]["name"] for one in model["results"]] == ["Question simplification, before export"]
    assert "widget" not in metadata


def test_a_card_whose_metadata_cannot_be_read_gets_one_line_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoint, folder = save_tiny(tmp_path / "best", make_checkpoint("bert")), tmp_path / "small"
    card = checkpoint / LAYOUT.card
    for text, where, wrong in (
        ("---\nlicense: mit\ntags: [a\n---\n# A\n", ", line 4", "not YAML, expected metadata between the two lines"),
        ("---\n- a\n---\n# A\n", "", "metadata of the type list, expected names and values"),
    ):
        card.write_text(text, encoding="utf-8")
        assert main(["export", str(checkpoint), str(folder), "--no-check"]) == 2
        assert f"{card}{where}: {wrong}" in capsys.readouterr().err.replace("\n", "")
        assert not folder.exists()


def test_the_graphs_say_nothing_of_the_machine_they_were_made_on(base: Path, root: Path) -> None:
    _, folder = export_tiny(base, "bert", "int8")
    for name in (LAYOUT.encoder, LAYOUT.phraser):
        content = (folder / name).read_bytes()
        assert b"site-packages" not in content
        assert str(root).encode() not in content


def test_mpnets_padding_rows_are_no_positions(base: Path) -> None:
    _, folder = export_tiny(base, "mpnet", "float32")
    assert load_exported(folder).max_pieces == 512


def test_a_failed_export_leaves_the_old_folder_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise RuntimeError("no space left")

    checkpoint = save_tiny(tmp_path / "checkpoint", make_checkpoint())
    out = tmp_path / "out"
    out.mkdir()
    (out / LAYOUT.encoder).write_bytes(b"old")
    monkeypatch.setattr(torch.onnx, "export", fail)
    with pytest.raises(RuntimeError, match="no space"):
        export(checkpoint, out)
    assert [path.name for path in tmp_path.iterdir()] in (["checkpoint", "out"], ["out", "checkpoint"])
    assert (out / LAYOUT.encoder).read_bytes() == b"old"


def test_a_folder_with_other_things_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text("dear", encoding="utf-8")
    with pytest.raises(InputError, match="something other than an exported model"):
        export(tmp_path / "checkpoint", tmp_path)


def test_a_file_is_no_folder_to_write(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="is a file, expected a folder"):
        export(tmp_path / "checkpoint", tmp_path / "out")


def test_an_unknown_precision_is_told_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="precision 'int3'; expected one of int8, int4, float32"):
        export(tmp_path / "checkpoint", tmp_path / "out", "int3")


def test_byte_rows_are_within_half_a_step_of_the_table() -> None:
    table = nn.Embedding(50, 16)
    with torch.no_grad():
        table.weight[3] = 0.0  # a row of nothing has no scale of its own
        table.weight[4] *= 100
    ids = torch.arange(50)[None]
    step = table.weight.abs().amax(1) / 127
    error = (ByteEmbedding(table)(ids)[0] - table.weight).abs().amax(1)
    assert (error <= step / 2 + 1e-6).all()
    assert not ByteEmbedding(table)(ids)[0, 3].any()


def spoil_config(folder: Path, **fields: object) -> None:
    path = folder / LAYOUT.config
    config = json.loads(path.read_text(encoding="utf-8")) | fields
    path.write_text(json.dumps(config), encoding="utf-8")


def drop_line(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:-1]), encoding="utf-8")


def swap_lines(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join([*lines[:-2], lines[-1], lines[-2]]), encoding="utf-8")


DAMAGE: dict[str, Callable[[Path], object]] = {
    "no encoder.onnx": lambda folder: (folder / LAYOUT.encoder).unlink(),
    "no phraser.onnx": lambda folder: (folder / LAYOUT.phraser).unlink(),
    "no vocab.txt": lambda folder: (folder / LAYOUT.vocabulary).unlink(),
    "encoder.onnx: damaged": lambda folder: (folder / LAYOUT.encoder).write_bytes(b"\x08\x01 not a graph"),
    "config.json, line 1: not JSON": lambda folder: (folder / LAYOUT.config).write_text("{", encoding="utf-8"),
    "config.json: not UTF-8": lambda folder: (folder / LAYOUT.config).write_bytes(b"\xff\xfe"),
    "phrases.txt: not UTF-8": lambda folder: (folder / LAYOUT.phrases).write_bytes(b"\xff\xfe"),
    "model format 99; this riseq reads 1": lambda folder: spoil_config(folder, format=99),
    "field 'max_pieces': got 'many', expected int": lambda folder: spoil_config(folder, max_pieces="many"),
    "phrases.txt has 6 lines, the network was made for 7": lambda folder: drop_line(folder / LAYOUT.phrases),
    "phrases.txt: damaged": lambda folder: swap_lines(folder / LAYOUT.phrases),
    "vocab.txt: damaged": lambda folder: swap_lines(folder / LAYOUT.vocabulary),
    "field 'span_pieces': got 0, expected 1 or more": lambda folder: spoil_config(folder, span_pieces=0),
    "vocab.txt has": lambda folder: drop_line(folder / LAYOUT.vocabulary),
}


@pytest.mark.parametrize("told", DAMAGE)
def test_damage_is_told_in_one_line(base: Path, tmp_path: Path, told: str) -> None:
    _, folder = export_tiny(base, "bert", "float32")
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    DAMAGE[told](copy)
    with pytest.raises(InputError) as caught:
        load_exported(copy)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("number", [0, 1])
def test_a_vocabulary_that_riseq_has_need_not_be_there(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    _, folder = export_tiny(base, "bert", "int8")
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    content = (copy / LAYOUT.vocabulary).read_bytes()
    (copy / LAYOUT.vocabulary).unlink()
    known = [b"[CLS]\n", b"[SEP]\n"]
    monkeypatch.setattr(model_folder, "read_known_vocabularies", lambda: iter(known))
    with pytest.raises(InputError, match=r"no vocab\.txt"):
        load_exported(copy)
    known[number] = content
    assert load_exported(copy).pieces.vocabulary == load_exported(folder).pieces.vocabulary
    save_folder(copy, tmp_path / "alone", "")
    assert (tmp_path / "alone" / LAYOUT.vocabulary).read_bytes() == content


def test_phrases_of_another_network_are_refused(base: Path, tmp_path: Path) -> None:
    _, folder = export_tiny(base, "bert", "float32")
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    drop_line(copy / LAYOUT.phrases)
    sums = {name: checksum((copy / name).read_bytes()) for name in (LAYOUT.encoder, LAYOUT.phraser)}
    spoil_config(copy, phrases=6, checksums=sums)
    with pytest.raises(InputError, match=r"phrases.txt has 6 phrases, phraser.onnx 7; they don't belong together"):
        OnnxBackend(load_exported(copy), copy)


def test_a_graph_that_onnxruntime_cannot_open_is_told_in_one_line(base: Path, tmp_path: Path) -> None:
    _, folder = export_tiny(base, "bert", "float32")
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    (copy / LAYOUT.encoder).write_bytes(b"no graph")
    sums = {name: checksum((copy / name).read_bytes()) for name in (LAYOUT.encoder, LAYOUT.phraser)}
    spoil_config(copy, checksums=sums)
    with pytest.raises(InputError, match=r"encoder.onnx: onnxruntime cannot open it") as caught:
        OnnxBackend(load_exported(copy), copy)
    assert "\n" not in str(caught.value)


def test_the_command_line_exports_and_says_how_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[object] = []

    def write(*arguments: object) -> dict[str, int]:
        asked.extend(arguments)
        return {"encoder.onnx": 34_000_000, "phraser.onnx": 6_500_000}

    monkeypatch.setattr("riseq.model.export.export", write)
    assert main(["export", str(tmp_path), str(tmp_path / "out"), "--precision", "float32", "--no-check"]) == 0
    assert asked == [tmp_path, tmp_path / "out", "float32", None, 0.5]
    assert f"wrote 40.5 MB to {tmp_path / 'out'}" in capsys.readouterr().err


def test_the_command_line_tells_a_folder_without_a_checkpoint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(tmp_path), str(tmp_path / "out")]) == 2
    assert "no config.json; expected the folder of a riseq model" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
