"""A string's words: BERT's basic tokens, each with its place in the string.

The word is the unit of editing. Its form (cleaned, lower-cased, accents stripped) is what the core and the network
see; its span is what the user wrote.
"""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache, wraps
from typing import NamedTuple, TypeVar

from tokenizers import PreTokenizedString
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from riseq.text.lexicon import find_stem, is_content

# On printable ASCII, BERT's basic tokens are runs of letters and digits, and single punctuation marks.
_ASCII_WORD = re.compile(r"[A-Za-z0-9]+|[^A-Za-z0-9 ]")
_SURROGATE = re.compile("[\ud800-\udfff]")

SHORT = 300
"""How many characters a text may have for what is found in it to be remembered."""
REMEMBERED = 8_192
"""Of how many texts something is remembered: an utterance stands before all the questions that come after it."""

_Found = TypeVar("_Found")


def remember(find: Callable[[str], _Found]) -> Callable[[str], _Found]:
    """Return ``find``, a pure function of a text whose result nobody changes, with a memory for short texts."""
    remembered = lru_cache(maxsize=REMEMBERED)(find)

    @wraps(find)
    def find_once(text: str) -> _Found:
        return remembered(text) if len(text) <= SHORT else find(text)

    return find_once


class Word(NamedTuple):
    """One basic token: its lower-cased form, and ``text[start:end]``, the characters it was written with."""

    form: str
    start: int
    end: int


def split(text: str) -> list[Word]:
    """Return the words of ``text`` in order; their spans don't overlap, and between them is nothing BERT can see."""
    return list(read_words(text))


@remember
def read_words(text: str) -> tuple[Word, ...]:
    """Return what ``split`` does, as a tuple that may be remembered."""
    if _is_plain(text):
        found_words = _ASCII_WORD.finditer(text.lower())
        return tuple([Word(match.group(), match.start(), match.end()) for match in found_words])
    normalizer, pre_tokenizer = _bert()
    # Half a surrogate pair has no UTF-8 form; BERT drops the replacement character it becomes.
    string = PreTokenizedString(_SURROGATE.sub("\ufffd", text))
    string.normalize(normalizer.normalize)
    pre_tokenizer.pre_tokenize(string)
    found = string.get_splits("original", "char")
    # A combining accent, an emoji's variation selector or a joiner leaves no trace in the form, so the tokenizer ends
    # the span before it; to the user it is part of the word it follows.
    limits = [*(start for _, (start, _), _ in found[1:]), len(text)]
    words = []
    for (form, (start, end), _), limit in zip(found, limits, strict=False):
        while end < limit and _is_invisible(text[end]):
            end += 1
        words.append(Word(form, start, end))
    return tuple(words)


def forms(text: str) -> list[str]:
    """Return the forms of the words of ``text``."""
    return list(read_forms(text))


@remember
def read_forms(text: str) -> tuple[str, ...]:
    """Return what ``forms`` does, as a tuple that may be remembered."""
    return tuple(_ASCII_WORD.findall(text.lower()) if _is_plain(text) else [word.form for word in read_words(text)])


@remember
def read_stems(text: str) -> tuple[str, ...]:
    """Return the stems of all words of ``text``, small ones and marks too."""
    return tuple(map(find_stem, read_forms(text)))


@remember
def find_named(text: str) -> tuple[bool, ...]:
    """Return which words of ``text`` are written as names are: with a capital, and no function words."""
    return tuple([text[word.start].isupper() and is_content(word.form) for word in read_words(text)])


def find_stems(texts: Iterable[str]) -> set[str]:
    """Return the stems of the content words of ``texts``."""
    return {find_stem(form) for text in texts for form in forms(text) if is_content(form)}


def _is_plain(text: str) -> bool:
    """Return whether ``text`` is printable ASCII, which lower-casing leaves in its place."""
    return text.isascii() and text.isprintable()


@lru_cache(maxsize=1)
def _bert() -> tuple[BertNormalizer, BertPreTokenizer]:
    normalizer = BertNormalizer(clean_text=True, handle_chinese_chars=True, strip_accents=True, lowercase=True)
    return normalizer, BertPreTokenizer()


@lru_cache(maxsize=4096)
def _is_invisible(character: str) -> bool:
    """Return whether BERT drops the character."""
    return bool(_SURROGATE.match(character)) or not _bert()[0].normalize_str(character)
