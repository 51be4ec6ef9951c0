"""From edits of words back to the user's own string, as a person would write it."""

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from riseq.core.edits import MARKER, Edit, Op, apply, find_runs
from riseq.text.casing import Spelling, capitalise, find_sentence_starts, has_first_capital, lower_first
from riseq.text.lexicon import APOSTROPHES, DETERMINERS, ENDS, NAME_HEADS, is_word
from riseq.text.spacing import Token, needs_space
from riseq.text.words import Word, read_words, remember
from riseq.types import Mention, Step, TextEdit

_MARKUP = frozenset("*`")
_LEADERS = DETERMINERS | {"our"}
_NAME_TIES = frozenset({"of", "for", "de", "-"})
_JOINTS = frozenset({"and", "&"})
_POSSESSIVE = APOSTROPHES | {"s"}
_UNDERLINED = re.compile(r"(?<!\w)_(?=[^\W_])[^_\n]+(?<=[^\s_])_(?!\w)")


@dataclass(frozen=True, slots=True)
class Copied:
    """Where words of a phrase were copied from: words ``first`` to ``stop`` of an utterance."""

    utterance: int | None
    """Its index in the context; None for the text itself."""
    first: int
    stop: int
    before: int = 0
    """How many words of the phrase stand before them."""


class _Span(NamedTuple):
    """A run of positions with one edit: an INSERT, or neighbouring DELETEs or SUBSTITUTEs."""

    op: Op
    first: int
    last: int
    phrase: tuple[str, ...]
    copied: Copied | None = None


def realise(
    text: str,
    edits: Sequence[Edit],
    context: Sequence[str] = (),
    probabilities: Sequence[float] | None = None,
    copied: Mapping[int, Copied] = MappingProxyType({}),
) -> Step:
    """Return the string that ``edits`` make of ``text`` and what changed where; position 0 is the marker's.

    Kept words keep their characters and spacing; where nothing is edited the string is the input exactly. New words
    take the capitals and accents they have in ``text`` and ``context``; those that were ``copied``, by the position of
    their edit, are written as they are there, and the edit refers to that mention. The words of the result, as
    ``split`` reads them, are what ``apply`` makes of the words of ``text``, provided every word of a phrase is a word
    to ``split``, and but for marks of Markdown in what was copied. The edits' spans cover words, not the spaces and
    capitals that change with them; an edit of several positions has the least of their ``probabilities``.
    """
    words = read_words(text)
    apply([MARKER, *(word.form for word in words)], edits)  # Raises on edits that don't fit.
    if probabilities is not None and len(probabilities) != len(edits):
        raise ValueError(f"{len(probabilities)} probabilities for {len(edits)} edits")
    spans = [span._replace(copied=copied.get(span.first)) for span in _find_spans(words, edits)]
    if not spans:
        return Step(text)
    spelling = Spelling(text, context)
    tokens, changes = _edit(text, words, spans, context, spelling, probabilities)
    return Step(_write(text, words, _recapitalise(text, words, tokens, spelling)), changes)


def _find_spans(words: Sequence[Word], edits: Sequence[Edit]) -> list[_Span]:
    """Return the edits that have an effect, neighbours that go the same way as one."""
    spans = []
    for run in find_runs([edit.op for edit in edits], alike=True):
        op, phrase = edits[run.start].op, edits[run.start].phrase
        if op is Op.INSERT:
            inserts = [(index, edits[index].phrase) for index in range(run.start, run.stop)]
            spans += [_Span(op, index, index, inserted) for index, inserted in inserts if inserted]
        elif phrase != tuple(word.form for word in words[run.start - 1 : run.stop - 1]):
            spans.append(_Span(op if phrase else Op.DELETE, run.start, run.stop - 1, phrase))
    return spans


def _edit(
    text: str,
    words: Sequence[Word],
    spans: Sequence[_Span],
    context: Sequence[str],
    spelling: Spelling,
    probabilities: Sequence[float] | None,
) -> tuple[list[Token], tuple[TextEdit, ...]]:
    read = _keep_all(text)
    tokens: list[Token] = []
    written: list[tuple[_Span, int, int]] = []
    position = 1
    for span in spans:
        kept = span.last if span.op is Op.INSERT else span.first - 1
        tokens += read[position - 1 : kept]
        start = len(tokens)
        tokens += _write_phrase(span, text, context, spelling)
        written.append((span, start, len(tokens)))
        position = span.last + 1
    tokens += read[position - 1 :]
    changes = []
    for span, start, end in written:
        if span.op is Op.INSERT:
            old_start = old_end = words[span.first - 1].end if span.first else words[0].start if words else 0
        else:
            old_start, old_end = words[span.first - 1].start, words[span.last - 1].end
        least = None if probabilities is None else min(probabilities[span.first : span.last + 1])
        new = _join(text, words, tokens, start, end)
        old, mention = text[old_start:old_end], _find_mention(span.copied, context)
        changes.append(TextEdit(span.op, old_start, old_end, old, new, least, mention))
    return tokens, tuple(changes)


def _write_phrase(span: _Span, text: str, context: Sequence[str], spelling: Spelling) -> list[Token]:
    """Return the words of a phrase in the middle of a sentence, those that were copied as they are there."""
    if (source := span.copied) is None:
        return spelling.write(span.phrase)
    end = source.before + source.stop - source.first
    said = text if source.utterance is None else context[source.utterance]
    around = spelling.write(span.phrase[: source.before]), spelling.write(span.phrase[end:])
    mention = spelling.copy(said, source.first, source.stop)
    marks = find_markup(said)
    if source.first - 1 in marks:
        mention[0] = mention[0]._replace(space_before=True)  # "`--amend`" is a word by itself without its marks too
    mention = _drop_markup(mention, {index - source.first for index in marks})
    return [*around[0], *mention, *around[1]]


@remember
def find_markup(text: str) -> frozenset[int]:
    """Return which words of ``text`` are marks of Markdown: not the stars of M*A*S*H, which hold words together."""
    words = read_words(text)
    marks = [index for index, word in enumerate(words) if word.form in _MARKUP and not _is_inside(words, index)]
    return frozenset(marks) | frozenset(_find_underlined(text, words))


def _find_underlined(text: str, words: Sequence[Word]) -> Iterator[int]:
    """Yield which words of ``text`` are the marks of _titles_, not those of __init__ or _private."""
    for found in _UNDERLINED.finditer(text):
        yield from (index for index, word in enumerate(words) if word.start in (found.start(), found.end() - 1))


def _is_inside(words: Sequence[Word], index: int) -> bool:
    """Return whether there is a word on either side of a mark, without a space."""
    if not 0 < index < len(words) - 1:
        return False
    before, mark, after = words[index - 1 : index + 2]
    held = before.end == mark.start and mark.end == after.start
    return held and is_word(before.form) and is_word(after.form)


def _drop_markup(tokens: Sequence[Token], marks: Container[int]) -> list[Token]:
    """Return the words of a mention without Markdown's ``marks``, in which assistants answer: not "the **iPad"."""
    kept: list[Token] = []
    opening: Token | None = None
    for place, token in enumerate(tokens):
        if place in marks:
            opening = opening or token
            kept[-1:] = [last._replace(space_after=None) for last in kept[-1:]]
        else:
            kept.append(token._replace(space_before=opening.space_before, follows=False) if opening else token)
            opening = None
    return kept


def _find_mention(source: Copied | None, context: Sequence[str]) -> Mention | None:
    if source is None or source.utterance is None:
        return None
    said = read_words(context[source.utterance])
    return Mention(source.utterance, said[source.first].start, said[source.stop - 1].end)


@remember
def _keep_all(text: str) -> tuple[Token, ...]:
    """Return the words of ``text`` as they are kept."""
    words = read_words(text)
    spaced = [before.end < after.start for before, after in pairwise(words)]
    # That "?" holds on to "Disney+" says nothing of what may come between the two.
    after = [None if word.form in ENDS and not space else space for word, space in zip(words[1:], spaced, strict=True)]
    around = zip(words, [None, *spaced], [*after, None], strict=False)
    return tuple(
        [
            Token(form, text[start:end], index, before, after)
            for index, ((form, start, end), before, after) in enumerate(around)
        ]
    )


def _recapitalise(text: str, words: Sequence[Word], tokens: Sequence[Token], spelling: Spelling) -> list[Token]:
    """Return the tokens with the capitals that their new positions ask for."""
    result = list(tokens)
    for position, token in enumerate(tokens):
        if not has_first_capital(token.surface):
            continue
        lost = _has_lost_name(text, words, tokens, position) and spelling.is_ordinary(token.form)
        if lost or (token.form in NAME_HEADS and _is_lone_head(text, words, tokens, position)):
            result[position] = lower_first(token)
    for start in find_sentence_starts(text):
        # Where a later sentence begins anew, its new first word has the capital of the old.
        if start and has_first_capital(_surface(text, words[start])):
            ends = [position for position, token in enumerate(tokens) if token.place == start - 1]
            if ends and ends[0] + 1 < len(tokens) and tokens[ends[0] + 1].place is None:
                result[ends[0] + 1] = capitalise(result[ends[0] + 1])
    old = next((index for index, word in enumerate(words) if is_word(word.form)), None)
    new = next((position for position, token in enumerate(tokens) if is_word(token.form)), None)
    if old is None or new is None or tokens[new].place == old or not has_first_capital(_surface(text, words[old])):
        return result
    # The first letter is a capital because the input's was; the word it was on keeps it only if it is a name.
    result[new] = capitalise(result[new])
    for position, token in enumerate(result):
        if token.place == old and spelling.is_ordinary(token.form):
            result[position] = lower_first(token)
    return result


def _has_lost_name(text: str, words: Sequence[Word], tokens: Sequence[Token], position: int) -> bool:
    """Return whether the token had its capital from a name that is gone: "The" of "The Cult's tour" in "the tour"."""
    index = tokens[position].place
    if index is None or index + 1 == len(words):
        return False
    capitals = has_first_capital(tokens[position].surface) and has_first_capital(_surface(text, words[index + 1]))
    if not capitals or index in (starts := find_sentence_starts(text)):
        return False
    before = [token.place for token in tokens[:position][-1:] if has_first_capital(token.surface)]
    if before == [index - 1] and index - 1 not in starts:
        return False
    return position + 1 == len(tokens) or tokens[position + 1].place != index + 1


def _is_lone_head(text: str, words: Sequence[Word], tokens: Sequence[Token], position: int) -> bool:
    """Return whether an article and an ordinary noun are left of a name: "the Suez Canal" is "the canal" then."""
    left, index = tokens[max(position - 1, 0)], tokens[position].place
    if not index or left.form not in _LEADERS or index in find_sentence_starts(text):
        return False
    pairs = zip(tokens[position + 1 : position + 3], range(index + 1, index + 3), strict=False)
    after = [token.surface for token, place in pairs if token.place == place]
    tied = after[:1] and (after[0] in _NAME_TIES or (after[0] in _JOINTS and any(map(has_first_capital, after))))
    if tied or any(map(has_first_capital, after[:1])):
        return False  # "the House of Commons", "the Tower and Shard", "the Canal Street"
    owned = [word.form for word in words[max(index - 2, 0) : index] if word.form in _POSSESSIVE]
    front = left.place != index - 1 and has_first_capital(_surface(text, words[max(index - 1 - len(owned), 0)]))
    behind = [_surface(text, word) for word in words[index + 1 : index + 4]]
    return front or (not after and behind[:1] == ["of"] and any(map(has_first_capital, behind)))


def _surface(text: str, word: Word) -> str:
    return text[word.start : word.end]


def _write(text: str, words: Sequence[Word], tokens: Sequence[Token]) -> str:
    if not tokens:
        return ""
    before = text[: words[0].start] if tokens[0].place == 0 else ""
    after = text[words[-1].end :] if tokens[-1].place == len(words) - 1 else ""
    return before + _join(text, words, tokens, 0, len(tokens)) + after


def _join(text: str, words: Sequence[Word], tokens: Sequence[Token], start: int, end: int) -> str:
    """Return the tokens from ``start`` to ``end`` as they are written among the others."""
    parts: list[str] = []
    for position in range(start, end):
        token = tokens[position]
        if position > start:
            before, after = tokens[position - 1].place, token.place
            if before is not None and after == before + 1:
                parts.append(text[words[before].end : words[after].start])
            elif needs_space(tokens, position):
                parts.append(" ")
        parts.append(token.surface)
    return "".join(parts)
