"""The metadata of a card, as the Hugging Face hub's own library reads them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from riseq.engine.simplifier import Simplifier
from riseq.hub import find_shipped
from riseq.model.card import EXAMPLES, has_metadata, make_metadata, read_metadata, replace_metadata

hub = pytest.importorskip("huggingface_hub")

SETTINGS: dict[str, Any] = {
    "backbone": "weights/gte",
    "train": ["canard/train.qonly", "qrecc/extra_train.qa"],
    "dev": ["canard/dev.qonly"],
    "everyday": ["data/everyday/dialogues.jsonl"],
}
SCORES = {"n": 10, "bleu4": 76.528, "rougeL": 88.9153, "cider": 7.3104, "exact": 50.5}
CONFIG: dict[str, Any] = {"settings": SETTINGS, "scores": {"canard/dev.qonly": SCORES}}


def read(card: str) -> Any:
    return hub.ModelCard(card)


def test_the_hub_reads_what_the_config_says() -> None:
    shown = [(["Who?", 'He said: "I".'], "Why is it 5:30?", "Why?")]
    metadata = make_metadata(CONFIG, "tiny", {"cast19/test.qonly": {"bleu4": 79}}, shown)
    card = read(replace_metadata("# A model\n\nText.\n", metadata))
    assert card.text == "# A model\n\nText.\n"
    data = card.data
    assert (data.license, data.language, data.library_name) == ("cc-by-sa-4.0", "en", "riseq")
    assert (data.pipeline_tag, data.base_model) == ("text-generation", "thenlper/gte-small")
    assert data.datasets == ["canard", "qrecc", "everyday"]
    assert data.widget == [{"text": 'Who?\nHe said: "I".\nWhy is it 5:30?', "output": {"text": "Why?"}}]
    assert data.model_name == "tiny"
    found = [(one.dataset_name, one.dataset_split, one.metric_type, one.metric_value) for one in data.eval_results]
    assert found == [
        ("canard/dev.qonly", "validation", "bleu", 76.53),
        ("canard/dev.qonly", "validation", "rouge", 88.92),
        ("canard/dev.qonly", "validation", "cider", 7.31),
        ("cast19/test.qonly", "test", "bleu", 79.0),
    ]


@pytest.mark.parametrize(
    ("settings", "base", "licence"),
    [
        ({**SETTINGS, "backbone": "intfloat/e5-small"}, "intfloat/e5-small", "cc-by-sa-4.0"),
        ({"backbone": "runs/mine", "train": ["mine.jsonl"], "dev": ["mine-dev.jsonl"]}, None, None),
        ({"backbone": "/a/b"}, None, None),
        ({}, None, None),
    ],
    ids=["an encoder of the hub", "one's own folder and data", "a path", "nothing known"],
)
def test_nothing_is_made_up(settings: dict[str, Any], base: str | None, licence: str | None) -> None:
    data = read(replace_metadata("", make_metadata({"settings": settings}))).data
    assert (data.base_model, data.license, data.eval_results) == (base, licence, None)


def test_scores_of_the_checkpoint_are_told_from_the_exports_own() -> None:
    metadata = make_metadata({**CONFIG, "checksums": {}}, scores={"canard/test.qonly": SCORES})
    tasks = [one["task"]["name"] for one in metadata["model-index"][0]["results"]]
    assert tasks == ["Question simplification, before export", "Question simplification"]
    assert "onnx" in metadata["tags"]


def test_metadata_are_replaced_and_the_text_stays() -> None:
    body = "# A model\n\n---\n\nA rule above, and below.\n\n---\n"
    first = replace_metadata(body, {"a": 1})
    assert first == f"---\na: 1\n---\n{body}"
    assert replace_metadata(first, {"b": [1, {"c": "d"}]}) == f"---\nb:\n  - 1\n  - c: d\n---\n{body}"
    assert [has_metadata(one) for one in (body, first)] == [False, True]


@pytest.mark.parametrize(
    "text", ["yes", "No", "null", "1.5", "a: b", "- a", "#a", "é", 'a "b"', "a\nb", "", " a", "a/b"]
)
def test_strings_come_back_as_they_were(text: str) -> None:
    metadata = {"key": text, "list": [text, {"inner": text, "deep": {"x": [text]}}], "number": 1.5, "flag": True}
    front = replace_metadata("body", metadata).split("---\n")[1]
    assert yaml.safe_load(front) == metadata


def test_what_a_person_may_write_is_read_and_written_again() -> None:
    front = "a b: {}\n'yes': []\nlist: [[], {}, [1, [x]]]\nnothing:\ndate: 2026-11-16\n"
    card = f"---\n{front}---\nText.\n"
    again = replace_metadata(card, read_metadata(card))
    assert again.endswith("---\nText.\n")
    assert read_metadata(again) == yaml.safe_load(front) | {"date": "2026-11-16"}
    assert read_metadata("# No metadata\n") == read_metadata("---\n---\n") == {}


@pytest.mark.parametrize("name", sorted(find_shipped()))
def test_the_shipped_cards_are_what_their_models_say(name: str) -> None:
    folder = find_shipped()[name]
    card = hub.ModelCard.load(folder / "README.md")
    simplifier = Simplifier.load(folder, threads=1)
    shown = [(context, question, simplifier(question, context).text) for context, question in EXAMPLES["simplify"]]
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    made = read(replace_metadata("", make_metadata(config, f"riseq-{name}", None, shown))).data
    hint = "out of date: riseq reproduce --cards"
    tests = [one for one in card.data.eval_results if one.dataset_split == "test"]
    assert {one.dataset_name for one in tests} == {"canard/test.qonly", "cast19/test.qonly"}, hint
    assert card.data.eval_results == [*made.eval_results, *tests], hint
    for one in (card.data, made):
        one.eval_results = None
    assert card.data.to_dict() == made.to_dict(), hint
    assert Path(folder, "README.md").read_text(encoding="utf-8").count("# ") >= 1
