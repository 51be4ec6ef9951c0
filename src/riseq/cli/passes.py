"""``riseq passes``: what more passes do to a set."""

from typing import Annotated

from riseq.cli import ModelOption, SetArgument, SkipBadOption, ThreadsOption, load_set, open_console, option


def passes(
    file: SetArgument,
    model: ModelOption = None,
    most: Annotated[int, option("--most N", "Go up to N passes.", min=1)] = 5,
    uncalibrated: Annotated[bool, option("--uncalibrated", "Take every pass, with no guard.")] = False,
    threads: ThreadsOption = None,
    skip_bad: SkipBadOption = False,
) -> None:
    """Show what more passes do to a set, and how many texts they make worse.

    A text is worse if its sentence's BLEU-4 (ROUGE-L, distance) is lower
    after the last pass than after an earlier one, or than the question's own.

    \b
    [bold]Examples[/]
      riseq passes canard/dev.qonly
      riseq passes dev.jsonl --model models/small --most 3 --uncalibrated
    """
    from riseq.calibrate.report import show_stopping
    from riseq.engine.simplifier import Simplifier
    from riseq.metrics.passes import measure_stopping
    from riseq.terminal import track

    examples = load_set(file, skip_bad, need_target=True)
    engine = Simplifier.load(model, threads=threads, max_passes=most, calibrated=not uncalibrated)
    results = list(track(engine.batch(examples), len(examples), str(file)))
    show_stopping(open_console(), measure_stopping(results, [one.target or "" for one in examples], most))
