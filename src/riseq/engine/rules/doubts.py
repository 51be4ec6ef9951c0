"""What is put into a question although the network hardly believes in it: without it the question is no worse."""

import math
from collections.abc import Sequence

from riseq.core.edits import KEEP, Edit, Op
from riseq.text.lexicon import ENDS, is_content

LEAST_LATER = 0.15
"""How likely what only a later pass puts in has to be; on the dev sets what is less likely is wrong three times in
four, the small words above all by which it would mend a pass before."""
LEAST_COMPLETE = 0.05
"""How likely it has to be in a question in which no word points back, for most of these are complete."""


def drop_doubtful(edits: Sequence[Edit], probabilities: Sequence[float], later: bool, points_back: bool) -> list[Edit]:
    """Return the edits without the insertions that are not probable enough, but for the question's mark.

    ``later`` is whether a pass was made before, ``points_back`` whether a word of the question does. The first pass
    puts in nothing where all that it says are small words: "during [the] term".
    """
    least = LEAST_LATER if later else 0.0 if points_back else LEAST_COMPLETE
    if not later and not any(is_content(word) for edit in edits for word in edit.phrase):
        least = math.inf
    pairs = zip(edits, probabilities, strict=True)
    return [KEEP if p < least and one.op is Op.INSERT and not ENDS.issuperset(one.phrase) else one for one, p in pairs]
