"""What "one" comes back as: a kind of thing, not the name of one."""

from collections.abc import Mapping, Sequence

from riseq.core.edits import KEEP, Edit, Op
from riseq.text.lexicon import DEMONSTRATIVES, NUMBERS
from riseq.text.realise import Copied
from riseq.text.words import find_named, read_forms

_CHOOSING = NUMBERS | DEMONSTRATIVES | {"which", "what", "other", "another", "each", "every", "any"}


def keep_ones(
    words: Sequence[str], edits: Sequence[Edit], copied: Mapping[int, Copied], context: Sequence[str]
) -> list[Edit]:
    """Return the edits of ``words`` without names for a "one" that is chosen: "which Lyon", "the first Partnach Gorge".

    A word is a name that has a capital wherever the dialogue says it.
    """
    chosen = list(edits)
    for at, source in copied.items():
        picked = edits[at - 1].op is Op.KEEP and words[at - 1] in _CHOOSING
        if words[at] == "one" and edits[at].op is Op.SUBSTITUTE and picked and source.utterance is not None:
            last = read_forms(context[source.utterance])[source.stop - 1]
            if _is_name(last, context):
                chosen[at] = KEEP
    return chosen


def _is_name(form: str, context: Sequence[str]) -> bool:
    said = [pair for text in context for pair in zip(read_forms(text), find_named(text), strict=True)]
    return all(has_capital for word, has_capital in said if word == form)
