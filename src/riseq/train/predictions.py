"""A checkpoint's outputs and scores on a set, by torch and in packed form: for dev scores, tables and teachers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from riseq.core.packed import Interner
from riseq.data.dataset import load_dataset
from riseq.data.tables import write_rows
from riseq.metrics.scores import Scores, score
from riseq.model.checkpoint import load_checkpoint
from riseq.model.network import pick_device
from riseq.train.corpus import Corpus, Lexicon, build_corpus
from riseq.train.policy import Policy


def predict_passes(policy: Policy, lexicon: Lexicon, corpus: Corpus, passes: int) -> list[list[str]]:
    """Return the lower-cased words of every question after each pass."""
    outputs = policy.roll_out(corpus, passes)
    return [[" ".join(row[1:]) for row in lexicon.interner.unpack(words)] for words in outputs]


def score_passes(policy: Policy, lexicon: Lexicon, corpus: Corpus, passes: int) -> list[Scores]:
    """Return the scores after each pass."""
    return _score(corpus, predict_passes(policy, lexicon, corpus, passes))


def _score(corpus: Corpus, passes: Sequence[Sequence[str]]) -> list[Scores]:
    targets = [example.target or "" for example in corpus.examples]
    return [score(predictions, targets) for predictions in passes]


def score_models(
    folders: Sequence[str | Path],
    names: Sequence[str],
    passes: int = 3,
    device: str = "auto",
    out: str | Path | None = None,
) -> dict[str, list[Scores]]:
    """Return the scores after each pass on each named set; several folders are scored as their mean.

    With ``out``, each set's outputs go to a JSON Lines file there: id, and the question after each pass.
    """
    from riseq.train.preparation import load_ensemble

    first = load_checkpoint(folders[0])
    interner = Interner(word for phrase in first.phrases for word in phrase)
    corpora = {name: build_corpus(load_dataset(name), interner, first.pieces) for name in names}
    lexicon = Lexicon(interner, first.pieces, first.phrases)
    where = pick_device(device)
    network = first.network.to(where) if len(folders) == 1 else load_ensemble(folders, lexicon, where)
    policy = Policy.build(network, lexicon, where)
    found = {}
    for name, corpus in corpora.items():
        predicted = predict_passes(policy, lexicon, corpus, passes)
        if out is not None:
            rows = ({"id": e.id, "passes": list(texts)} for e, *texts in zip(corpus.examples, *predicted, strict=True))
            write_rows(Path(out) / f"{name.replace('/', '.')}.jsonl", rows)
        found[name] = _score(corpus, predicted)
    return found
