"""What is put into a question twice: words that come back from the dialogue are wanted once."""

from collections.abc import Sequence
from itertools import pairwise

from riseq.core.edits import Edit, Op
from riseq.text.lexicon import find_stem, is_content


def drop_repeated(words: Sequence[str], edits: Sequence[Edit], probabilities: Sequence[float]) -> list[Edit]:
    """Return the edits of ``words`` without the insertions of which all that tells something is said elsewhere.

    Where two say the same, the less probable one goes.
    """
    chosen = list(edits)
    said = [
        _find_content([word]) if edit.op in (Op.KEEP, Op.INSERT) else set()
        for word, edit in zip(words, edits, strict=True)
    ]
    put_in = [_find_content(edit.phrase) for edit in edits]
    inserted = [at for at, edit in enumerate(edits) if edit.op is Op.INSERT and put_in[at]]
    for at in sorted(inserted, key=lambda at: probabilities[at]):
        others = set[str]().union(*said, *put_in[:at], *put_in[at + 1 :])
        if put_in[at] <= others:
            chosen[at], put_in[at] = Edit(Op.KEEP), set()
    return chosen


def repeats_itself(words: Sequence[str]) -> bool:
    """Return whether two neighbouring content words, or any three words, are said twice: nobody asks so.

    >>> repeats_itself("did rosalind franklin ever get credit for rosalind franklin ?".split())
    True
    """
    pairs = [pair for pair in pairwise(words) if all(map(is_content, pair))]
    triples = list(zip(words, words[1:], words[2:], strict=False))
    return len(set(pairs)) < len(pairs) or len(set(triples)) < len(triples)


def _find_content(words: Sequence[str]) -> set[str]:
    return {find_stem(word) for word in words if is_content(word)}
