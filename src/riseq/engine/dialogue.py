"""What a dialogue has said: its words by stem, its acronyms, and the mention that an edit goes back to."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import groupby, pairwise

from riseq.text.lexicon import ENDS, NAME_JOINTS, QUESTION_STARTS, find_stem, is_content
from riseq.text.words import SHORT, Word, forms, read_stems, remember, split
from riseq.types import Mention


class DialogueWords:
    """What a dialogue has said, whether the network sees it or not; each view of it is made when first asked for."""

    def __init__(self, context: Sequence[str]) -> None:
        """Read the utterances, oldest first."""
        self.context = context
        self.has_answers = not all(map(is_question, context))
        """Whether any utterance is no question."""
        self._forms: dict[int, list[str]] = {}
        self._mentions: dict[str, Mention | None] = {}

    def __contains__(self, form: str) -> bool:
        return find_stem(form) in self._said

    @cached_property
    def stems(self) -> list[list[str]]:
        """The stems of each utterance's words."""
        long = [len(text) > SHORT for text in self.context]
        return [
            list(map(find_stem, self.find_forms(index)) if long[index] else read_stems(text))
            for index, text in enumerate(self.context)
        ]

    def find_forms(self, index: int) -> list[str]:
        """Return the forms of an utterance's words, which are found once."""
        if index not in self._forms:
            self._forms[index] = forms(self.context[index])
        return self._forms[index]

    @cached_property
    def _said(self) -> frozenset[str]:
        return frozenset().union(*self._said_in)

    @cached_property
    def _said_in(self) -> list[frozenset[str]]:
        """What each utterance has said."""
        return [
            _find_said(text) if len(text) <= SHORT else frozenset(self.stems[index])
            for index, text in enumerate(self.context)
        ]

    def says_any(self, stems: frozenset[str]) -> bool:
        """Return whether it has said a word with one of these stems."""
        return not self._said.isdisjoint(stems)

    @cached_property
    def _names(self) -> list[tuple[int, list[Word]]]:
        """The names of several words, the latest first, each with its utterance's index."""
        indexed = reversed(list(enumerate(self.context)))
        return [(index, name) for index, text in indexed for name in _find_long_names(text)]

    @property
    def has_long_names(self) -> bool:
        """Whether it has names of several words."""
        return bool(self._names)

    def says_head(self, head: str, group: Iterable[str]) -> bool:
        """Return whether the noun ``head`` was said alone or after ``group``: "throat cancer" says no "lung cancer"."""
        wanted, own = find_stem(head), set(map(find_stem, group))
        for text, stems in zip(self.context, self.stems, strict=True):
            words = split(text) if wanted in stems else []
            for index, word in enumerate(words):
                before = words[max(index - 1, 0)]
                # A name follows any ordinary word: "know Gerwig".
                apart = stems[index - 1] in own or text[before.start].isupper() < text[word.start].isupper()
                if stems[index] == wanted and (index == 0 or apart or not is_content(before.form)):
                    return True
        return False

    def has_namesake(self, given: Collection[str], family: str) -> bool:
        """Return whether the dialogue has a ``family`` name, by stem, after other names too than the ``given`` one."""
        for _, name in self._names:
            parts: list[set[str]] = [set()]
            for word, after in pairwise(name):
                parts[-1].add(find_stem(word.form))
                if word.end + 1 < after.start:  # "Orville and Wilbur Wright": a joint was left out
                    parts.append(set())
            if find_stem(name[-1].form) == family and any(part and part.isdisjoint(given) for part in parts):
                return True
        return False

    def find_mention(self, old: str) -> Mention | None:
        """Return the mention that says the most content words of ``old``; of several the latest, the closest one."""
        if old not in self._mentions:
            content = list(filter(is_content, forms(old)))
            self._mentions[old] = self._find_mention(content) if content else None
        return self._mentions[old]

    def _find_mention(self, content: Sequence[str]) -> Mention | None:
        wanted = set(map(find_stem, content))
        if len(content) > 1:
            wanted.add(find_initials(content))
        found = [
            (len(wanted.intersection(stems[first:stop])), index, first - stop, first)
            for index, (said, stems) in enumerate(zip(self._said_in, self.stems, strict=True))
            if not wanted.isdisjoint(said)
            for first, stop in _find_stretches(stems, wanted)
        ]
        if not found:
            return next(filter(None, map(self.find_spelled, content)), None)
        _, index, length, first = max(found)
        words = split(self.context[index])[first : first - length]
        return Mention(index, words[0].start, words[-1].end)

    def find_spelled(self, form: str) -> Mention | None:
        """Return the name that ``form`` is short for: mit for the Massachusetts Institute of Technology."""
        if form.isalpha() and len(form) > 1:
            for index, name in self._names:
                if find_initials(word.form for word in name).endswith(form):
                    return Mention(index, name[-len(form)].start, name[-1].end)
        return None


def find_initials(words: Iterable[str]) -> str:
    """Return the first letters of ``words`` as one word."""
    return "".join(word[0] for word in words)


def _find_stretches(stems: Sequence[str], wanted: set[str]) -> Iterator[tuple[int, int]]:
    """Yield where a stretch of words begins and stops that says ``wanted`` ones, and small words between them."""
    first = stop = None
    for index, stem in enumerate([*stems, "."]):
        if stem in wanted:
            first, stop = index if first is None else first, index + 1
        elif first is not None and stop is not None and (stem in ENDS or is_content(stem)):
            yield first, stop
            first = None


@remember
def _find_said(text: str) -> frozenset[str]:
    return frozenset(read_stems(text))


@remember
def _find_long_names(text: str) -> tuple[list[Word], ...]:
    """Return the names in ``text`` that have several words."""
    return tuple(name for name in _find_names(text) if len(name) > 1)


def _find_names(text: str) -> Iterator[list[Word]]:
    """Yield the names in ``text``: neighbouring words with capitals, and small ones between them left out."""
    words = [word for word in split(text) if word.form not in NAME_JOINTS]
    for is_name, group in groupby(words, lambda word: is_content(word.form) and text[word.start].isupper()):
        if is_name:
            yield list(group)


@remember
def is_question(utterance: str) -> bool:
    """Return whether an utterance asks something, by its mark or its first word."""
    words = utterance.split(maxsplit=1)
    return "?" in utterance or not words or words[0].strip("\"'").lower() in QUESTION_STARTS
