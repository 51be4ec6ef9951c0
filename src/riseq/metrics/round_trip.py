"""The round trip: of what a simplified question leaves out, how much comes back when it is resolved again."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from riseq.metrics.behaviour import ALL, Case
from riseq.metrics.content import find_kind
from riseq.metrics.ngrams import check_pairs
from riseq.text.lexicon import is_content
from riseq.text.words import forms


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """What of a set's questions is there again after the round trip, in percent except the count."""

    n: int
    dropped: float
    """Of all content words of the questions, those that the simplified questions lack."""
    back: float
    """Of all content words of the questions, those that the resolved questions have."""
    restored: float
    """Of the content words that were dropped, those that are back; 100 where none was."""
    whole: float
    """Of the questions, those of which every content word is there."""
    exact: float
    """Of the questions, those that are there again word for word, but for case, spaces and marks."""

    def as_dict(self) -> dict[str, int | float]:
        """Return the shares by name."""
        return asdict(self)


def count_content(text: str) -> Counter[str]:
    """Return how often ``text`` has each of its content words."""
    return Counter(filter(is_content, forms(text)))


def find_lost(question: str, text: str) -> Counter[str]:
    """Return the content words of ``question`` that ``text`` lacks, or has less often.

    >>> sorted(find_lost("Who directed the film Alien?", "Who directed it?").elements())
    ['alien', 'film']
    """
    return count_content(question) - Counter(forms(text))


def measure_round_trip(questions: Sequence[str], texts: Sequence[str], resolved: Sequence[str]) -> RoundTrip:
    """Return what ``resolved`` has of ``questions``, which were simplified to ``texts`` between the two.

    A word counts as often as the question says it. Words that only the resolved question has count nowhere but in
    ``exact``.
    """
    check_pairs(texts, questions)
    words, dropped, lost, restored, whole, exact = 0, 0, 0, 0, 0, 0
    for question, text, again in zip(questions, texts, resolved, strict=True):
        gone, missing = find_lost(question, text), find_lost(question, again)
        words, dropped, lost = words + count_content(question).total(), dropped + gone.total(), lost + missing.total()
        restored += (gone - missing).total()
        whole += not missing
        exact += normalise(question) == normalise(again)
    return RoundTrip(
        len(questions),
        100 * dropped / max(1, words),
        100 - 100 * lost / max(1, words),
        100 * restored / dropped if dropped else 100.0,
        100 * whole / len(questions),
        100 * exact / len(questions),
    )


def measure_round_trips(
    names: Iterable[str], questions: Sequence[str], texts: Sequence[str], resolved: Sequence[str]
) -> dict[str, RoundTrip]:
    """Return the round trips by phenomenon, in alphabetical order, and for ``ALL`` last; ``names`` has each one's."""
    rows = list(zip(names, questions, texts, resolved, strict=True))
    found = {}
    for name in (*sorted({row[0] for row in rows}), ALL):
        columns = zip(*(row[1:] for row in rows if name in (row[0], ALL)), strict=True)
        found[name] = measure_round_trip(*map(list, columns))
    return found


def measure_cases(cases: Sequence[Case], texts: Sequence[str], resolved: Sequence[str]) -> dict[str, RoundTrip]:
    """Return the round trips of cases, simplified to ``texts``, by phenomenon, and for ``ALL`` last."""
    return measure_round_trips(map(name_phenomenon, cases), [one.example.question for one in cases], texts, resolved)


def name_phenomenon(case: Case) -> str:
    """Return what a case tries, as the suite names it; in a set of targets, what the target does, as the report does.

    >>> from riseq.types import Example
    >>> name_phenomenon(Case(Example("1", (), "Is Ada in?", "Is she in?"), ("Is she in?",)))
    'anaphora'
    """
    return case.phenomenon or str(find_kind(case.example.question, case.gold[0]))


def normalise(text: str) -> list[str]:
    """Return the words of ``text``, without the marks that end it."""
    words = forms(text.replace("’", "'"))
    while words and words[-1] in "?.!":
        words.pop()
    return words
