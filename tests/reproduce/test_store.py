"""Saved predictions on disk."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from riseq.reproduce.store import Manifest, SetFacts, Store, Training, file_stem
from riseq.types import InputError

MANIFEST = Manifest(
    "rise-large",
    "RISE, large",
    "rise",
    counted_passes=3,
    parameters=110,
    seed=4,
    trained_on=("canard/train.qonly",),
    training=Training("riseq train large.yaml", 0.3, "one H200", 0.12),
    sets={"canard/test.qonly": SetFacts(2, "riseq predict", 1.5, "2 cores")},
)


def test_a_manifest_comes_back_as_it_went(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert store.names() == []
    assert store.read_manifest("rise-large") is None
    store.write_manifest(MANIFEST)
    assert store.names() == ["rise-large"]
    assert store.read_manifest("rise-large") == MANIFEST


def test_a_set_is_added_to_those_that_are_there() -> None:
    more = MANIFEST.with_set("canard/dev.qonly", SetFacts(1, "riseq predict"))
    assert list(more.sets) == ["canard/dev.qonly", "canard/test.qonly"]


def test_outputs_are_packed_and_found_by_the_sets_name(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert store.read("rule", "cast19/test.qonly") is None
    path = store.write("rule", "cast19/test.qonly", [{"id": "31_2", "passes": ["Why?"]}])
    assert path == tmp_path / "rule" / "cast19.test.qonly.jsonl.gz"
    assert json.loads(gzip.decompress(path.read_bytes())) == {"id": "31_2", "passes": ["Why?"]}
    assert store.read("rule", "cast19/test.qonly") == {"31_2": ("Why?",)}


def test_outputs_that_are_not_packed_are_read_too_and_replaced_by_packed_ones(tmp_path: Path) -> None:
    plain = tmp_path / "rule" / "cast19.test.qonly.jsonl"
    plain.parent.mkdir()
    plain.write_text('{"id": "31_2", "passes": []}\n', encoding="utf-8")
    store = Store(tmp_path)
    assert store.read("rule", "cast19/test.qonly") == {"31_2": ()}
    store.write("rule", "cast19/test.qonly", [{"id": "31_2", "passes": ["Why?"]}])
    assert not plain.exists()


def test_the_same_outputs_are_the_same_bytes(tmp_path: Path) -> None:
    rows = [{"id": str(k), "passes": ["Why?"]} for k in range(50)]
    first = Store(tmp_path / "a").write("x", "s/t", rows).read_bytes()
    assert Store(tmp_path / "b").write("x", "s/t", rows).read_bytes() == first


@pytest.mark.parametrize("text", ["nope", "[]", '{"name": "x"}', '{"surprise": 1}'])
def test_a_file_that_is_no_manifest_is_a_users_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "manifest.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="is no manifest of saved predictions"):
        Store(tmp_path).read_manifest("x")


def test_a_sets_file_has_no_slashes() -> None:
    assert file_stem("canard/test.qonly") == "canard.test.qonly"
