"""``riseq vocab``: the phrases that the edits of a set put in."""

from pathlib import Path
from typing import Annotated

from riseq.cli import SetArgument, SkipBadOption, count, load_set, notify, open_console, option

COVERAGE_SIZES = (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000)


def vocab(
    file: SetArgument,
    size: Annotated[int | None, option("--size -k K", "Keep the K most frequent phrases.", min=1)] = None,
    output: Annotated[Path | None, option("--output -o FILE", "Write the phrases, one a line.")] = None,
    skip_bad: SkipBadOption = False,
) -> None:
    """Build the phrase vocabulary of a set, and show what it reaches.

    A phrase is what one edit puts in: "he", "this film". A pair is reached
    when every phrase between its question and its target is there.

    \b
    [bold]Examples[/]
      riseq vocab train.jsonl.gz
      riseq vocab train.jsonl.gz --size 3000 --output phrases.txt
    """
    from riseq.core.edits import MARKER
    from riseq.core.phrases import PhraseVocabulary
    from riseq.files import check_writable, write_text
    from riseq.terminal.results import show_coverage
    from riseq.text.words import forms

    if output is not None:
        check_writable(output)
    examples = load_set(file, skip_bad, need_target=True)
    pairs = [((MARKER, *forms(one.question)), (MARKER, *forms(one.target or ""))) for one in examples]
    vocabulary = PhraseVocabulary.from_pairs(pairs, size)
    sizes = sorted({k for k in COVERAGE_SIZES if k < len(vocabulary)} | {len(vocabulary)})
    show_coverage(open_console(), vocabulary.coverage(pairs, sizes))
    if output is not None:
        write_text(output, "".join(f"{line}\n" for line in vocabulary.to_lines()))
        notify(f"wrote {count(len(vocabulary), 'phrase')} to {output}")
