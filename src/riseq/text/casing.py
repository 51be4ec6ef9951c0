"""How a word is written: its capitals and accents, learnt from the question and the dialogue before it."""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile

from riseq.text.lexicon import ABBREVIATIONS, APOSTROPHES, BEFORE_NAMES, NEVER_NAMES, PERSONAL_FORMS, is_word
from riseq.text.spacing import Token
from riseq.text.words import Word, read_forms, read_words, remember

_SENTENCE_ENDS = frozenset(".?!。？！")
_QUOTATION_MARKS = frozenset("\"'“‘«")
_QUOTES = _QUOTATION_MARKS | frozenset("([{")
_PRONOUNS = PERSONAL_FORMS | {"us", "we", "you"}
_CLOSING_MARKS = frozenset("\"'”’»")


@dataclass(frozen=True, slots=True)
class _Source:
    """One text that words have been seen in."""

    words: tuple[Word, ...]
    surfaces: tuple[str, ...]
    """The words as they were written, without control characters."""
    initial: frozenset[int]
    """Which words start a sentence, so that their capital says nothing."""
    flat: bool
    """Whether none of its capitals says anything."""

    def is_name(self, index: int) -> bool:
        """Return whether the word has a capital that it does not owe to its position."""
        surface = self.surfaces[index]
        if not _has_capital(surface):
            return False
        if index not in self.initial or _has_capital(surface[1:]):
            return True
        # "Frank" of "Frank Zappa": the next word's capital speaks for it.
        follows = index + 1 < len(self.words) and self.spaced(index + 1)
        return follows and self.words[index].form not in NEVER_NAMES and _has_capital(self.surfaces[index + 1])

    def is_title(self, first: int, stop: int, index: int) -> bool:
        """Return whether the word at ``index``, a sentence's first, begins a title: words ``first`` to ``stop``."""
        if index == first:
            return self._is_quoted(first, stop) or self._leads_name(first, stop)
        return index == first + 1 and self.words[first].form in _QUOTATION_MARKS

    def _is_quoted(self, first: int, stop: int) -> bool:
        """Return whether there are quotation marks right around the words ``first`` to ``stop``."""
        if not 0 < first < stop < len(self.words) or self.spaced(first) or self.spaced(stop):
            return False
        return self.words[first - 1].form in _QUOTATION_MARKS and self.words[stop].form in _CLOSING_MARKS

    def _leads_name(self, first: int, stop: int) -> bool:
        """Return whether a small word is one of a title: "To" of "To Kill a Mockingbird", not "In" of "In Paris".

        A pronoun that is copied alone is one: "Us", the film.
        """
        form = self.words[first].form
        if stop == first + 1 and form in _PRONOUNS:
            return True
        if form not in NEVER_NAMES - BEFORE_NAMES:
            return False
        after = first + 1
        if [word.form for word in self.words[after : after + 2]] == ["'", "t"]:
            after += 2  # Don't Look Now
        is_part = after < stop and after not in self.initial and self.words[after].form != "i"
        return is_part and self.spaced(after) and _has_capital(self.surfaces[after])

    def spaced(self, index: int) -> bool:
        """Return whether there is a space before the word at ``index``, which is not the first."""
        return self.words[index - 1].end < self.words[index].start


class Spelling:
    """How words are written in a question and the dialogue before it."""

    def __init__(self, question: str, context: Iterable[str] = ()) -> None:
        # They are read when a word is first looked for that could have a capital.
        self._shouts = question.isupper() and sum(map(is_word, read_forms(question))) > 1
        self._texts = (question, *context)

    @cached_property
    def _sources(self) -> list[_Source]:
        """The texts whose capitals say something."""
        return [source for source in map(_read, self._texts) if not source.flat]

    def write(self, phrase: Sequence[str]) -> list[Token]:
        """Return the words of ``phrase`` as they are written in the middle of a sentence."""
        return self._raise(self._write(phrase))

    def _write(self, phrase: Sequence[str]) -> list[Token]:
        tokens: list[Token] = []
        while len(tokens) < len(phrase):
            position = len(tokens)
            run = self._find_run(phrase[position:])
            tokens += run or [Token(phrase[position], self._write_word(phrase[position]))]
        return tokens

    def copy(self, text: str, first: int, stop: int) -> list[Token]:
        """Return words ``first`` to ``stop`` of ``text``, a mention, as they are written in the middle of a sentence.

        A word that starts a sentence there keeps its capital where it begins a title; else unless it is a small word or
        was seen written small. Where the capitals of ``text`` say nothing, a name has those it has elsewhere.
        """
        source = _read(text)
        tokens = _copy_run(stop - first, source, first)
        if source.flat:
            return self._raise(self._copy_flat(tokens, source.surfaces[first:stop]))
        for index, token in enumerate(tokens, first):
            if index not in source.initial or source.is_title(first, stop, index) or self._is_name(token.form):
                tokens[index - first] = _recase(token, source.surfaces[index])
        return self._raise(tokens)

    def _copy_flat(self, tokens: Sequence[Token], surfaces: Sequence[str]) -> list[Token]:
        """Return the tokens as they were written: "file.txt", "beyoncé"; a name by itself as it is seen elsewhere."""
        copied = list(map(_recase, tokens, surfaces))
        held = [*(token.follows and not token.space_before for token in tokens), False]
        for index, token in enumerate(self._write([token.form for token in tokens])):
            near = {copied[k].form for k in (index - 1, index + 1) if held[max(k, index)]}
            known = _has_capital(token.surface) or any(True for _ in self._seen(token.form))
            if known and is_word(token.form) and near <= APOSTROPHES:
                copied[index] = _recase(copied[index], token.surface)
        return copied

    def _is_name(self, form: str) -> bool:
        """Return whether the word may be a name: no small word, nor one that was written without a capital."""
        return form not in NEVER_NAMES and all(map(_has_capital, self._seen(form)))

    def _raise(self, tokens: list[Token]) -> list[Token]:
        """Return the tokens in capitals where the question has nothing else."""
        return [_recase(token, token.surface.upper()) for token in tokens] if self._shouts else tokens

    def is_ordinary(self, form: str) -> bool:
        """Return whether the word would be written without a capital in the middle of a sentence."""
        if form in NEVER_NAMES:
            return form != "i"
        is_name = _has_capital(self._write_word(form))
        return not is_name and (form.endswith("ly") or any(True for _ in self._seen(form)))

    def _write_word(self, form: str) -> str:
        if form == "i":
            return "I"
        if form in NEVER_NAMES or not is_word(form):
            return form
        seen = list(self._seen(form))
        # One that was ever written small is no name.
        return next((surface for surface in seen if not _has_capital(surface)), seen[0]) if seen else form

    def _seen(self, form: str) -> Iterable[str]:
        """Yield how the word was written where its capitals mean something."""
        for source in self._sources:
            for index, word in enumerate(source.words):
                if word.form == form and (index not in source.initial or source.is_name(index)):
                    yield source.surfaces[index]

    def _find_run(self, phrase: Sequence[str]) -> list[Token]:
        """Return the longest start of ``phrase``, two words or more, that was seen as a whole, written as it was."""
        if len(phrase) < 2:
            return []
        best: tuple[int, _Source, int] | None = None
        for source in self._sources:
            for start, word in enumerate(source.words):
                if word.form == phrase[0]:
                    pairs = zip(phrase, source.words[start:], strict=False)
                    length = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1].form, pairs))
                    if length >= 2 and (best is None or length > best[0]):
                        best = length, source, start
        return _copy_run(*best) if best else []


def capitalise(token: Token) -> Token:
    """Return the token with a first capital, if it has no capital yet (an iPhone stays one)."""
    return token if _has_capital(token.surface) else _recase(token, token.surface[:1].upper() + token.surface[1:])


def lower_first(token: Token) -> Token:
    """Return the token without its first capital, if that is its only one."""
    first, rest = token.surface[:1], token.surface[1:]
    return token if _has_capital(rest) else _recase(token, first.lower() + rest)


def has_first_capital(surface: str) -> bool:
    """Return whether the first character is a capital."""
    return surface[:1].isupper()


def _copy_run(length: int, source: _Source, start: int) -> list[Token]:
    tokens = []
    for index in range(start, start + length):
        form, surface = source.words[index].form, source.surfaces[index]
        # "The" keeps the capital it has in "by The Band", not that of "of The" or of a sentence's start.
        ordinary = form in NEVER_NAMES and not (index + 1 < start + length and source.is_name(index + 1))
        if form == "i":
            surface = "I"
        elif _has_capital(surface) and (ordinary or not source.is_name(index)):
            surface = form if surface.isascii() else surface.lower()
        before = source.spaced(index) if index else None
        # What stood after the last of them is not here: "Disney+?"
        after = source.spaced(index + 1) if index + 1 < start + length else None
        token = Token(form, form, space_before=before, space_after=after, follows=index > start)
        tokens.append(_recase(token, surface))
    return tokens


def _recase(token: Token, surface: str) -> Token:
    """Return the token written as ``surface``, unless that would be read as another word (``ß`` has no capital)."""
    if surface == token.surface or read_forms(surface) != (token.form,):
        return token
    return token._replace(surface=surface)


def find_sentence_starts(text: str) -> frozenset[int]:
    """Return which words of ``text`` start a sentence, and so have a capital that says nothing."""
    return _read(text).initial


@remember
def _read(text: str) -> _Source:
    words = read_words(text)
    initial = set()
    starts = True
    for index, word in enumerate(words):
        if starts:
            initial.add(index)
        if word.form in _SENTENCE_ENDS:
            before = words[index - 1].form if index else ""
            starts = word.form != "." or not ((len(before) == 1 and before.isalpha()) or before in ABBREVIATIONS)
        elif word.form not in _QUOTES:
            starts = False
    surfaces = tuple(_find_surface(text, word) for word in words)
    return _Source(words, surfaces, frozenset(initial), _is_flat(surfaces))


def _find_surface(text: str, word: Word) -> str:
    written = text[word.start : word.end]
    if written.isascii():
        return written
    return "".join(character for character in written if unicodedata.category(character) not in ("Cc", "Cs"))


def _has_capital(surface: str) -> bool:
    return any(character.isupper() for character in surface)


def _is_flat(surfaces: Iterable[str]) -> bool:
    """Return whether a text's capitals say nothing: it has none, or (a headline) every word has one."""
    cased = [surface for surface in surfaces if surface[:1].isalpha()]
    return not any(map(_has_capital, cased)) or (len(cased) > 4 and all(map(has_first_capital, cased)))
