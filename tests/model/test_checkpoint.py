"""A model's folder: whole, readable, and refused where its parts don't belong together."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from riseq.model.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from riseq.model.folder import LAYOUT
from riseq.types import InputError
from tiny_model import CARD, make_checkpoint, save_tiny

Break = Callable[[Path], object]


@pytest.mark.parametrize("family", ["bert", "mpnet"])
def test_a_checkpoint_comes_back_as_it_was(tmp_path: Path, family: Any) -> None:
    saved = make_checkpoint(family)
    found = load_checkpoint(save_tiny(tmp_path / "model", saved))
    assert found.phrases == saved.phrases
    assert found.pieces.vocabulary == saved.pieces.vocabulary
    assert found.facts == saved.facts
    assert found.network.config == saved.network.config
    assert not found.network.training
    theirs, ours = saved.network.state_dict(), found.network.state_dict()
    assert theirs.keys() == ours.keys()
    assert all(torch.equal(theirs[name], ours[name]) for name in theirs)
    assert torch.equal(found.network.marker_mask, saved.network.marker_mask)
    assert (tmp_path / "model" / LAYOUT.card).read_text(encoding="utf-8") == CARD


def test_every_file_is_readable_by_everyone(tmp_path: Path) -> None:
    folder = save_tiny(tmp_path / "model", make_checkpoint())
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}
    assert modes == dict.fromkeys(vars_of_layout(), 0o644)


def vars_of_layout() -> list[str]:
    return [LAYOUT.config, LAYOUT.weights, LAYOUT.phrases, LAYOUT.vocabulary, LAYOUT.card]


def test_a_failed_save_leaves_the_older_model_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = save_tiny(tmp_path / "model", make_checkpoint())
    before = (folder / LAYOUT.config).read_bytes()
    newer = make_checkpoint()
    monkeypatch.setattr(newer.pieces, "save", lambda path: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        save_checkpoint(folder, Checkpoint(newer.network, newer.phrases, newer.pieces, {"epoch": 9}), CARD)
    assert (folder / LAYOUT.config).read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_newer_model_replaces_the_older_one_whole(tmp_path: Path) -> None:
    folder = save_tiny(tmp_path / "model", make_checkpoint("bert"))
    (folder / "stray").touch()
    save_tiny(folder, make_checkpoint("mpnet"))
    assert load_checkpoint(folder).network.config.backbone.family == "mpnet"
    assert not (folder / "stray").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def change_config(**changes: Any) -> Break:
    def change(folder: Path) -> None:
        path = folder / LAYOUT.config
        config = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps({**config, **changes}), encoding="utf-8")

    return change


def change_text(name: str, change: Callable[[list[str]], list[str]]) -> Break:
    def rewrite(folder: Path) -> None:
        lines = (folder / name).read_text(encoding="utf-8").splitlines()
        (folder / name).write_text("".join(f"{line}\n" for line in change(lines)), encoding="utf-8")

    return rewrite


def change_weights(change: Callable[[dict[str, torch.Tensor]], object]) -> Break:
    def rewrite(folder: Path) -> None:
        tensors = load_file(folder / LAYOUT.weights)
        change(tensors)
        save_file(tensors, folder / LAYOUT.weights)

    return rewrite


REFUSED: list[tuple[str, Break, str]] = [
    *((f"no {n}", lambda f, n=n: (f / n).unlink(), f"no {n}") for n in vars_of_layout()[:4]),
    ("config is not JSON", lambda f: (f / LAYOUT.config).write_text("{"), "line 1: not JSON"),
    ("another format", change_config(format=99), "model format 99; this riseq reads 1"),
    ("no shape", change_config(network={}), "not the shape of a network"),
    ("unknown shape", change_config(network={"depth": 3}), "not the shape of a network"),
    ("a phrase too many", change_text(LAYOUT.phrases, lambda x: [*x, "hers"]), "has 8 phrases, the network 7"),
    ("phrases in another order", change_text(LAYOUT.phrases, lambda x: x[::-1]), "phrases.txt is not the file"),
    ("a piece too many", change_text(LAYOUT.vocabulary, lambda x: [*x, "more"]), "they don't belong together"),
    ("another piece", change_text(LAYOUT.vocabulary, lambda x: [*x[:-1], "else"]), "vocab.txt is not the file"),
    ("[CLS] elsewhere", change_config(cls_id=0), "has [CLS] at 2, the network at 0"),
    ("weights are no tensors", lambda f: (f / LAYOUT.weights).write_text("x"), "not a safetensors file"),
    ("a tensor is missing", change_weights(lambda t: t.pop("edit_head.bias")), "Missing key(s)"),
    ("a tensor too many", change_weights(lambda t: t.update(more=torch.zeros(1))), "Unexpected key(s)"),
    ("another shape", change_weights(lambda t: t.update({"edit_head.bias": torch.zeros(5)})), "size mismatch"),
]


@pytest.mark.parametrize(("spoil", "told"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_parts_that_do_not_belong_together_are_refused_in_one_line(tmp_path: Path, spoil: Break, told: str) -> None:
    folder = save_tiny(tmp_path / "model", make_checkpoint())
    spoil(folder)
    with pytest.raises(InputError) as caught:
        load_checkpoint(folder)
    assert told in str(caught.value)
    assert str(folder) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_checkpoint_from_before_the_digests_loads(tmp_path: Path) -> None:
    folder = save_tiny(tmp_path / "model", make_checkpoint())
    config = json.loads((folder / LAYOUT.config).read_text(encoding="utf-8"))
    del config["digests"]
    (folder / LAYOUT.config).write_text(json.dumps(config), encoding="utf-8")
    assert load_checkpoint(folder).facts == {"epoch": 3}
