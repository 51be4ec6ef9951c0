"""What is said and asks nothing of the dialogue: greetings, thanks, "yes", statements, questions about the assistant.

A network that resolves questions sees few of them, and would make a question of "Hello" after a talk about a film.
"""

from collections.abc import Sequence
from itertools import dropwhile

from riseq.text.lexicon import (
    ABOUT_ASSISTANTS,
    AUXILIARIES,
    DETERMINERS,
    ENDS,
    INFORMATION_VERBS,
    INTERJECTIONS,
    LEARNING,
    PERSONAL_FORMS,
    POSSESSIVES,
    PRONOUNS,
    QUESTION_STARTS,
    QUESTION_WORDS,
    STATEMENT_STARTS,
    WISHES,
    WONDERING,
    is_content,
    is_irregular,
    is_word,
)

NO_QUESTION = "it asks nothing about the dialogue"
_STARTS = (STATEMENT_STARTS | PERSONAL_FORMS | DETERMINERS) - QUESTION_STARTS
_CONNECTIVES = frozenset({"and", "or"})
_LED_IN = INTERJECTIONS | _CONNECTIVES | {"but", "so"}
_FRAGMENT = 3
"""Words; "and" with no more of them after it goes on with the question before."""
_NOUN_PHRASE = 4
"""Words; more of them after a possessive are likely a sentence."""
_OPENING = 5
"""Within how many words somebody says that they would like to know."""
_ASKERS = frozenset({"i", "we"})
_POSSESSIVES = frozenset(possessive for possessive, _ in POSSESSIVES.values())
_NO_NOUNS = AUXILIARIES | PERSONAL_FORMS | QUESTION_WORDS


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
    if said and (_wants_to_know(said) or _is_fragment(said)):
        return False
    if not said or said[0] in _STARTS:
        return True
    if said[0] in QUESTION_STARTS:
        return said[0] == "what" and said[1:2] == ["a"]  # what a pity
    return said[0] not in INFORMATION_VERBS and PRONOUNS.isdisjoint(said)


def _wants_to_know(said: Sequence[str]) -> bool:
    """Return whether a sentence says what somebody would like to know of what was said: "I wonder how tall it is"."""
    if said[0] not in _ASKERS:
        return False
    start = said[:_OPENING]
    after = next((k for k, word in enumerate(start, 1) if word in WONDERING), 0)
    wish = next((k for k, word in enumerate(start, 1) if word in WISHES), 0)
    if not after and wish and said[wish : wish + 1] == ["to"] and not LEARNING.isdisjoint(said[wish + 1 : wish + 2]):
        after = wish + 2
    return bool(after) and said[after:][:1] != ["for"] and not PRONOUNS.isdisjoint(said[after:])


def _is_fragment(said: Sequence[str]) -> bool:
    """Return whether what was said is no sentence, but something of what was spoken of: "His other films"."""
    if said[0] not in _POSSESSIVES or not 1 < len(said) <= _NOUN_PHRASE or not is_content(said[-1]):
        return False
    return not any(word in _NO_NOUNS or word.endswith("ed") or is_irregular(word) for word in said[1:])
