"""What only the question says stays: a person leaves out what the dialogue has said.

Where the network is told to be grounded this is a law: no content word goes unless the dialogue said it, by its stem or
as an acronym, or it is an ordinary word before a noun that the dialogue said ("the [new] iPhone"). Else it is a guard:
a phrase of which the dialogue said no content word, "the weather like in Nairobi [in July]", goes if the network is
sure. Where a dialogue has questions only, a word's absence says nothing: there the guard stands back, not the law.
"""

from collections.abc import Iterator, Sequence
from itertools import takewhile

from riseq.core.edits import GONE, Op, Ops, find_runs, set_run, split_run
from riseq.engine.backends import ScoreArray
from riseq.engine.dialogue import DialogueWords, find_initials
from riseq.text.lexicon import PHRASE_OPENERS, find_stem, is_content, is_number


def keep_unsaid(
    ops: Ops,
    words: Sequence[str],
    phrases: Sequence[Sequence[str]],
    names: Sequence[bool],
    question: Sequence[str],
    dialogue: DialogueWords,
) -> None:
    """Keep, in place, each phrase that would go with a content word of the ``question`` as asked that nobody said.

    A word that stays elsewhere, or comes back in one of the ``phrases`` put in, is not lost.
    """
    asked: list[str] = []
    kept = {find_stem(words[at]) for at, op in enumerate(ops) if op not in GONE}
    for phrase in list(find_phrases(ops, words, front=True)):
        stays = kept.union(map(find_stem, phrases[phrase.start]))
        content = [index for index in range(phrase.start, phrase.stop) if is_content(words[index])]
        named = [index for index in content if names[index]]
        spelled = named if len(named) > 1 and find_initials(words[index] for index in named) in dialogue else ()
        for index in content:
            stem = find_stem(words[index])
            if words[index] in dialogue or index in spelled or stem in stays:
                continue
            asked = asked or list(map(find_stem, question))
            if stem not in asked or dialogue.find_spelled(words[index]) is not None:
                continue
            # An earlier pass may have brought the two together: "film [the] alien".
            after = (takewhile(is_content, question[at + 1 :]) for at, other in enumerate(asked) if other == stem)
            before_said = all(any(head in dialogue for head in heads) for heads in after)
            if not (before_said and _is_no_news(index, phrase.stop, words, names, dialogue)):
                set_run(ops, phrase, Op.KEEP)
                break


def _is_no_news(index: int, stop: int, words: Sequence[str], names: Sequence[bool], dialogue: DialogueWords) -> bool:
    """Return whether an unsaid word stands before a said noun, and is neither a number nor a name of its own."""
    head = index + sum(1 for _ in takewhile(is_content, words[index + 1 : stop]))
    news = head == index or is_number(words[index]) or names[index] > names[head]
    return not news and dialogue.says_head(words[head], words[index:head])


def keep_new_information(
    scores_WE: ScoreArray, ops: Ops, words: Sequence[str], dialogue: DialogueWords, sureness: float
) -> None:
    """Keep, in place, each phrase that would go though only the question says it.

    It goes all the same where its content words' edits are on average ``sureness`` better, by log-odds, than keeping.
    """
    for phrase in find_phrases(ops, words):
        content = [index for index in range(phrase.start, phrase.stop) if is_content(words[index])]
        if content and not any(words[index] in dialogue for index in content):
            better = scores_WE[content, [ops[index] for index in content]] - scores_WE[content, Op.KEEP]
            if better.mean() < sureness:
                set_run(ops, phrase, Op.KEEP)


def find_phrases(ops: Ops, words: Sequence[str], front: bool = False) -> Iterator[slice]:
    """Yield where phrases go: runs of SUBSTITUTEs, and a run at the ``front``, whole; one of DELETEs by its openers."""

    def opens(index: int) -> bool:
        return words[index] in PHRASE_OPENERS and words[index - 1] not in PHRASE_OPENERS

    for run in find_runs(ops, GONE, alike=True):
        if ops[run.start] == Op.DELETE and not (front and run.start == 1):
            yield from split_run(run, opens)
        else:
            yield run
