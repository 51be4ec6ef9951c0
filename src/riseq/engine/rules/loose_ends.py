"""What passes leave behind that no later one completes: "besides the?", half a pair of marks, "to to"."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from riseq.text.lexicon import ARTICLES, CLOSED_CLASS, ENDS, PREPOSITIONS, is_word

_OPEN = ARTICLES | {"his", "its", "their", "my", "your"}
"""Words that want a noun behind them."""
_OWNERS = frozenset({"his", "her", "its", "their"})
_ENDLESS = frozenset({"besides", "-", "–"})
_STOPS = ENDS | {","}
_LEADERS = PREPOSITIONS | {"besides", "than", "to"}
_BRACKETS = {"(": ")", "[": "]", "“": "”", "«": "»"}


def find_loose_ends(words: Sequence[str], asked: Sequence[str]) -> set[int]:
    """Return which ``words`` had better go: loose ones that the question as it was ``asked`` does not have.

    >>> sorted(find_loose_ends("did it win besides the ?".split(), "did it win ?".split()))
    [3, 4]
    """
    if words == asked:
        return set()
    spare = Counter(words) - Counter(asked)
    return (
        set(_find_tail(words, spare))
        | set(_find_odd_marks(words, asked))
        | set(_find_doubled(words, spare))
        | set(_find_owners(words, asked))
    )


def _find_tail(words: Sequence[str], spare: Counter[str]) -> Iterator[int]:
    """Yield the words that wait for a noun before a mark, with the preposition before them."""
    for at, (word, mark) in enumerate(zip(words, (*words[1:], "?"), strict=True)):
        if mark not in _STOPS or not spare[word] or (word == "a" and mark == "."):  # A. A. Milne
            continue
        first = at
        if word in _OPEN and words[at - 1] in _LEADERS and spare[words[at - 1]]:
            first -= 1
        if word in _OPEN | _ENDLESS and (first > 1 or mark == ","):
            yield from range(first, at + 1 + (first == 1))


def _find_odd_marks(words: Sequence[str], asked: Sequence[str]) -> Iterator[int]:
    """Yield the quotation marks and brackets of which only one half came in."""
    if words.count('"') % 2 and not asked.count('"') % 2:
        places = [at for at, word in enumerate(words) if word == '"']
        yield places[-1] if asked.count('"') < 2 else next(_find_new(words, asked, '"'))
    for opening, closing in _BRACKETS.items():
        if words.count(opening) != words.count(closing) and asked.count(opening) == asked.count(closing):
            yield from (at for at, word in enumerate(words) if word in (opening, closing) and word not in asked)


def _find_new(words: Sequence[str], asked: Sequence[str], mark: str) -> Iterator[int]:
    """Yield where ``words`` have a ``mark`` whose neighbours the question does not have around one, else the last."""
    pairs = set(pairwise(asked))
    places = [at for at, word in enumerate(words) if word == mark]
    for at in places:
        before, after = tuple(words[at - 1 : at + 1]), tuple(words[at : at + 2])
        if before not in pairs and after not in pairs:
            yield at
    yield places[-1]


def _find_doubled(words: Sequence[str], spare: Counter[str]) -> Iterator[int]:
    """Yield the small words that were put in beside themselves."""
    for at, (word, after) in enumerate(pairwise(words)):
        if word == after and spare[word] and is_word(word) and word in CLOSED_CLASS and word not in {"had", "that"}:
            yield at


def _find_owners(words: Sequence[str], asked: Sequence[str]) -> Iterator[int]:
    """Yield each possessive that came between two words of the question and tells nothing: "since [his] May"."""
    pairs = set(pairwise(asked))
    for at in range(1, len(words) - 1):
        if words[at] in _OWNERS and words[at] not in asked and (words[at - 1], words[at + 1]) in pairs:
            yield at
