"""``riseq evaluate``: a system's scores on a set."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from riseq.cli import DEFAULT_SYSTEM, ModelOption, SkipBadOption, SystemOption, load_set, open_console, option
from riseq.systems.registry import load_system


def evaluate(
    data: Annotated[Path, option("--data -d FILE", "A file with targets, or a set's name under RISEQ_DATA.")],
    system: SystemOption = DEFAULT_SYSTEM,
    model: ModelOption = None,
    predictions: Annotated[
        Path | None, option("--predictions OUT", "Also write each prediction beside its target.")
    ] = None,
    confidence: Annotated[bool, option("--confidence", "Also show how well the results' confidences hold.")] = False,
    as_json: Annotated[bool, option("--json", "Print one JSON object instead of a table.")] = False,
    skip_bad: SkipBadOption = False,
) -> None:
    """Score a system on a set, as the paper scores it.

    Prints the number of questions, BLEU-1 to BLEU-4, ROUGE-L, CIDEr, the
    share of exact matches and the mean word-level Levenshtein distance to
    the target. Scores are in percent, except CIDEr and the distance.

    \b
    [bold]Examples[/]
      riseq evaluate --system rule --data test.jsonl
      riseq evaluate --system origin --data test.jsonl --json
      riseq evaluate --data test.jsonl --predictions predictions.jsonl
    """
    from riseq.data.rows import prediction_row
    from riseq.data.tables import check_output, write_rows
    from riseq.metrics.reliability import check_confidence
    from riseq.reproduce.predict import evaluate as run
    from riseq.terminal.results import show_scores

    if predictions is not None:
        check_output(predictions)
    examples = load_set(data, skip_bad, need_target=True)
    evaluation = run(load_system(system, model), examples)
    if predictions is not None:
        rows = zip(examples, evaluation.predictions, strict=True)
        write_rows(predictions, (prediction_row(example, prediction) for example, prediction in rows))
    reliability = check_confidence(examples, evaluation.predictions) if confidence else None
    if as_json:
        scores: dict[str, object] = dict(evaluation.scores.as_dict())
        if reliability is not None:
            scores["confidence"] = {"ece": reliability.error, "auc": reliability.discrimination}
        typer.echo(json.dumps(scores))
        return
    console = open_console()
    show_scores(console, {system: evaluation.scores})
    if reliability is not None:
        error, auc = reliability.error, reliability.discrimination
        console.print(f"confidence: expected calibration error {error:.3f}, AUC {auc:.3f}")
