"""All that is mended in the edits of a pass that resolves a question, in order."""

from collections.abc import Mapping, Sequence

from riseq.core.edits import Edit
from riseq.engine.rules.articles import add_articles
from riseq.engine.rules.conjunctions import drop_conjunctions
from riseq.engine.rules.end_marks import keep_end_marks
from riseq.engine.rules.frames import complete_frames
from riseq.engine.rules.impersonal import keep_impersonal
from riseq.engine.rules.kept_words import keep_pronouns, keep_rest, undo_losses
from riseq.engine.rules.noun_phrases import part_noun_phrases
from riseq.engine.rules.ones import keep_ones
from riseq.engine.rules.openings import complete_openings
from riseq.engine.rules.persons import keep_sexes
from riseq.engine.rules.places import add_prepositions
from riseq.engine.rules.possessives import name_owner_once, shorten_plurals
from riseq.engine.rules.quotations import close_quotations
from riseq.engine.rules.repetition import drop_repeated, keep_answered, name_once
from riseq.engine.rules.times import complete_times, keep_times
from riseq.engine.rules.titles import keep_persons
from riseq.engine.rules.whole_names import copy_whole_names, keep_whole_names
from riseq.engine.rules.whole_phrases import keep_whole_phrases
from riseq.text.realise import Copied


def mend_resolved(
    text: str,
    words: Sequence[str],
    chosen: Sequence[Edit],
    probabilities: Sequence[float],
    copied: Mapping[int, Copied],
    context: Sequence[str],
) -> tuple[list[Edit], dict[int, Copied]]:
    """Return the ``chosen`` edits of ``text`` as a resolved question needs them, and what they still ``copied``."""
    # What is not to be done at all goes first, for what is left is judged by what else is done.
    edits = undo_losses(words, keep_rest(words, keep_whole_names(text, chosen)))
    edits = keep_end_marks(words, edits)
    edits = keep_ones(words, edits, copied, context)
    edits = keep_persons(words, edits, copied, context)
    edits = complete_frames(words, edits, copied)
    edits = keep_impersonal(words, edits)
    edits = keep_pronouns(words, edits)
    edits = keep_sexes(words, edits)
    edits = keep_times(words, edits)
    edits = keep_whole_phrases(words, edits, copied, context)
    edits = keep_answered(words, edits)
    edits = name_once(words, edits, probabilities)
    edits = drop_repeated(words, edits, probabilities)
    known = {at: one for at, one in copied.items() if edits[at].phrase}
    edits, known = part_noun_phrases(text, words, edits, known, context)
    edits = drop_conjunctions(edits, known)
    edits = name_owner_once(words, edits)
    edits = shorten_plurals(words, edits, known, context)
    edits, known = complete_openings(words, edits, known, context)
    edits, known = complete_times(words, edits, known)
    edits, known = add_prepositions(words, edits, known, context)
    edits, known = add_articles(words, edits, known, context)
    edits, known = close_quotations(words, edits, known, context)
    return copy_whole_names(edits, known, context)
