"""Outputs and scores of checkpoints on sets, by torch and in packed form; several checkpoints as their mean."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from riseq.core.packed import Interner
from riseq.data.tables import write_rows
from riseq.metrics.scores import Scores, score
from riseq.model.checkpoint import load_checkpoint, load_trained
from riseq.model.folder import read_window
from riseq.model.network import Ensemble, pick_device
from riseq.text.pieces import Pieces
from riseq.train.corpus import Corpus, Lexicon, load_corpus
from riseq.train.policy import Policy
from riseq.types import InputError


def predict_passes(policy: Policy, lexicon: Lexicon, corpus: Corpus, passes: int) -> list[list[str]]:
    """Return the lower-cased words of every question after each pass."""
    outputs = policy.roll_out(corpus, passes)
    return [[" ".join(row[1:]) for row in lexicon.interner.unpack(words)] for words in outputs]


def score_models(
    folders: Sequence[str | Path], names: Sequence[str], passes: int, device: str, out: Path | None = None
) -> dict[str, list[Scores]]:
    """Return the scores after each pass on each named set; several folders are scored as their mean.

    With ``out``, each set's outputs go to a JSON Lines file there: id, and the question after each pass.
    """
    first = load_checkpoint(folders[0])
    interner = Interner(word for phrase in first.phrases for word in phrase)
    window = read_window(first.facts)
    corpora = {name: load_corpus(name, interner, first.pieces, window) for name in names}
    lexicon = Lexicon(interner, first.pieces, first.phrases)
    chosen = pick_device(device)
    network = first.network.to(chosen) if len(folders) == 1 else load_ensemble(folders, lexicon, chosen)
    policy = Policy.build(network, lexicon, chosen)
    found = {}
    for name, corpus in corpora.items():
        predicted = predict_passes(policy, lexicon, corpus, passes)
        if out is not None:
            rows = ({"id": e.id, "passes": list(texts)} for e, *texts in zip(corpus.examples, *predicted, strict=True))
            write_rows(out / f"{name.replace('/', '.')}.jsonl", rows)
        targets = [example.target or "" for example in corpus.examples]
        found[name] = [score(outputs, targets) for outputs in predicted]
    return found


def load_ensemble(folders: Sequence[str | Path], lexicon: Lexicon, device: torch.device) -> Ensemble:
    """Return checkpoints as one network over the lexicon's pieces and phrases."""
    networks, maps = [], []
    for folder in folders:
        checkpoint = load_trained(folder)
        if checkpoint.phrases != lexicon.phrases:
            raise InputError(f"{folder}: its phrase vocabulary is not the run's; train both on the same data")
        networks.append(checkpoint.network)
        maps.append(torch.from_numpy(map_pieces(lexicon.pieces, checkpoint.pieces)))
    return Ensemble(networks, maps).to(device).eval()


def map_pieces(mine: Pieces, theirs: Pieces) -> NDArray[np.int64]:
    """Return, for each of my piece ids, the other vocabulary's id of the same piece."""
    special = {getattr(mine, name): getattr(theirs, name) for name in ("cls_id", "sep_id", "pad_id", "unk_id")}
    ordered = sorted(mine.vocabulary.items(), key=lambda item: item[1])
    found = [special.get(number, theirs.vocabulary.get(piece, theirs.unk_id)) for piece, number in ordered]
    return np.array(found, dtype=np.int64)
