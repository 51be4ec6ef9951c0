"""Data sets by path or by short name, whatever their format, and what one is like in numbers."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, median

from riseq.data.corpora import PAPER, Convention, read_canard, read_cast, read_objects
from riseq.data.rows import BadRow, OnBad
from riseq.data.tables import SUFFIXES, read_examples
from riseq.files import STDIN
from riseq.text.lexicon import PRONOUNS
from riseq.types import Example, InputError, suggest

VARIABLE = "RISEQ_DATA"


def load_dataset(
    name: str | Path, *, root: Path | None = None, on_bad: OnBad | None = None, need_target: bool = False
) -> list[Example]:
    """Return the examples of a file, or of a data set such as ``canard/test.qonly`` or ``cast19/test``.

    Short names are looked up in ``root``; without it in the folder that RISEQ_DATA names. All rows are good or BadRows
    is raised, unless ``on_bad`` takes the bad ones.
    """
    return list(read_dataset(locate_dataset(name, root), on_bad=on_bad, need_target=need_target))


def locate_dataset(name: str | Path, root: Path | None = None) -> str | Path:
    """Return the path that ``name`` is or stands for: in ``root``, else in the folder that RISEQ_DATA names.

    A name without ``.qa`` means ``.qonly``.
    """
    if str(name) == STDIN or os.path.exists(name):
        return name
    root = root or data_root(os.environ)
    if root is None:
        raise InputError(f"{name}: no such file, nor a data set: {VARIABLE}, the folder of data sets, is not set")
    # A file by its whole name, then a short name with what it leaves out.
    for ending in ["", *SUFFIXES, *(f".qonly{suffix}" for suffix in SUFFIXES)]:
        if (path := root / f"{name}{ending}").is_file():
            return path
    tried = f"{name}, {name}[.qonly] with {', '.join(SUFFIXES)}"
    known = {str(path.relative_to(root)).removesuffix(end) for end in SUFFIXES for path in root.glob(f"*/*{end}")}
    raise InputError(f"{name}: no such file, nor in {str(root)!r} as {tried}; {suggest(str(name), sorted(known))}")


def data_root(environment: Mapping[str, str]) -> Path | None:
    """Return the folder of data sets that ``environment`` names; None where it names none."""
    named = environment.get(VARIABLE)
    if not named:
        return None
    if not Path(named).is_dir():
        raise InputError(f"{VARIABLE}: {named!r} is not a folder, expected the folder of the data sets")
    return Path(named)


def read_dataset(
    path: str | Path, *, convention: Convention = PAPER, on_bad: OnBad | None = None, need_target: bool = False
) -> Iterator[Example]:
    """Yield the examples of a table, or of an official CANARD or CAsT file by ``convention``."""
    is_list = str(path).lower().endswith((".json", ".json.gz"))
    first = next(read_objects(path), None) if is_list else None
    keys = first[1].keys() if first is not None and not isinstance(first, BadRow) else ()
    if "History" in keys:
        return read_canard(path, convention=convention, on_bad=on_bad)
    if "turn" in keys:
        return read_cast(path, convention=convention, on_bad=on_bad)
    return read_examples(path, on_bad=on_bad, need_target=need_target)


def reverse_pair(example: Example) -> Example:
    """Return a pair read backwards: from the conversational question to the self-contained one."""
    if example.target is None:
        raise InputError(f"example {example.id}: no target; a pair that is read backwards needs one")
    return replace(example, question=example.target, target=example.question)


def is_complete(example: Example) -> bool:
    """Return whether the question says everything, as far as its words tell: none of them points back."""
    from riseq.text.words import forms  # it loads a tokenizer, which a reader can do without

    return not PRONOUNS.intersection(forms(example.question))


def complete_pair(example: Example) -> Example:
    """Return the self-contained question in its dialogue as one that is complete: it stays as it is."""
    return replace(example, target=example.question)


@dataclass(frozen=True, slots=True)
class CountSummary:
    """The mean, the median and the largest of some counts; zeros where there are none."""

    mean: float
    median: float
    max: int


@dataclass(frozen=True, slots=True)
class DatasetStats:
    """The size and shape of a set of examples; the shares are of the rows with a target."""

    rows: int
    with_target: int
    with_context: int
    utterances: CountSummary
    """Earlier utterances a row, answers included where the file has them."""
    question_words: CountSummary
    target_words: CountSummary
    unchanged: float
    """The share whose target has the question's very words, in any case."""
    shorter: float
    """The share whose target has fewer words than the question."""
    pronoun: float
    """The share whose target has one of PRONOUNS that the question lacks."""


def measure_set(examples: Iterable[Example]) -> DatasetStats:
    """Return the numbers of ``examples``, taken one at a time."""
    from riseq.text.words import forms  # it loads a tokenizer, which a reader can do without

    utterances, question_words, target_words = list[int](), list[int](), list[int]()
    unchanged = shorter = pronoun = 0
    for example in examples:
        question = forms(example.question)
        utterances.append(len(example.context))
        question_words.append(len(question))
        if example.target is not None:
            target = forms(example.target)
            target_words.append(len(target))
            unchanged += target == question
            shorter += len(target) < len(question)
            pronoun += bool(PRONOUNS.intersection(target).difference(question))
    counts = len(utterances), len(target_words), sum(map(bool, utterances))
    shares = (number / max(1, len(target_words)) for number in (unchanged, shorter, pronoun))
    lengths = _summarise(utterances), _summarise(question_words), _summarise(target_words)
    return DatasetStats(*counts, *lengths, *shares)


def _summarise(counts: Sequence[int]) -> CountSummary:
    return CountSummary(fmean(counts), float(median(counts)), max(counts)) if counts else CountSummary(0.0, 0.0, 0)
