"""What runs a graph, and many rows side by side."""

from __future__ import annotations

import numpy as np
import pytest

from riseq.engine.backends import ParallelBackend
from riseq.engine.backends.onnx_runtime import CPU, CUDA, OnnxBackend, pick_providers
from riseq.engine.drafts import gather, start
from riseq.engine.editor import MANY
from riseq.engine.resolver import Resolver
from riseq.engine.simplifier import Simplifier
from riseq.model.inputs import SpanBatch
from riseq.types import InputError
from tiny_model import export_tiny, make_examples
from tiny_resolver import export_tiny_resolver


@pytest.mark.parametrize(
    ("precision", "available", "picked"),
    [
        ("float32", [CUDA, CPU], [CUDA, CPU]),
        ("float32", [CPU], [CPU]),
        ("float32", ["AzureExecutionProvider", CPU], [CPU]),
        ("int8", [CUDA, CPU], [CPU]),  # its quantising has no kernel there
    ],
)
def test_cuda_runs_float32_where_it_is(precision: str, available: list[str], picked: list[str]) -> None:
    assert pick_providers(precision, available) == picked


def test_many_rows_side_by_side_say_what_each_says_alone(tmp_path_factory: pytest.TempPathFactory) -> None:
    _, folder = export_tiny(tmp_path_factory.getbasetemp(), "bert", "int8")
    engine = Simplifier.load(folder, threads=2)
    assert isinstance(engine.backend, ParallelBackend)
    assert engine.backend.workers == 2
    examples = make_examples(MANY + 30)
    assert sum(bool(example.context) for example in examples) > MANY
    together = list(engine.batch(examples))
    assert together == [engine(example.question, example.context) for example in examples]
    assert engine.backend.single_threaded() is engine.backend.single_threaded()


def test_rows_of_one_batch_do_not_change_each_others_scores(tmp_path_factory: pytest.TempPathFactory) -> None:
    base = tmp_path_factory.getbasetemp()
    _, bare = export_tiny(base, "bert", "int8")
    for engine in (Simplifier.load(bare, threads=1), Resolver.load(export_tiny_resolver(base, "int8")[1], threads=1)):
        drafts = [
            start(one.question, one.context, engine.pieces, engine.backend.max_pieces, direction=engine.direction)
            for one in make_examples(12)
            if one.context
        ]
        copies = engine.phrasing.copies
        together = gather(drafts, engine.pieces, copies)
        batches = [gather([draft], engine.pieces, copies) for draft in drafts]
        assert len(set(together.lengths_B.tolist())) > 1
        scores = engine.backend.score(together)
        spans = [(row, place) for row in (3, 0, 3, 5) for place in (1, 2)]  # in no order, one row twice
        row_N, word_N = np.array(spans).T
        start_N = together.firsts_BW[row_N, word_N]
        found = scores.score_phrases(SpanBatch(row_N, word_N, start_N, together.firsts_BW[row_N, word_N + 1]))
        for row, batch in enumerate(batches):
            alone = engine.backend.score(batch)
            words = int(batch.words_B[0])
            np.testing.assert_array_equal(scores.edits_BWE[row, :words], alone.edits_BWE[0, :words])
            if len(at := np.flatnonzero(row_N == row)):
                here = SpanBatch(np.zeros_like(at), word_N[at], start_N[at], batch.firsts_BW[0, word_N[at] + 1])
                own = alone.score_phrases(here)
                np.testing.assert_array_equal(found[at][np.isfinite(found[at])], own.ravel())


def test_the_fast_product_of_bytes_is_taken_only_where_it_gives_the_same_scores(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, folder = export_tiny(tmp_path_factory.getbasetemp(), "bert", "int8")
    examples = make_examples(40)
    said = list(Simplifier.load(folder, threads=1).batch(examples, n_best=3))
    monkeypatch.setattr("riseq.engine.backends.onnx_runtime.adds_exactly", lambda: False)
    assert list(Simplifier.load(folder, threads=1).batch(examples, n_best=3)) == said
    assert len({edit.probability for one in said for edit in one.edits}) > 10


def test_one_thread_or_float32_is_not_divided(tmp_path_factory: pytest.TempPathFactory) -> None:
    base = tmp_path_factory.getbasetemp()
    for precision, threads in (("int8", 1), ("float32", 2)):
        backend = Simplifier.load(export_tiny(base, "bert", precision)[1], threads=threads).backend
        assert isinstance(backend, OnnxBackend)
        assert backend.workers == 1


def test_a_device_that_cannot_run_a_model_is_refused_in_one_line() -> None:
    assert pick_providers("float32", [CUDA, CPU], "cpu") == [CPU]
    assert pick_providers("float32", [CUDA, CPU], "cuda") == [CUDA, CPU]
    with pytest.raises(InputError, match="an int8 model runs on the CPU"):
        pick_providers("int8", [CUDA, CPU], "cuda")
    with pytest.raises(InputError, match="onnxruntime-gpu"):
        pick_providers("float32", [CPU], "cuda")
