"""The language model: what it is asked, and that keeping the past changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from riseq.baselines.decoding import decode_greedily
from riseq.baselines.generation import write_by_language_model
from riseq.baselines.language_model import QUESTION_TOKENS, LanguageModel, LanguageModelStepper, pad_right
from riseq.types import Example, InputError
from tiny_language_model import write_language_model
from tiny_world import make_rows

CPU = torch.device("cpu")
EXAMPLES = [
    Example("1", ("Tell me about Alan Turing.", "Alan Turing is well known."), "Did Alan Turing win a prize?"),
    Example("2", (), "Why?"),
    Example("3", tuple(f"Number {k}?" for k in range(9)), "word " * 200),
    Example("4", ("\ud800 \u0000",), "\u00e9\u4e2d\U0001f600"),
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> LanguageModel:
    return LanguageModel.load(write_language_model(tmp_path_factory.mktemp("lm"), make_rows()))


def test_a_prompt_has_the_last_utterances_and_the_question(model: LanguageModel) -> None:
    first, second, third, _ = (model.ask(example) for example in EXAMPLES)
    assert model.tokenizer.decode(list(first.ids)) == (
        "Tell me about Alan Turing.\nAlan Turing is well known.\n\nQuestion: Did Alan Turing win a prize?\nFollow-up:"
    )
    assert not first.truncated
    assert model.tokenizer.decode(list(second.ids)) == "\nQuestion: Why?\nFollow-up:"
    assert third.truncated
    assert third.question == QUESTION_TOKENS
    told = model.tokenizer.decode(list(third.ids))
    assert "Number 3?" in told
    assert "Number 2?" not in told


def test_an_answer_ends_and_reads_back(model: LanguageModel) -> None:
    ids = model.answer("Did he win a prize?")
    assert ids[-1] == model.end_id
    assert model.read(ids) == "Did he win a prize?"
    assert model.read([]) == ""


@torch.no_grad()
def test_keeping_the_past_and_padding_change_nothing(model: LanguageModel) -> None:
    prompts = [model.ask(example) for example in EXAMPLES]
    stepper = LanguageModelStepper(model, prompts, CPU)
    written = torch.randint(1, 300, (4, 3))
    found = [stepper.begin(), *(stepper.step(written[:, t : t + 1]) for t in range(3))]
    for row, prompt in enumerate(prompts):
        ids = torch.tensor([[*prompt.ids, *written[row].tolist()]])
        wanted = model.network(input_ids=ids).logits[0, len(prompt.ids) - 1 :].log_softmax(-1)
        torch.testing.assert_close(torch.cat([step[row] for step in found]), wanted, atol=1e-4, rtol=1e-3)


@torch.no_grad()
def test_greedy_outputs_are_transformers_own(model: LanguageModel) -> None:
    prompts = [model.ask(example) for example in EXAMPLES[:2]]
    found = decode_greedily(LanguageModelStepper(model, prompts, CPU), torch.tensor([12, 12]), model.end_id)
    for prompt, output in zip(prompts, found, strict=True):
        ids, mask = pad_right([prompt.ids], model.end_id, CPU)
        theirs = model.network.generate(ids, attention_mask=mask, max_new_tokens=12, do_sample=False)
        cut = theirs[0, ids.shape[1] :].tolist()
        assert list(output.ids) == (cut[: cut.index(model.end_id)] if model.end_id in cut else cut)


def test_odd_input_is_written_too_whatever_the_batch(model: LanguageModel) -> None:
    together = write_by_language_model(model, EXAMPLES, CPU)
    assert [written.truncated for written in together] == [False, False, True, False]
    alone = [write_by_language_model(model, [example], CPU)[0] for example in EXAMPLES]
    assert together == alone


def test_it_is_saved_as_transformers_reads_it(model: LanguageModel, tmp_path: Path) -> None:
    facts = {"settings": {"seed": 7}, "epoch": 1}
    model.save(tmp_path / "m", facts, "# card\n", half=True)
    found = LanguageModel.load(tmp_path / "m")
    assert found.facts == facts
    ids = torch.tensor([model.ask(EXAMPLES[0]).ids])
    with torch.no_grad():
        torch.testing.assert_close(found.network(ids).logits, model.network(ids).logits, atol=1e-2, rtol=1e-2)


def test_a_folder_without_a_language_model_is_told(tmp_path: Path) -> None:
    for name in ("model.safetensors", "tokenizer.json"):
        (tmp_path / name).write_text("{}")
    with pytest.raises(InputError, match=r"no config\.json"):
        LanguageModel.load(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "nothing"}')
    with pytest.raises(InputError, match="not a language model that transformers reads"):
        LanguageModel.load(tmp_path)
