"""The end of a copied title: its last quotation mark comes with its first, and no "?" stands before another.

A network that copies learnt spans of words, and a title with a mark of its own ("'Who Killed Cock Robin?'") is at times
copied up to that mark.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from riseq.core.edits import Edit, Op
from riseq.text.lexicon import is_word
from riseq.text.realise import Copied
from riseq.text.words import Word, read_words

_PAIRS = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»"}
_NEAR = 2
"""Within how many words after the copied ones the mark is looked for."""


def close_quotations(
    words: Sequence[str], edits: Sequence[Edit], copied: Mapping[int, Copied], context: Sequence[str]
) -> tuple[list[Edit], dict[int, Copied]]:
    """Return the edits of ``words`` and what they ``copied``, with the ends that copied titles have in the dialogue.

    A part of a title that was copied with its first mark has the last one too.

    >>> asked, title = "[marker] who wrote it ?".split(), ("'", "who", "is", "it", "?")
    >>> edits = [Edit(Op.KEEP)] * 3 + [Edit(Op.SUBSTITUTE, title), Edit(Op.KEEP)]
    >>> close_quotations(asked, edits, {3: Copied(0, 0, 5)}, ["'Who Is It?' is a song."])[0][3].phrase[-2:]
    ('?', "'")
    """
    chosen, known = list(edits), dict(copied)
    for at, source in copied.items():
        if source.utterance is None or len(chosen[at].phrase) != source.before + source.stop - source.first:
            continue
        said = read_words(context[source.utterance])
        stop, left = _find_end(said, source), source.stop - source.first
        if stop == source.stop and left > 1 and said[stop - 1].form == _follows(words, chosen, at) == "?":
            stop -= 1
        after = [word.form for word in said[source.stop : stop]]
        if stop == source.stop and (closing := _find_missing(said, source)):
            stop -= next(k for k in range(left) if is_word(said[stop - 1 - k].form))
            after = [closing]
        phrase = chosen[at].phrase[: source.before + min(stop, source.stop) - source.first]
        chosen[at] = replace(chosen[at], phrase=(*phrase, *after))
        known[at] = replace(source, stop=stop)
    return chosen, known


def _find_end(said: Sequence[Word], source: Copied) -> int:
    """Return where copied words stop, with the quotation mark that closes the one they begin with, if it is near."""
    first, stop = source.first, source.stop
    closing = _PAIRS.get(said[first].form)
    if closing is None or _touches(said, first - 1) or not _touches(said, first):
        return stop
    ends = [index for index in range(first + 1, stop + _NEAR) if _closes(said, index, closing)]
    return max(stop, ends[0] + 1) if ends else stop


def _find_missing(said: Sequence[Word], source: Copied) -> str:
    """Return the mark that the first of the copied words lacks: a double one, for a single one may be many things."""
    mark = said[source.first].form
    closing = _PAIRS.get(mark, "")
    inside = [word.form for word in said[source.first + 1 : source.stop]]
    lacks = mark not in "'‘" and _touches(said, source.first) and closing not in inside and any(map(is_word, inside))
    return closing if lacks else ""


def _closes(said: Sequence[Word], index: int, closing: str) -> bool:
    """Return whether the word at ``index`` closes a quotation, and is no apostrophe inside a word."""
    if index >= len(said) or said[index].form != closing or not _touches(said, index - 1):
        return False
    return not (_touches(said, index) and said[index + 1].form.isalnum())


def _touches(said: Sequence[Word], index: int) -> bool:
    """Return whether there is no space between the word at ``index`` and the one after it."""
    return 0 <= index < len(said) - 1 and said[index].end == said[index + 1].start


def _follows(words: Sequence[str], edits: Sequence[Edit], at: int) -> str:
    """Return the word that stands after what the edit ``at`` says, or nothing."""
    gone = (Op.DELETE, Op.SUBSTITUTE)
    rest = (k for k in range(at + 1, len(edits)) if edits[k].phrase or edits[k].op not in gone)
    after = next(rest, None)
    return "" if after is None or edits[after].op is Op.SUBSTITUTE else words[after]
