"""The engine end to end on tiny exported networks: the same text by both backends, alone and in company."""

from __future__ import annotations

import asyncio
import multiprocessing
import pickle
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from riseq.controls import Controls
from riseq.data.dialogue import Item
from riseq.engine import editor as module
from riseq.engine import simplifier as simplifier_module
from riseq.engine.dialogue import DialogueWords
from riseq.engine.phrasing import Phrasing
from riseq.engine.simplifier import Simplifier
from riseq.model.inputs import Condition
from riseq.text.realise import realise
from riseq.text.words import forms
from riseq.types import Example, InputError, Simplification
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


def test_many_questions_after_one_dialogue_have_the_answers_of_each(
    engine: Simplifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    examples = make_examples(30)
    questions, context = [one.question for one in examples], examples[1].context
    alone = [engine(question, context, strength=0.7) for question in questions]
    read = []

    def read_dialogue(said: tuple[str, ...]) -> DialogueWords:
        read.append(said)
        return DialogueWords(said)

    monkeypatch.setattr(module, "DialogueWords", read_dialogue)
    assert engine.many(context, questions, strength=0.7) == alone
    assert read == [context]
    messages = [{"role": "user", "content": text} for text in context]
    assert engine.many(messages, questions[:3], controls=Controls(strength=0.7)) == alone[:3]
    assert engine.many(context, []) == []
    with pytest.raises(InputError, match="questions is a string, expected a list of them"):
        engine.many(context, "Why?")
    with pytest.raises(InputError, match="question 1: the question is a NoneType, expected a string"):
        engine.many(context, ["Why?", None])  # type: ignore[list-item]


def test_a_call_can_be_awaited(engine: Simplifier) -> None:
    one = make_examples(5)[1]

    async def ask_twice() -> list[Simplification]:
        return list(await asyncio.gather(*(engine.acall(one.question, one.context, n_best=2) for _ in range(2))))

    assert asyncio.run(ask_twice()) == [engine(one.question, one.context, n_best=2)] * 2


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
    from riseq.engine.backends.pytorch import TorchBackend
    from tiny_model import make_checkpoint

    checkpoint = make_checkpoint()
    checkpoint.network.edit_head.bias.data[1] = 1e3  # always DELETE
    engine = Simplifier(TorchBackend(checkpoint.network), checkpoint.pieces, Phrasing(checkpoint.phrases))
    assert engine("Who was Ira Hayes?", CONTEXT).text == "Who was Ira Hayes?"


def test_kept_words_are_the_users_own(base: Path) -> None:
    from riseq.engine.backends.pytorch import TorchBackend
    from tiny_model import make_checkpoint

    checkpoint = make_checkpoint()
    checkpoint.network.edit_head.bias.data[0] = 1e3  # always KEEP
    engine = Simplifier(TorchBackend(checkpoint.network), checkpoint.pieces, Phrasing(checkpoint.phrases))
    question = "  Did  Björk's\tBAND play\u00a0in the Café  ?"
    assert engine(question, CONTEXT).text == question


def test_each_pass_is_what_realise_makes_of_the_choice(engine: Simplifier) -> None:
    from riseq.engine.decisions import choose_phrases, decide
    from riseq.engine.drafts import gather, start

    question = "When did the band of Frank Zappa play in Tokyo?"
    draft = start(question, CONTEXT, engine.pieces, 512, condition=Condition.UNKNOWN)
    batch = gather([draft], engine.pieces)
    reading = engine.backend.score(batch)
    ((choice,),) = choose_phrases(batch, reading, engine.phrasing, [decide(reading.edits_BWE, [draft])])
    step = realise(question, choice.edits, CONTEXT, choice.probabilities)
    found = engine(question, CONTEXT, grounded=False).steps[0]
    assert found.text == step.text
    assert [replace(edit, refers_to=None) for edit in found.edits] == list(step.edits)


@pytest.mark.parametrize(
    ("question", "context", "told"),
    [
        (None, (), "question is a NoneType"),
        ("Why?", 7, "context is a int"),
        ("Why?", [1], r"context\[0\] is a int"),
    ],
)
def test_wrong_types_are_told(engine: Simplifier, question: str, context: list[str], told: str) -> None:
    with pytest.raises(InputError, match=told):
        engine(question, context)


def test_every_form_of_dialogue_gives_the_same(engine: Simplifier) -> None:
    question = "When did the band of Frank Zappa play in Tokyo?"
    messages = [{"role": "user", "content": CONTEXT[0]}, {"role": "assistant", "content": CONTEXT[1]}]
    expected = engine(question, CONTEXT)
    assert expected.changed
    assert engine(question, messages) == expected
    assert engine(question, [CONTEXT]) == expected
    assert engine(question, [("user", CONTEXT[0]), ("bot", CONTEXT[1])]) == expected
    items: list[Item] = [
        Example("", CONTEXT, question),
        {"question": question, "context": messages},
        (question, CONTEXT),
    ]
    assert list(engine.batch(items)) == [expected] * 3


def test_a_wrong_item_is_told_when_its_turn_comes(engine: Simplifier) -> None:
    items: list[Any] = [("Why?", []), "Why?"]
    with pytest.raises(InputError, match="item 1: got a str"):
        list(engine.batch(items))


def test_wrong_controls_are_told_before_the_first_result(engine: Simplifier) -> None:
    with pytest.raises(InputError, match="strength is 2"):
        engine.batch([], strength=2)


def test_strength_nothing_leaves_the_question(engine: Simplifier) -> None:
    for example in make_examples(10):
        result = engine(example.question, example.context, strength=0)
        assert (result.text, result.steps) == (example.question, ())


def test_a_higher_strength_never_keeps_more_in_the_first_pass(engine: Simplifier) -> None:
    changed = []
    for example in make_examples(25):
        removed = []
        for strength in (0.1, 0.3, 0.5, 0.7, 0.9):
            asked = Controls(strength=strength, max_passes=1, grounded=False)  # what must stay is no matter of strength
            steps = engine(example.question, example.context, controls=asked).steps
            removed.append(sum(len(forms(edit.old)) for step in steps for edit in step.edits))
        assert removed == sorted(removed) or removed[-1] == removed[2], "or no word would have been left"
        changed.append(len(set(removed)) > 1)
    assert sum(changed) > 5


def test_protected_words_stay_in_every_pass(engine: Simplifier) -> None:
    lost = 0
    for example in make_examples(40):
        words = forms(example.question)
        phrase = words[len(words) // 2 : len(words) // 2 + 2]
        told = " ".join(phrase)
        for strength in (0.5, 1.0):
            plain = engine(example.question, example.context, strength=strength)
            lost += told not in " ".join(forms(plain.text))
            result = engine(example.question, example.context, protect=[told.upper()], strength=strength)
            assert told in " ".join(forms(result.text))
    assert lost > 10


def test_max_passes_can_be_said_in_a_call(engine: Simplifier) -> None:
    example = next(one for one in make_examples(40) if len(engine(one.question, one.context).steps) > 1)
    plain = engine(example.question, example.context)
    assert engine(example.question, example.context, max_passes=1).steps == plain.steps[:1]


def test_what_was_not_looked_at_is_told(engine: Simplifier) -> None:
    assert not engine("Where was Ira Hayes born?", CONTEXT).truncated
    assert engine("Where was Ira Hayes born?", CONTEXT * 4).truncated
    assert engine("Where was Ira Hayes born?", ["word " * 40]).truncated
    assert engine("w " * 600, CONTEXT).truncated


def test_what_is_not_long_is_read_alike_in_both_ways(engine: Simplifier) -> None:
    examples = make_examples(40)
    assert list(engine.batch(examples, read="relevant")) == list(engine.batch(examples, read="all"))


def test_relevant_is_the_default_and_all_the_benchmarks_way() -> None:
    asked = [Controls.of(read=read, grounded=way) for read in (None, "all", "relevant") for way in (True, False)]
    assert [one.reads_relevant for one in asked] == [True, False, False, False, True, True]


def test_equal_dialogues_are_read_once(engine: Simplifier, monkeypatch: pytest.MonkeyPatch) -> None:
    read = []

    def read_dialogue(said: tuple[str, ...]) -> DialogueWords:
        read.append(said)
        return DialogueWords(said)

    monkeypatch.setattr(module, "DialogueWords", read_dialogue)
    list(engine.batch([("Where was Ira Hayes born?", list(CONTEXT)), ("Who was he?", list(CONTEXT))]))
    assert read == [CONTEXT]


def test_a_question_that_no_pass_reads_says_why(engine: Simplifier) -> None:
    asked = "Where was Ira Hayes born?"
    assert engine(asked, CONTEXT).reason is None
    assert engine(asked).reason == "there is no dialogue before it"
    assert engine(asked, CONTEXT, strength=0).reason == "strength 0 keeps every question"
    foreign = engine("¿Dónde nació Ira Hayes?", CONTEXT)
    assert (foreign.changed, foreign.steps, foreign.reason) == (False, (), "it does not seem to be English")
    assert type(foreign).from_dict(foreign.to_dict()) == foreign


def test_the_probability_is_that_of_every_pass(engine: Simplifier) -> None:
    assert engine("Why?").probability is None
    for example in make_examples(20):
        one, all_passes = (engine(example.question, example.context, max_passes=count) for count in (1, 3))
        if one.probability is None or all_passes.probability is None:
            assert not example.context
            continue
        least = min((edit.probability or 0 for step in one.steps for edit in step.edits), default=1)
        assert 0 < all_passes.probability <= one.probability <= least


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_threads_get_the_same_results(base: Path, precision: str) -> None:
    engine = Simplifier.load(export_tiny(base, "bert", precision)[1], threads=1)
    examples = make_examples(40)
    expected = [engine(one.question, one.context) for one in examples]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(engine, [one.question for one in examples], [one.context for one in examples])) == expected


def test_other_processes_get_the_same_results(engine: Simplifier) -> None:
    examples = make_examples(6)
    expected = [engine(one.question, one.context) for one in examples]
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        results = list(pool.map(engine, [one.question for one in examples], [one.context for one in examples]))
    assert results == expected


@pytest.mark.parametrize("kind", [0, 1], ids=["checkpoint", "exported"])
def test_an_engine_survives_a_pickle(base: Path, kind: int) -> None:
    engine = Simplifier.load(export_tiny(base, "bert", "float32")[kind], threads=1, max_passes=2)
    again = pickle.loads(pickle.dumps(engine))
    assert again.max_passes == 2
    for example in make_examples(5):
        assert again(example.question, example.context).text == engine(example.question, example.context).text


def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere: no such folder"):
        Simplifier.load(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"no config.json; expected the folder of a riseq model"):
        Simplifier.load(tmp_path)


@pytest.mark.parametrize(("name", "value"), [("threads", 0), ("max_passes", 0)])
def test_settings_below_one_are_refused(base: Path, name: str, value: int) -> None:
    options: dict[str, Any] = {name: value}
    with pytest.raises(InputError, match=f"{name} is 0, expected 1 or more"):
        Simplifier.load(export_tiny(base, "bert", "float32")[1], **options)


def test_without_a_model_that_ships_a_folder_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simplifier_module, "find_default_model", lambda: None)
    with pytest.raises(InputError, match="no model ships with this riseq"):
        Simplifier.load()


def test_the_model_that_ships_is_the_default(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = export_tiny(base, "bert", "float32")[1]
    monkeypatch.setattr(simplifier_module, "find_default_model", lambda: folder)
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
    with pytest.raises(InputError, match=r"needs the package 'torch'; install it with: pip install '\.\[train\]'"):
        Simplifier.load(checkpoint)


def test_its_repr_says_model_backend_and_threads(base: Path) -> None:
    checkpoint, exported = export_tiny(base, "bert", "int8")
    backend = "OnnxBackend(precision='int8', device='cpu', threads=2)"
    assert repr(Simplifier.load(exported, threads=2)) == f"Simplifier(model={str(exported)!r}, backend={backend})"
    assert repr(Simplifier.load(checkpoint)).startswith(f"Simplifier(model={str(checkpoint)!r}, backend=TorchBackend(")
    engine = Simplifier.load(exported, threads=1)
    assert repr(Simplifier(engine.backend, engine.pieces, engine.phrasing)).startswith(
        "Simplifier(model=None, backend="
    )
    assert repr(pickle.loads(pickle.dumps(engine))) == repr(engine)


def test_a_checkpoint_runs_where_pick_device_says(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    picked: list[str] = []

    def pick_device(name: str = "auto") -> torch.device:
        picked.append(name)
        return torch.device("cpu")

    monkeypatch.setattr("riseq.model.network.pick_device", pick_device)
    assert "device='cpu'" in repr(Simplifier.load(export_tiny(base, "bert", "float32")[0]))
    assert picked == ["auto"]
