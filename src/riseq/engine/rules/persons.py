"""Who "he" and "she" cannot be: "When did he meet her?" does not come back as "When did my sister meet her?"."""

from collections.abc import Sequence

from riseq.core.edits import KEEP, Edit, Op, find_runs
from riseq.text.lexicon import (
    CERTAIN_NAMES,
    DETERMINERS,
    FEMALE_NOUNS,
    HE,
    JOINTS,
    PREPOSITIONS,
    SEXED_NOUNS,
    SHE,
    Pronoun,
    is_content,
    is_plural,
)

_LEADERS = DETERMINERS | {"our"}
_OTHERS = JOINTS | {"-"}
"""Of several nobody knows who is meant, and "Louis-Dreyfus" is no Louis."""


def keep_sexes(words: Sequence[str], edits: Sequence[Edit]) -> list[Edit]:
    """Return the edits of ``words`` without women for "he" and men for "she".

    Only a noun or a first name that tells counts: "my sister", "Queen Anne", "Wallis Simpson".
    """
    chosen = list(edits)
    for run in find_runs([edit.op for edit in edits], (Op.SUBSTITUTE,)):
        phrase, asked = edits[run.start].phrase, words[run.start]
        if not phrase:
            continue
        sex = _find_sex(phrase) if asked in (*HE, *SHE) else None
        if sex is not None and asked not in sex:
            chosen[run] = [KEEP] * (run.stop - run.start)
    return chosen


def _find_sex(phrase: Sequence[str]) -> Pronoun | None:
    """Return the pronoun of somebody by the noun they are called by or their first name; None where neither tells."""
    end = next((at for at, word in enumerate(phrase) if word in PREPOSITIONS), len(phrase))
    named = [word for word in phrase[:end] if is_content(word) and word != "s"]
    if not named or not _OTHERS.isdisjoint(phrase) or "s" in phrase[:-1] or is_plural(named[-1]):
        return None
    # "My sister", "the widow of the king", but "Queen Anne": of a name the first word tells, for some are called King.
    telling = named[-1] if phrase[0] in _LEADERS else named[0]
    if telling in SEXED_NOUNS:
        return SHE if telling in FEMALE_NOUNS else HE
    return None if phrase[0] in _LEADERS else CERTAIN_NAMES.get(telling)
