"""The engine end to end on tiny exported networks: the same text by both backends, alone and in company."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from riseq.infer import simplifier as module
from riseq.infer.simplifier import Simplifier
from riseq.text.realise import realise
from riseq.text.words import forms
from riseq.types import Example, InputError
from tiny_model import Family, export_tiny, make_examples

CONTEXT = ("Who was Ira Hayes?", "A Marine who raised the flag.")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.getbasetemp()


@pytest.fixture(scope="module")
def engine(base: Path) -> Simplifier:
    return Simplifier.load(export_tiny(base, "bert", "float32")[1], threads=1)


@pytest.fixture(scope="module")
def small_engine(base: Path) -> Simplifier:
    return Simplifier.load(export_tiny(base, "bert", "int8")[1], threads=1)


@pytest.mark.parametrize("family", ["bert", "mpnet"])
def test_onnx_and_torch_write_the_same_text(base: Path, family: Family) -> None:
    checkpoint, exported = export_tiny(base, family, "float32")
    examples = make_examples(80)
    by_torch = list(Simplifier.load(checkpoint).batch(examples))
    by_onnx = list(Simplifier.load(exported).batch(examples))
    assert [result.text for result in by_onnx] == [result.text for result in by_torch]
    assert sum(result.changed for result in by_torch) > 40
    assert len({len(result.steps) for result in by_torch}) > 1


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_a_question_has_one_answer_alone_and_in_company(base: Path, precision: str) -> None:
    engine = Simplifier.load(export_tiny(base, "bert", precision)[1])
    examples = make_examples(40)
    together = list(engine.batch(iter(examples)))
    assert [result.question for result in together] == [one.question for one in examples]
    alone = [engine(one.question, one.context) for one in examples]
    assert [result.text for result in together] == [result.text for result in alone]


def test_order_holds_across_windows(engine: Simplifier, monkeypatch: pytest.MonkeyPatch) -> None:
    examples = make_examples(25)
    expected = [result.text for result in engine.batch(examples)]
    monkeypatch.setattr(module, "WINDOW", 4)
    assert [result.text for result in engine.batch(examples)] == expected


def test_no_more_than_a_window_is_read_ahead(engine: Simplifier, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = 0

    def examples() -> Iterator[Example]:
        nonlocal taken
        for example in make_examples(50):
            taken += 1
            yield example

    monkeypatch.setattr(module, "WINDOW", 5)
    next(engine.batch(examples()))
    assert taken == 5


@pytest.mark.parametrize("context", [(), ("",), (" ", "\t")], ids=["none", "empty", "blank"])
def test_without_context_the_question_stays(engine: Simplifier, context: tuple[str, ...]) -> None:
    result = engine("Was anyone  opposed to Ira Hayes?", context)
    assert result.text == "Was anyone  opposed to Ira Hayes?"
    assert not result.steps


def test_steps_lead_from_the_question_to_the_text(engine: Simplifier) -> None:
    for example in make_examples(30):
        result = engine(example.question, example.context)
        text = example.question
        for step in result.steps:
            assert step.edits
            assert forms(step.text) != forms(text)
            for edit in step.edits:
                assert text[edit.start : edit.end] == edit.old
                assert edit.probability is not None
                assert 0 < edit.probability <= 1
            text = step.text
        assert result.text == text
        assert len(result.steps) <= 3


def test_max_passes_is_a_limit(base: Path) -> None:
    engine = Simplifier.load(export_tiny(base, "bert", "float32")[1], max_passes=1)
    assert {len(engine(one.question, one.context).steps) for one in make_examples(20)} == {0, 1}


@pytest.mark.parametrize(
    "question", ["", "   ", "\x00", "?", "...", "🎬", "🎬🎬 who?", "Élan vital?", "ما هذا", "\ud800 a"]
)
def test_odd_questions_come_back(engine: Simplifier, small_engine: Simplifier, question: str) -> None:
    for one in (engine, small_engine):
        result = one(question, CONTEXT)
        assert result.text or not question
        if not forms(question):
            assert result.text == question


def test_odd_contexts_are_read(engine: Simplifier) -> None:
    assert engine("Where was Ira Hayes born?", ("\x00", "🎬", "x" * 5_000, "word " * 10_000, "")).text


def test_a_question_longer_than_the_network_keeps_every_word_past_it(engine: Simplifier) -> None:
    words = [f"w{number % 7}" for number in range(600)]
    result = engine(" ".join(words), CONTEXT * 3)
    # Each of these words is two pieces, so that at most 255 of them can be seen and edited.
    assert result.changed
    assert forms(result.text)[-340:] == words[-340:]


def test_an_edit_that_would_leave_no_word_is_not_made(base: Path) -> None:
    from riseq.infer.torch_backend import TorchBackend
    from tiny_model import make_checkpoint

    checkpoint = make_checkpoint()
    checkpoint.network.edit_head.bias.data[1] = 1e3  # always DELETE
    engine = Simplifier(TorchBackend(checkpoint.network), checkpoint.pieces, checkpoint.phrases)
    assert engine("Who was Ira Hayes?", CONTEXT).text == "Who was Ira Hayes?"


def test_kept_words_are_the_users_own(base: Path) -> None:
    from riseq.infer.torch_backend import TorchBackend
    from tiny_model import make_checkpoint

    checkpoint = make_checkpoint()
    checkpoint.network.edit_head.bias.data[0] = 1e3  # always KEEP
    engine = Simplifier(TorchBackend(checkpoint.network), checkpoint.pieces, checkpoint.phrases)
    question = "  Did  Björk's\tBAND play\u00a0in the Café  ?"
    assert engine(question, CONTEXT).text == question


def test_each_pass_is_what_realise_makes_of_the_choice(engine: Simplifier) -> None:
    from riseq.infer.choices import choose_best
    from riseq.infer.drafts import gather, start

    question = "When did the band of Frank Zappa play in Tokyo?"
    draft = start(question, CONTEXT, engine.pieces, 512)
    batch = gather([draft], engine.pieces)
    (choice,) = choose_best(batch, engine.backend.read(batch), engine.phrases)
    step = realise(question, choice.edits, CONTEXT, choice.probabilities)
    assert engine(question, CONTEXT).steps[0] == step


@pytest.mark.parametrize(
    ("question", "context", "told"),
    [(None, (), "question is a NoneType"), ("Why?", "Who?", "list of strings"), ("Why?", [1], "list of strings")],
)
def test_wrong_types_are_told(engine: Simplifier, question: str, context: list[str], told: str) -> None:
    with pytest.raises(InputError, match=told):
        engine(question, context)


def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere: no such folder"):
        Simplifier.load(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"no config.json; expected the folder of a riseq model"):
        Simplifier.load(tmp_path)


@pytest.mark.parametrize(("name", "value"), [("threads", 0), ("max_passes", 0)])
def test_settings_below_one_are_refused(base: Path, name: str, value: int) -> None:
    options: dict[str, int] = {name: value}
    with pytest.raises(InputError, match=f"{name} is 0, expected 1 or more"):
        Simplifier.load(export_tiny(base, "bert", "float32")[1], **options)


def test_without_a_model_that_ships_a_folder_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_default_model", lambda: None)
    with pytest.raises(InputError, match="no model ships with this riseq"):
        Simplifier.load()


def test_the_model_that_ships_is_the_default(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = export_tiny(base, "bert", "float32")[1]
    monkeypatch.setattr(module, "find_default_model", lambda: folder)
    assert Simplifier.load()("Where was Ira Hayes born?", CONTEXT).changed


def test_an_exported_model_runs_without_torch(base: Path) -> None:
    folder = export_tiny(base, "bert", "int8")[1]
    code = f"""
import sys
from pathlib import Path
sys.modules["torch"] = None
from riseq.systems.registry import load_system
from riseq.types import Example
system = load_system("rise", Path({str(folder)!r}))
(result,) = system.simplify([Example("1", {CONTEXT!r}, "Where was Ira Hayes born?")])
assert result.text
assert not {{"transformers", "safetensors", "numba", "spacy", "onnx"}} & set(sys.modules), sorted(sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_a_checkpoint_without_torch_names_the_extra(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint = export_tiny(base, "bert", "float32")[0]
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(InputError, match=r"needs the package 'torch'; install it with: pip install 'riseq\[train\]'"):
        Simplifier.load(checkpoint)
