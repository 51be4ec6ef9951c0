"""The language model: its prompts, its outputs in batches, its folder, and GGUF files."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from riseq.baselines.generation import LONGER, pad
from riseq.baselines.language_model import QUESTION_TOKENS, LanguageModel
from riseq.types import Example, InputError
from tiny_language_model import make_llama, write_language_model
from tiny_world import make_rows

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
    first, second, third, _ = (model.make_prompt(example) for example in EXAMPLES)
    assert model.tokenizer.decode(list(first.ids)) == (
        "Tell me about Alan Turing.\nAlan Turing is well known.\n\nQuestion: Did Alan Turing win a prize?\nFollow-up:"
    )
    assert not first.truncated
    assert model.tokenizer.decode(list(second.ids)) == "\nQuestion: Why?\nFollow-up:"
    assert third.truncated
    assert third.question == QUESTION_TOKENS
    text = model.tokenizer.decode(list(third.ids))
    assert "Number 3?" in text
    assert "Number 2?" not in text


def test_a_target_ends_and_reads_back(model: LanguageModel) -> None:
    ids = model.encode_target("Did he win a prize?")
    assert ids[-1] == model.end_id
    assert model.decode(ids) == "Did he win a prize?"
    assert model.decode([]) == ""


def test_rows_are_padded_on_either_side() -> None:
    for side, first in (("right", [5, 6, 0]), ("left", [0, 5, 6])):
        ids, mask = pad([[5, 6], [7, 8, 9]], 0, side)  # type: ignore[arg-type]
        assert ids.tolist() == [first, [7, 8, 9]]
        assert mask.tolist() == [[int(k != 0) for k in first], [1, 1, 1]]


@torch.no_grad()
@pytest.mark.parametrize("seed", range(3))
def test_outputs_are_the_likeliest_token_each_time_whatever_the_batch(model: LanguageModel, seed: int) -> None:
    """Neither padding on the left nor the kept past changes an output: one token at a time, alone, gives the same."""
    network = make_llama(model.tokenizer.get_vocab_size(), seed)
    for parameter in network.parameters():
        parameter.mul_(4)  # sharp enough that no two tokens are alike to rounding
    other = LanguageModel(network, model.tokenizer)
    for output, example in zip(other.write(EXAMPLES), EXAMPLES, strict=True):
        prompt = other.make_prompt(example)
        written: list[int] = []
        while len(written) < min(QUESTION_TOKENS, prompt.question + LONGER):
            token = int(network(torch.tensor([[*prompt.ids, *written]])).logits[0, -1].argmax())
            if token == other.end_id:
                break
            written.append(token)
        assert output.text == other.decode(written)


def test_what_a_folder_proposes_for_generation_is_not_used(model: LanguageModel) -> None:
    wanted = model.write(EXAMPLES[:1])
    network = make_llama(model.tokenizer.get_vocab_size())
    network.load_state_dict(model.network.state_dict())
    network.generation_config.update(do_sample=True, temperature=9.0, repetition_penalty=5.0)
    assert LanguageModel(network, model.tokenizer).write(EXAMPLES[:1]) == wanted


def test_odd_input_has_an_output_whatever_the_batch(model: LanguageModel) -> None:
    together = model.write(EXAMPLES)
    assert [output.truncated for output in together] == [False, False, True, False]
    alone = [model.write([example])[0] for example in EXAMPLES]
    assert together == alone


def test_it_is_saved_as_transformers_reads_it(model: LanguageModel, tmp_path: Path) -> None:
    facts = {"settings": {"seed": 7}, "epoch": 1}
    model.save(tmp_path / "m", facts, "# card\n", half=True)
    found = LanguageModel.load(tmp_path / "m")
    assert found.facts == facts
    ids = torch.tensor([model.make_prompt(EXAMPLES[0]).ids])
    with torch.no_grad():
        torch.testing.assert_close(found.network(ids).logits, model.network(ids).logits, atol=1e-2, rtol=1e-2)


def test_a_folder_without_a_language_model_is_refused(tmp_path: Path) -> None:
    for name in ("model.safetensors", "tokenizer.json"):
        (tmp_path / name).write_text("{}")
    with pytest.raises(InputError, match=r"no config\.json"):
        LanguageModel.load(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "nothing"}')
    with pytest.raises(InputError, match="not a language model that transformers reads"):
        LanguageModel.load(tmp_path)
