"""What is said and asks nothing of the dialogue: greetings, thanks, "yes", statements, questions about the assistant.

A network that resolves questions sees few of them, and would make a question of "Hello" after a talk about a film.
"""

from collections.abc import Sequence
from itertools import dropwhile

from riseq.text.lexicon import (
    ABOUT_ASSISTANTS,
    DETERMINERS,
    ENDS,
    INFORMATION_VERBS,
    INTERJECTIONS,
    PERSONAL_FORMS,
    PRONOUNS,
    QUESTION_STARTS,
    STATEMENT_STARTS,
    is_content,
    is_word,
)

NO_QUESTION = "it asks nothing about the dialogue"
_STARTS = (STATEMENT_STARTS | PERSONAL_FORMS | DETERMINERS) - QUESTION_STARTS
_CONNECTIVES = frozenset({"and", "or"})
_LED_IN = INTERJECTIONS | _CONNECTIVES | {"but", "so"}
_FRAGMENT = 3
"""Words; "and" with no more of them after it goes on with the question before."""


def asks_nothing(words: Sequence[str]) -> bool:
    """Return whether the ``words`` of what was said are plainly no question about the dialogue, and no request.

    >>> asks_nothing("yes , both of them".split()), asks_nothing("how late do the bars stay open".split())
    (True, False)
    """
    if "?" in words:
        said = [word for word in words if is_word(word) and word not in INTERJECTIONS]
        return not said or ("you" in said and not any(map(_is_of_dialogue, said)))
    return all(map(_states, _split_sentences(words)))


def _is_of_dialogue(word: str) -> bool:
    return is_content(word) and word not in ABOUT_ASSISTANTS


def _split_sentences(words: Sequence[str]) -> list[list[str]]:
    sentences: list[list[str]] = [[]]
    for word in words:
        if word in ENDS:
            sentences.append([])
        elif is_word(word):
            sentences[-1].append(word)
    return sentences


def _states(sentence: Sequence[str]) -> bool:
    """Return whether a sentence without a question mark is a statement, or a word or two that ask nothing."""
    said = list(dropwhile(_LED_IN.__contains__, sentence))
    if 0 < len(said) <= _FRAGMENT and sentence[0] in _CONNECTIVES and said[0] not in PERSONAL_FORMS:
        return False  # and Germany
    if not said or said[0] in _STARTS:
        return True
    if said[0] in QUESTION_STARTS:
        return said[0] == "what" and said[1:2] == ["a"]  # what a pity
    return said[0] not in INFORMATION_VERBS and PRONOUNS.isdisjoint(said)
