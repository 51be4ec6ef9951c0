"""``riseq evaluate``: a system's scores on a set."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from riseq.cli import (
    DEFAULT_SYSTEM,
    FirstTurnsOption,
    ModelOption,
    ResolverOption,
    SkipBadOption,
    SystemOption,
    choose_resolver,
    load_case_set,
    open_console,
    option,
)
from riseq.controls import ControlOptions
from riseq.systems.registry import load_system
from riseq.types import InputError


def evaluate(
    data: Annotated[Path, option("--data -d FILE", "A file with targets, a suite, or a set's name under RISEQ_DATA.")],
    system: SystemOption = DEFAULT_SYSTEM,
    model: ModelOption = None,
    predictions: Annotated[Path | None, option("--predictions OUT", "Also write outputs beside targets.")] = None,
    grounded: Annotated[
        bool | None, option("--grounded/--no-grounded", "Drop only what the dialogue has said (default yes).")
    ] = None,
    first_turns: FirstTurnsOption = None,
    confidence: Annotated[bool, option("--confidence", "Also show how well the results' confidences hold.")] = False,
    round_trip: Annotated[bool, option("--round-trip", "Also resolve every output again: what is back?")] = False,
    resolver: ResolverOption = None,
    as_json: Annotated[bool, option("--json", "Print one JSON object instead of a table.")] = False,
    skip_bad: SkipBadOption = False,
) -> None:
    """Score a system on a set, as the paper scores it.

    Prints the number of questions, BLEU-1 to BLEU-4, ROUGE-L, CIDEr, the
    share of exact matches and the mean word-level Levenshtein distance to
    the target. Scores are in percent, except CIDEr and the distance.

    A question with no dialogue before it can be [bold]kept[/] as it is, or every system
    [bold]asked[/] what it makes of it; by default each does as it does (RISE keeps it).

    A set whose name ends in [bold]+resolve[/] is read backwards, from the conversational question to
    the self-contained one, and [bold]+complete[/] asks the self-contained one, which should stay: both
    also have the F1 of the words put in and the share of complete questions left as they are.

    A suite (rows with gold, keep, gone and bad) is judged case by case: how many
    percent kept what was new, were shortened, are clean, right, and exact.

    With [bold]--round-trip[/] every output is resolved again in its dialogue. Shown are
    the shares of the questions' content words that were dropped and that are
    back, of dropped ones that were restored, and of questions that are whole
    (with every content word) and exact; by phenomenon.

    \b
    [bold]Examples[/]
      riseq evaluate --system rule --data test.jsonl
      riseq evaluate --no-grounded --data canard/test.qonly --json
      riseq evaluate -s rule --data cast19/test.qonly --first-turns kept
      riseq evaluate --data test.jsonl --predictions predictions.jsonl
      riseq evaluate --data everyday/suite --confidence
      riseq evaluate -s resolve -m models/resolve -d canard/dev.qa+resolve
      riseq evaluate -s gold -d everyday/suite --round-trip
    """
    from riseq.data.rows import prediction_row
    from riseq.data.tables import check_output, write_rows
    from riseq.files import check_apart
    from riseq.metrics.behaviour import ALL, is_backwards, measure_behaviour
    from riseq.metrics.reliability import check_confidence
    from riseq.metrics.resolving import score_resolved
    from riseq.metrics.round_trip import measure_cases
    from riseq.reproduce.predict import evaluate as run
    from riseq.reproduce.predict import resolve_again
    from riseq.terminal.results import show_scores

    back = choose_resolver(round_trip, resolver)
    if back is not None and (system == "resolve" or is_backwards(data)):
        raise InputError("--round-trip goes with simplified questions, which it resolves; got resolved ones")
    if predictions is not None:
        check_output(predictions)
        check_apart(data, predictions)
    cases = load_case_set(data, skip_bad)
    examples = [case.example for case in cases]
    controls: ControlOptions = {} if grounded is None else {"grounded": grounded}
    chosen, way_back = load_system(system, model, **controls), back and load_system("resolve", back)
    evaluation = run(chosen, examples, first_turns)
    resolved = resolve_again(way_back, examples, evaluation.predictions) if way_back else None
    if predictions is not None:
        rows = map(prediction_row, examples, evaluation.predictions)
        write_rows(
            predictions,
            ({**row, "resolved": text} for row, text in zip(rows, resolved, strict=True)) if resolved else rows,
        )
    reliability = check_confidence(cases, evaluation.predictions) if confidence else None
    scores: dict[str, Any] = dict(evaluation.scores.as_dict())
    if is_backwards(data):
        texts = [one.text for one in evaluation.predictions]
        scores |= score_resolved(
            [one.question for one in examples], texts, [one.target or "" for one in examples]
        ).as_dict()
    table, first = {system: scores}, "system"
    if cases[0].phenomenon and not is_backwards(data):
        table, first = measure_behaviour(cases, [one.text for one in evaluation.predictions]), "phenomenon"
        scores = {**table[ALL], "phenomena": {name: one for name, one in table.items() if name != ALL}}
    trips = measure_cases(cases, [one.text for one in evaluation.predictions], resolved) if resolved else {}
    if as_json:
        if trips:
            parts = {name: one.as_dict() for name, one in trips.items()}
            scores["round_trip"] = {**parts.pop(ALL), "phenomena": parts}
        if reliability is not None:
            scores["confidence"] = {"ece": reliability.error, "auc": reliability.discrimination}
        typer.echo(json.dumps(scores))
        return
    console = open_console()
    show_scores(console, table, first)
    if trips:
        show_scores(console, {name: one.as_dict() for name, one in trips.items()}, "round trip")
    if reliability is not None:
        error, auc = reliability.error, reliability.discrimination
        console.print(f"confidence: expected calibration error {error:.3f}, AUC {auc:.3f}")
