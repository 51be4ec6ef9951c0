"""Folders that appear whole or not at all, and the weights in them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch

from riseq.files import make_folder, recover_folder, replace_folder
from riseq.model.checkpoint import load_weights, save_weights
from riseq.types import InputError


def test_a_folder_appears_after_the_block_and_not_where_it_fails(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "model"
    with make_folder(folder) as work:
        (work / "name").write_text("first", encoding="utf-8")
        assert not folder.exists()
    with pytest.raises(ZeroDivisionError), make_folder(folder) as work:
        (work / "name").write_text(f"second {1 / 0}", encoding="utf-8")
    assert [(path.name, path.read_text()) for path in folder.iterdir()] == [("name", "first")]
    assert list(folder.parent.iterdir()) == [folder]


def test_a_kill_between_the_two_moves_is_recovered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    new, old = tmp_path / "new", tmp_path / "model"
    for folder in (new, old):
        folder.mkdir()
        (folder / "name").write_text(folder.name, encoding="utf-8")
    moves: list[object] = []
    move = os.replace

    def die_second(source: Path, target: Path) -> None:
        moves.append(target)
        if len(moves) == 2:
            raise KeyboardInterrupt
        move(source, target)

    monkeypatch.setattr("os.replace", die_second)
    with pytest.raises(KeyboardInterrupt):
        replace_folder(new, old)
    monkeypatch.undo()
    assert not old.exists()
    recover_folder(old)
    assert (old / "name").read_text(encoding="utf-8") == "model"
    recover_folder(old)  # where nothing is amiss nothing happens
    assert old.exists()


@pytest.mark.parametrize("half", [False, True])
def test_weights_come_back_in_float32_two_names_of_one_tensor_too(tmp_path: Path, half: bool) -> None:
    one = torch.tensor([[0.5, 1 / 3], [-2.0, 7.0]])
    save_weights(tmp_path / "w.safetensors", {"one": one, "other": one, "turned": one.T}, half)
    found = load_weights(tmp_path / "w.safetensors")
    wanted = one.half().float() if half else one
    assert {name: tensor.dtype for name, tensor in found.items()} == dict.fromkeys(found, torch.float32)
    torch.testing.assert_close(found, {"one": wanted, "other": wanted, "turned": wanted.T}, rtol=0, atol=0)


def test_a_file_without_weights_is_told(tmp_path: Path) -> None:
    (tmp_path / "w.safetensors").write_bytes(b"nothing")
    with pytest.raises(InputError, match=r"w\.safetensors: not a safetensors file"):
        load_weights(tmp_path / "w.safetensors")
