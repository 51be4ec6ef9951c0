"""Names of several words, such as "file.txt", "3.12.1" or "C++": they are copied whole, and the question's own stay."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from riseq.core.edits import KEEP, STAYS, Edit, Op, find_run
from riseq.text.realise import Copied
from riseq.text.whole_names import find_whole_names
from riseq.text.words import read_forms


def copy_whole_names(
    edits: Sequence[Edit], copied: Mapping[int, Copied], context: Sequence[str]
) -> tuple[list[Edit], dict[int, Copied]]:
    """Return the edits and what they ``copied``, in which no name is cut: "file" of "file.txt" is all of it."""
    chosen, known = list(edits), dict(copied)
    for at, source in copied.items():
        if source.utterance is None:
            continue
        first, stop = source.first, source.stop
        for start, end in find_whole_names(context[source.utterance]):
            if start < stop and first < end:
                first, stop = min(first, start), max(stop, end)
        if (first, stop) != (source.first, source.stop):
            said, phrase = read_forms(context[source.utterance]), chosen[at].phrase
            after = phrase[source.before + source.stop - source.first :]
            chosen[at] = replace(chosen[at], phrase=(*phrase[: source.before], *said[first:stop], *after))
            known[at] = replace(source, first=first, stop=stop)
    return chosen, known


def keep_whole_names(text: str, edits: Sequence[Edit]) -> list[Edit]:
    """Return the edits of the words of ``text`` without those that put something into a name, or take a part of it."""
    chosen = list(edits)
    ops = [edit.op for edit in edits]
    for start, end in find_whole_names(text):
        first, stop = start + 1, end + 1  # the marker is word 0
        if stop > len(edits) or all(op is Op.KEEP for op in ops[first:stop]):
            continue
        for at in range(first, stop - 1):
            if ops[at] is Op.INSERT:
                chosen[at] = KEEP
        if any(op in STAYS for op in ops[first:stop]):
            for at in range(first, stop):
                if ops[at] not in STAYS:
                    run = find_run(ops, at, (ops[at],))
                    chosen[run] = [KEEP] * (run.stop - run.start)
    return chosen
