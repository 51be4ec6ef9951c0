"""Score trained models on sets by torch, one line of JSON each.

RISE's checkpoints are scored after each pass, several folders as their mean:

    python benchmarks/score_checkpoints.py --model runs/small/best --data canard/dev.qonly --out outputs

With --system the model is a baseline's, and --out gets its predictions beside their targets:

    python benchmarks/score_checkpoints.py --system qgdiv --model runs/qgdiv/best --data canard/dev.qonly --out outputs

--out has one JSON Lines file a set. A set with questions that have no dialogue before them is scored with those kept as
they are; with --first-turns asked the outputs are the model's own, and both forms are scored (a baseline always is).
A set called NAME+resolve is read backwards, NAME+complete has the self-contained questions, which stay.
Needs what training needs, and nothing of riseq's other extras.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from riseq.metrics.behaviour import is_backwards, load_scored
from riseq.metrics.first_turns import FirstTurns, has_first_turns, keep_first_turns
from riseq.metrics.resolving import score_resolved
from riseq.metrics.scores import score
from riseq.types import Example, InputError


def score_passes(
    models: Sequence[str],
    names: Sequence[str],
    passes: int,
    device: str,
    out: Path | None,
    first_turns: FirstTurns = "kept",
) -> Iterator[dict[str, Any]]:
    """Yield the scores of RISE's checkpoints, taken as their mean, on each set after each pass.

    With ``out``, each set's outputs go to a JSON Lines file there: id, and the question after each pass.
    """
    from riseq.core.packed import Interner
    from riseq.data.tables import write_rows
    from riseq.model.checkpoint import load_checkpoint
    from riseq.model.folder import read_training_window
    from riseq.model.network import pick_device
    from riseq.train.corpus import Lexicon, load_corpus
    from riseq.train.policy import Policy, load_ensemble, predict_passes

    first = load_checkpoint(models[0])
    interner = Interner(word for phrase in first.phrases for word in phrase)
    window = read_training_window(first.facts)
    copied = first.network.config.copies > 0
    corpora = {name: load_corpus(name, interner, first.pieces, window, copied=copied) for name in names}
    lexicon = Lexicon(interner, first.pieces, first.phrases, first.templates)
    chosen = pick_device(device)
    network = first.network.to(chosen) if len(models) == 1 else load_ensemble(models, lexicon, chosen)
    policy = Policy.build(network, lexicon, chosen)
    for name, corpus in corpora.items():
        predicted = predict_passes(policy, lexicon, corpus, passes, first_turns)
        if out is not None:
            rows = ({"id": e.id, "passes": list(texts)} for e, *texts in zip(corpus.examples, *predicted, strict=True))
            write_rows(out / f"{name.replace('/', '.')}.jsonl", rows)
        for number, outputs in enumerate(predicted, start=1):
            for form, scores in score_forms(name, corpus.examples, outputs, first_turns).items():
                yield {"data": name, "passes": number, "first_turns": form, **scores}


def score_forms(
    name: str, examples: Sequence[Example], texts: Sequence[str], made: FirstTurns
) -> dict[FirstTurns, dict[str, float]]:
    """Return the scores with first turns kept and, where they were asked and there are some, as the model has them."""
    targets = [example.target or "" for example in examples]
    forms: dict[FirstTurns, Sequence[str]] = {"kept": keep_first_turns(examples, texts)}
    if made == "asked" and has_first_turns(examples):
        forms["asked"] = texts
    found: dict[FirstTurns, dict[str, float]] = {form: score(of, targets).as_dict() for form, of in forms.items()}
    if is_backwards(name.removesuffix("+grounded")):
        for form, of in forms.items():
            found[form] |= score_resolved([example.question for example in examples], of, targets).as_dict()
    return found


def score_baseline(system: str, model: str, names: Sequence[str], out: Path | None) -> Iterator[dict[str, Any]]:
    """Yield the scores of a baseline's model on each set, all sets by one loaded model."""
    from riseq.data.rows import prediction_row
    from riseq.data.tables import write_rows
    from riseq.systems.registry import load_system

    loaded = load_system(system, model)
    for name in names:
        examples = load_scored(name, need_target=True)
        began = time.perf_counter()
        results = list(loaded.simplify(examples))
        seconds = time.perf_counter() - began
        if out is not None:
            rows = (prediction_row(example, result) for example, result in zip(examples, results, strict=True))
            write_rows(out / f"{name.strip('./').replace('/', '.').removesuffix('.jsonl')}.jsonl", rows)
        speed = {"questions_per_s": round(len(examples) / seconds, 1)}
        for form, scores in score_forms(name, examples, [result.text for result in results], "asked").items():
            yield {"system": system, "data": name, "first_turns": form, **scores, **speed}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the scores and return the exit code: 2 for a user's mistake, told in one line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", action="append", required=True, help="a model's folder; several are averaged")
    parser.add_argument("--data", action="append", required=True, help="a data set with targets; repeat for more")
    parser.add_argument("--system", help="the baseline that the model is one of; without it the models are RISE's")
    parser.add_argument("--passes", type=int, default=3, help="RISE's passes (default: 3)")
    parser.add_argument("--device", default="auto", help="RISE's device: auto, cpu, cuda ...")
    parser.add_argument("--first-turns", choices=["kept", "asked"], default="kept", help="RISE's (default: kept)")
    parser.add_argument("--out", type=Path, help="a folder for the outputs")
    asked = parser.parse_args(arguments)
    try:
        if asked.system and len(asked.model) > 1:
            raise InputError("--system takes one --model")
        if asked.out is not None:
            asked.out.mkdir(parents=True, exist_ok=True)
        found = (
            score_baseline(asked.system, asked.model[0], asked.data, asked.out)
            if asked.system
            else score_passes(asked.model, asked.data, asked.passes, asked.device, asked.out, asked.first_turns)
        )
        for scores in found:
            print(json.dumps(scores), flush=True)
    except InputError as error:
        print(f"score_checkpoints: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
