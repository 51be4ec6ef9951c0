"""Copied phrases in the network: their scores against slow loops, and one distribution over all phrases."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from riseq.core.batch import index_phrases
from riseq.core.copies import find_same
from riseq.core.copyable import make_copyable
from riseq.core.edits import Op
from riseq.core.packed import pack
from riseq.core.templates import BARE, TemplateVocabulary
from riseq.engine.backends.onnx_runtime import OnnxBackend
from riseq.engine.backends.pytorch import TorchBackend
from riseq.engine.drafts import gather, start
from riseq.engine.simplifier import Simplifier
from riseq.model.checkpoint import Checkpoint, load_checkpoint
from riseq.model.copies import CopyBatch
from riseq.model.export import export
from riseq.model.folder import LAYOUT, load_exported
from riseq.model.inputs import ContextWindow, SpanBatch, encode_context, find_spans, shown_words
from riseq.model.network import CopyInputs, Inputs, RiseNetwork, Spans, merge_copies
from riseq.types import InputError
from tiny_model import PHRASES, make_checkpoint, make_examples, make_pieces, save_tiny

PIECES = make_pieces("bert")
ROWS = [[0, 1, 2, 1, 0, 3, 1, 2], [0, 2], [0, 4, 4, 0, 0, 1]]
VOCABULARY = [[9]] * 6 + [[1, 2]]


def make_copier(copies: int) -> Checkpoint:
    made = make_checkpoint()
    network = RiseNetwork(replace(made.network.config, copies=copies), made.network.cls_id)
    network.load_state_dict({**network.state_dict(), **made.network.state_dict()})
    return replace(made, network=network.eval())


def make_batch(rows: list[list[int]], copies: int, piece_counts: list[int]) -> CopyBatch:
    copyable = make_copyable(pack(rows), copies)
    vocabulary = index_phrases(pack([[9 + k] for k in range(6)] + [[1, 2]]))
    counts = np.array([piece_counts[word] for word in copyable.words.values])
    return CopyBatch(copyable, counts, find_same(copyable, vocabulary), len(PHRASES))


def send(batch: CopyBatch) -> CopyInputs:
    first, last, room = (torch.from_numpy(array) for array in (batch.first_BC, batch.last_BC, batch.room_BC))
    assert batch.same_BK is not None
    return CopyInputs(first, last, room, torch.from_numpy(batch.same_BK))


def make_inputs() -> Inputs:
    ids = torch.randint(5, 40, (len(ROWS), 20), generator=torch.Generator().manual_seed(0))
    mask = torch.ones_like(ids, dtype=torch.bool)
    return Inputs(ids, torch.zeros_like(ids), mask, torch.full((len(ROWS), 1), 12), torch.ones_like(ids[:, 0]))


SPANS = Spans(torch.tensor([0, 2, 1, 0]), torch.tensor([3, 4, 1, 8]), torch.tensor([5, 5, 3, 9]))


@pytest.mark.parametrize("copies", [1, 3])
def test_scores_of_copied_spans_are_those_of_a_slow_loop(copies: int) -> None:
    network, counts = make_copier(copies).network, [1, 1, 3, 2, 1]
    with torch.no_grad():
        network.copy_queries.weight.normal_(std=0.3)
        network.copy_queries.bias.normal_()
        network.copy_lengths.normal_()
        inputs, words = make_inputs(), send(make_batch(ROWS, copies, counts))
        states = network.encode(inputs)
        seen: list[Tensor] = []
        network.phrase_head.register_forward_pre_hook(lambda _, given: seen.append(given[0][:, 0]))
        scores = network.score_phrases(inputs, states, SPANS, words)
        starts, ends = network.copy_queries(seen[0]).chunk(2, -1)
        vocabulary = network.phrase_head(seen[0])
    wanted = torch.full((4, 8, copies), -1e4)
    for k, row in enumerate(SPANS.row_N.tolist()):
        firsts = np.cumsum([0, *(counts[word] for word in ROWS[row])]).tolist()
        for i in range(len(ROWS[row])):
            for n in range(1, copies + 1):
                if i + n <= len(ROWS[row]) and 0 not in ROWS[row][i : i + n]:
                    by_start, by_end = states[row, firsts[i]] @ starts[k], states[row, firsts[i + n] - 1] @ ends[k]
                    wanted[k, i, n - 1] = (by_start + by_end) / 32**0.5 + network.copy_lengths[n - 1]
    slow = torch.cat([vocabulary, wanted.flatten(1)], 1).log_softmax(-1)
    assert scores.shape == (4, len(PHRASES) + 8 * copies)
    torch.testing.assert_close(scores, slow, atol=1e-4, rtol=1e-5)
    torch.testing.assert_close(scores.exp().sum(-1), torch.ones(4))


def test_a_span_in_a_template_has_the_sum_of_both_scores_in_one_softmax() -> None:
    made = make_copier(2)
    network = RiseNetwork(replace(made.network.config, templates=3), made.network.cls_id).eval()
    network.load_state_dict({**network.state_dict(), **made.network.state_dict()})
    with torch.no_grad():
        for head in (network.copy_queries, network.template_head):
            assert head is not None
            head.weight.normal_(std=0.3)
            head.bias.normal_()
        inputs, words = make_inputs(), send(make_batch(ROWS, 2, [1, 1, 3, 2, 1]))
        states = network.encode(inputs)
        seen: list[Tensor] = []
        network.phrase_head.register_forward_pre_hook(lambda _, given: seen.append(given[0][:, 0]))
        scores = network.score_phrases(inputs, states, SPANS, words)
        assert network.template_head is not None
        templates = torch.cat([torch.zeros(4, 1), network.template_head(seen[0])], 1)
        copied = network._score_copies(seen[0][:, None], states[SPANS.row_N], words, SPANS.row_N)
        every = (copied[:, :, None] + templates[:, None, :]).flatten(1)
        slow = torch.cat([network.phrase_head(seen[0]), every], 1).log_softmax(-1)
    vocabulary, spans = len(PHRASES), 8 * 2
    assert scores.shape == (4, vocabulary + spans + 4)
    found = scores[:, vocabulary : vocabulary + spans, None] + scores[:, None, vocabulary + spans :]
    wanted = slow[:, vocabulary:].view(4, spans, 4)
    possible = wanted > -1e3
    torch.testing.assert_close(scores[:, :vocabulary], slow[:, :vocabulary], atol=1e-4, rtol=1e-5)
    torch.testing.assert_close(found[possible], wanted[possible], atol=1e-4, rtol=1e-5)


def test_a_model_that_begins_to_copy_says_what_it_said() -> None:
    inputs, plain, copier = make_inputs(), make_checkpoint().network, make_copier(3).network
    with torch.no_grad():
        states = plain.encode(inputs)
        before = plain.score_phrases(inputs, states, SPANS)
        after = copier.score_phrases(inputs, states, SPANS, send(make_batch(ROWS, 3, [1] * 5)))
        assert torch.equal(before.argmax(-1), after.argmax(-1))
        assert after[:, len(PHRASES) :].exp().sum(-1).max() < 0.1
        with pytest.raises(ValueError, match="where its words are"):
            copier.score_phrases(inputs, states, SPANS)


@pytest.mark.parametrize("scale", [1.0, 60.0])
def test_equal_words_share_one_column(scale: float) -> None:
    batch = make_batch(ROWS, 3, [1] * 5)
    assert batch.same_BK is not None
    same_NK = torch.from_numpy(batch.same_BK)[[0, 0, 1, 2]]
    raw = torch.randn(4, 7 + 24, generator=torch.Generator().manual_seed(1), dtype=torch.float64) * scale
    raw.requires_grad_()
    scores = raw.log_softmax(-1)
    merged = merge_copies(scores, same_NK)
    for k in range(4):
        ids = [*range(7), *same_NK[k].tolist()]
        for column in range(31):
            group = [at for at, one in enumerate(ids) if one == column]
            assert merged[k, column].item() == pytest.approx(scores[k, group].logsumexp(0).item() if group else -1e4)
    assert same_NK[0, 1 * 3 + 1] == same_NK[0, 6 * 3 + 1] == 6, "the vocabulary's, here twice in the words"
    torch.testing.assert_close(merged.exp().sum(-1), torch.ones(4, dtype=torch.float64))
    merged[torch.arange(4), same_NK[:, 3]].sum().backward()  # type: ignore[no-untyped-call]
    assert raw.grad is not None
    assert raw.grad.isfinite().all()
    assert raw.grad.abs().sum(-1).min() > 0


utterances = st.lists(st.lists(st.sampled_from(["film", "band", "?", "zed", "hayes"]), max_size=9), max_size=5)


@given(utterances, st.one_of(st.none(), st.integers(1, 60)), st.one_of(st.none(), st.integers(1, 12)))
def test_the_words_that_are_shown_are_those_of_its_pieces(
    context: list[list[str]], allowed: int | None, cut: int | None
) -> None:
    texts = [" ".join(words) for words in context]
    encoded = encode_context(PIECES, texts, ContextWindow(cut, 3, allowed))
    shown = shown_words(texts, encoded)
    assert [PIECES.cls_id, *PIECES.encode(shown[0])] + [
        piece for words in shown[1:] for piece in (PIECES.sep_id, *PIECES.encode(words))
    ] == encoded.ids
    for words, whole in zip(shown[::-1], context[::-1], strict=False):
        assert any(whole[at : at + len(words)] == words for at in range(len(whole) + 1))


def test_an_older_checkpoint_copies_nothing(tmp_path: Path) -> None:
    folder = save_tiny(tmp_path / "model", make_checkpoint())
    config = json.loads((folder / LAYOUT.config).read_text(encoding="utf-8"))
    assert config["network"].pop("copies") == 0
    (folder / LAYOUT.config).write_text(json.dumps(config), encoding="utf-8")
    assert load_checkpoint(folder).network.config.copies == 0


@pytest.mark.parametrize("templates", [0, 3])
@pytest.mark.parametrize("copies", [1, 3])
def test_one_that_copies_comes_back_and_is_exported(tmp_path: Path, copies: int, templates: int) -> None:
    made = make_copier(copies)
    network = RiseNetwork(replace(made.network.config, templates=templates), made.network.cls_id).eval()
    network.load_state_dict({**network.state_dict(), **made.network.state_dict()})
    with torch.no_grad():
        for head in filter(None, (network.copy_queries, network.template_head)):
            head.weight.normal_(std=0.3)
            head.bias.normal_()
    known = TemplateVocabulary((BARE, (("of",), ()), ((), ("?",)), (("in", "the"), ("was",)))[: templates + 1])
    folder = save_tiny(tmp_path / "model", replace(made, network=network, templates=known))
    found = load_checkpoint(folder)
    assert (found.network.config.copies, found.templates) == (copies, known)
    assert torch.equal(found.network.copy_lengths, torch.full((copies,), -4.0))
    export(folder, tmp_path / "out", "float32")
    exported = load_exported(tmp_path / "out")
    assert (exported.copies, exported.templates) == (copies, known)
    drafts = [start(one.question, one.context, PIECES, 512) for one in make_examples(12)]
    batch = gather(drafts, PIECES, copies)
    spans = find_spans(batch, np.full((12, batch.firsts_BW.shape[1] - 1), Op.INSERT))
    mine = OnnxBackend(exported, tmp_path / "out").score(batch).score_phrases(spans)
    theirs = TorchBackend(found.network).score(batch).score_phrases(spans)
    assert batch.copies is not None
    words = max(map(len, (draft.read_words for draft in drafts)))
    assert mine.shape[1] == len(PHRASES) + words * copies + (len(known) if templates else 0)
    np.testing.assert_allclose(mine, theirs, atol=1e-4)
    few = SpanBatch(*(column[-2:] for column in (spans.row_N, spans.word_N, spans.start_N, spans.end_N)))
    alone = OnnxBackend(exported, tmp_path / "out").score(batch).score_phrases(few)
    np.testing.assert_allclose(alone, mine[-2:], atol=1e-4)
    texts = [[one.text for one in Simplifier.load(at).batch(make_examples(40))] for at in (folder, tmp_path / "out")]
    assert texts[0] == texts[1], "copies are no matter of direction"


def test_one_with_beside_and_stops_is_not_exported(tmp_path: Path) -> None:
    made = make_checkpoint()
    network = RiseNetwork(replace(made.network.config, beside=True, stops=True), made.network.cls_id)
    folder = save_tiny(tmp_path / "model", replace(made, network=network))
    with pytest.raises(InputError, match="trained with beside and stops cannot be exported"):
        export(folder, tmp_path / "out")
