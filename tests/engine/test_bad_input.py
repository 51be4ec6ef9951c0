"""Whatever comes in, a result or one clear line comes out: odd texts, wrong types, damaged models."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from riseq.engine.simplifier import Simplifier
from riseq.hub import find_default_model
from riseq.text.lexicon import is_word
from riseq.text.words import forms
from riseq.types import InputError, Simplification
from tiny_model import export_tiny

CONTEXT = ["Who was Ira Hayes?", "A Marine who raised the flag."]
QUESTION = "Where was Ira Hayes born?"

# Any code point there is, half surrogate pairs too, among words that the networks like to edit.
ANY = st.text(st.characters(), max_size=30)
SAID = st.lists(
    st.sampled_from([*QUESTION.split(), "Hayes's", "the", "Zappa", "?", "...", "\u202e", "\x00", "\ud800", "’s"]),
    max_size=12,
).map(" ".join)
TEXT = ANY | SAID
ROLE = st.sampled_from(["user", "assistant", "system"]) | TEXT
TURN = (
    TEXT
    | st.tuples(TEXT, TEXT)
    | st.fixed_dictionaries({"role": ROLE, "content": TEXT | st.none()})
    | st.fixed_dictionaries({"question": TEXT}, optional={"answer": TEXT | st.none()})
)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.getbasetemp()


@pytest.fixture(scope="module")
def engine(base: Path) -> Simplifier:
    return Simplifier.load(export_tiny(base, "bert", "float32")[1], threads=1)


@pytest.fixture(scope="module")
def shipped() -> Simplifier:
    if find_default_model() is None:
        pytest.skip("no model ships with this checkout")
    return Simplifier.load(threads=1)


def contains(words: list[str], phrase: list[str]) -> bool:
    return any(words[start : start + len(phrase)] == phrase for start in range(len(words) - len(phrase) + 1))


def check(engine: Simplifier, question: str, context: list[Any], data: st.DataObject) -> None:
    """Call the engine with controls drawn from ``data`` and check what holds for every result."""
    words = forms(question)
    protect = []
    if words:
        starts = data.draw(st.lists(st.integers(0, len(words) - 1), max_size=2))
        protect = [" ".join(words[start : start + 2]) for start in starts]
    result = engine(
        question,
        context,
        strength=data.draw(st.floats(0, 1)),
        protect=protect,
        n_best=data.draw(st.integers(1, 3)),
        max_passes=data.draw(st.integers(1, 4)),
    )
    assert result.question == question
    for one in (result, *result.alternatives):
        check_form(one)
        for phrase in map(forms, protect):
            assert not contains(words, phrase) or contains(forms(one.text), phrase)


def check_form(result: Simplification) -> None:
    assert result.text.strip() or not result.question.strip()
    assert bool(result.text) == bool(result.question)
    # A mark alone is no question.
    assert any(map(is_word, forms(result.text))) or not any(map(is_word, forms(result.question)))
    before = result.question
    for step in result.steps:
        assert all(before[edit.start : edit.end] == edit.old for edit in step.edits)
        before = step.text
    assert result.text == before


@settings(max_examples=2_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(question=TEXT, context=st.lists(TURN, max_size=3), data=st.data())
def test_any_unicode_gets_a_result(engine: Simplifier, question: str, context: list[Any], data: st.DataObject) -> None:
    check(engine, question, context, data)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(question=TEXT, context=st.lists(TURN, max_size=3), data=st.data())
def test_any_unicode_gets_a_result_from_the_shipped_model(
    shipped: Simplifier, question: str, context: list[Any], data: st.DataObject
) -> None:
    check(shipped, question, context, data)


@pytest.mark.parametrize(
    "question",
    [
        "",
        "   ",
        "\n\t",
        "?",
        "?!... — «»",
        "\x00",
        "Where\x00was Ira Hayes\x00 born?",
        "\ud800",
        "Where was \udc80 Ira Hayes born?",
        "أين ولد إيرا هايز؟",
        "היכן נולד \u202eIra Hayes\u202c?",
        "艾拉·海斯在哪里出生?",
        "🏳️‍🌈👩‍👩‍👧‍👧 Ira Hayes?",
        "e\u0301" * 200,
        "a" * 20_000,
        "Where was Ira Hayes born? " * 150,
        "\u0130stanbul'da ne oldu?",
        "ŉ ǰ ΐ ß ﬁ Ira Hayes?",
    ],
)
def test_odd_questions(engine: Simplifier, shipped: Simplifier, question: str) -> None:
    for one in (engine, shipped):
        for context in ([], CONTEXT, [question], ["\x00", "\ud800", "", "؟"]):
            result = one(question, context)
            check_form(result)
            if not forms(question):
                assert result.text == question


def test_a_context_of_ten_thousand_words(engine: Simplifier, shipped: Simplifier) -> None:
    for one in (engine, shipped):
        for context in ([" ".join(["word"] * 10_000)], ["word"] * 10_000, [*CONTEXT, "w" * 10_000]):
            result = one(QUESTION, context)
            assert result.truncated or len(context) == 3
            check_form(result)


WRONG: list[tuple[Callable[[Any], object], str]] = [
    (lambda e: e(None), "the question is a NoneType, expected a string"),
    (lambda e: e(7), "the question is a int, expected a string"),
    (lambda e: e(b"Why?"), "the question is a bytes, expected a string"),
    (lambda e: e(["Why?"]), "the question is a list, expected a string"),
    (lambda e: e("Why?", b"Who?"), "the context is a bytes, expected a list of utterances"),
    (lambda e: e("Why?", 7), "the context is a int, expected a list of utterances"),
    (lambda e: e("Why?", {"role": "user", "content": "Who?"}), "the context is a dict, expected a list"),
    (lambda e: e("Why?", ["Who?", None]), "context[1] is a NoneType, expected one of"),
    (lambda e: e("Why?", [("user", 1)]), "context[0] is not a pair of strings"),
    (lambda e: e("Why?", [("a", "b", "c")]), "context[0] is not a pair of strings"),
    (lambda e: e("Why?", [{}]), "context[0] has the keys [], expected role and content"),
    (lambda e: e("Why?", [{"role": "user", "content": 1}]), "context[0]['content'] is a int"),
    (lambda e: e("Why?", [{"role": 1, "content": "a"}]), "context[0]['role'] is a int"),
    (lambda e: e("Why?", strength="much"), "strength is 'much', expected a number from 0 to 1"),
    (lambda e: e("Why?", strength=float("nan")), "strength is nan, expected a number from 0 to 1"),
    (lambda e: e("Why?", strength=True), "strength is True, expected a number"),
    (lambda e: e("Why?", protect="Hayes"), "protect is a str, expected a list of strings"),
    (lambda e: e("Why?", protect=[1]), "protect[0] is a int, expected a string"),
    (lambda e: e("Why?", protect=[""]), "protect[0] is '', expected at least one word"),
    (lambda e: e("Why?", protect=None), "protect is a NoneType, expected a list of strings"),
    (lambda e: e("Why?", n_best=0), "n_best is 0, expected 1 or more"),
    (lambda e: e("Why?", n_best=2.0), "n_best is 2.0, expected 1 or more"),
    (lambda e: e("Why?", max_passes="3"), "max_passes is '3', expected 1 or more"),
    (lambda e: e.batch("Why?"), "the items are a str, expected"),
    (lambda e: list(e.batch([{"context": []}])), "item 0: got a dict, expected an Example"),
    (lambda e: list(e.batch([("Why?", 7)])), "item 0: the context is a int"),
    (lambda e: list(e.batch([{"question": "Why?", "context": 7}])), "item 0: the context is a int"),
    (lambda e: e.batch(7), "the items are a int, expected"),
    (lambda e: e.batch({"question": "Why?"}), "the items are a dict, expected"),
]


@pytest.mark.parametrize(("call", "told"), WRONG, ids=[told[:50] for _, told in WRONG])
def test_a_wrong_type_is_one_line(engine: Any, call: Callable[[Any], object], told: str) -> None:
    with pytest.raises(InputError) as caught:
        call(engine)
    assert str(caught.value).startswith(told)
    assert "\n" not in str(caught.value)


def flip(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


DAMAGE: dict[str, Callable[[bytes], bytes | None]] = {
    "missing": lambda _: None,
    "empty": lambda _: b"",
    "cut": lambda content: content[: len(content) // 2],
    "garbage": lambda _: random.Random(1).randbytes(500),
    "one bit": flip,
    "other text": lambda _: b"hello world\n",
    "null": lambda _: b"null",
    "a list": lambda _: b"[]",
    "an object": lambda _: b"{}",
    "brackets": lambda _: b"[" * 100_000,
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("kind", [0, 1], ids=["checkpoint", "exported"])
def test_a_damaged_model_is_one_line_that_names_the_file(base: Path, tmp_path: Path, kind: int, damage: str) -> None:
    source = export_tiny(base, "bert", "float32")[kind]
    for file in sorted(path.name for path in source.iterdir() if path.name != "README.md"):
        folder = Path(shutil.copytree(source, tmp_path / f"copy-{file}"))
        content = DAMAGE[damage]((folder / file).read_bytes())
        (folder / file).unlink() if content is None else (folder / file).write_bytes(content)
        if file == "config.json" and damage == "one bit" and is_harmless(source, folder):
            continue
        with pytest.raises(InputError) as caught:
            Simplifier.load(folder)
        assert "\n" not in str(caught.value)
        assert str(folder) in str(caught.value)
        # Without its weights nobody can tell a checkpoint from an export.
        missing_weights = file == "network.safetensors" and damage == "missing"
        assert missing_weights or file in str(caught.value) or "model format" in str(caught.value)


def is_harmless(source: Path, folder: Path) -> bool:
    """Return whether the two configurations agree in all that a model needs."""
    facts = ("epoch", "settings", "network")
    try:
        one, other = (json.loads((path / "config.json").read_text(encoding="utf-8")) for path in (source, folder))
    except ValueError:
        return False
    return {k: v for k, v in one.items() if k not in facts} == {k: v for k, v in other.items() if k not in facts}


def test_the_card_is_for_people_and_may_be_gone(base: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(export_tiny(base, "bert", "float32")[1], tmp_path / "copy"))
    (folder / "README.md").unlink()
    assert Simplifier.load(folder)(QUESTION, CONTEXT).text
