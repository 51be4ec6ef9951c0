"""The English words that rules and measures go by, from the lists in ``lexicon.txt``, and what a form alone tells.

A word is content where it has a letter or digit and is not of the closed classes: articles, pronouns, prepositions,
conjunctions, auxiliaries, question words, and a few adverbs and particles. No other room is imported here, so that any
room may read it.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

_VERB_FORM = re.compile(r"(?=.{3,}(?:ing|ed)$)(?!.*eed$)(.*[aeiouy].*)(?:ing|ed)")
_DOUBLED = re.compile(r"([^lsz])\1$")
_PLURAL = re.compile(r"(.{3,}?)(?:(?<=[sxzio])es|(?<=[cs]h)es|(?<![su])s)")
_SPANISH_MARKS = re.compile(r"\s*¿[^?]*\?*\s*")
_LETTERS = re.compile(r"[^\W\d_]+")
_LAST_LATIN = "\u024f"
"""The last letter of Latin Extended-B; the Vietnamese ones are beyond, in a block of their own."""

_TEXT = re.sub(r"#.*", "", Path(__file__).with_suffix(".txt").read_text(encoding="utf-8"))
_LISTS = {name: frozenset(words.split()) for name, words in re.findall(r"\[(\w+)\]([^\[]*)", _TEXT)}


class Pronoun(NamedTuple):
    """A personal pronoun in its four roles: "he left", "for him", "his film", "the film is his"."""

    subject: str
    object: str
    possessive: str
    alone: str


HE = Pronoun("he", "him", "his", "his")
SHE = Pronoun("she", "her", "her", "hers")
IT = Pronoun("it", "it", "its", "its")
THEY = Pronoun("they", "them", "their", "theirs")
_THIRD_PERSON = (HE, SHE, IT, THEY)
PERSONAL_PRONOUNS = {one.subject: one for one in _THIRD_PERSON}
PERSONAL_FORMS = frozenset(form for one in _THIRD_PERSON for form in one)
POSSESSIVES = {form: (one.possessive, one.alone) for one in _THIRD_PERSON for form in one[:3]}
"""The possessive of each form of a pronoun, before a noun and alone."""
OBJECT_FORMS = {one.subject: one.object for one in (HE, SHE, THEY)}
GENERAL_PRONOUNS = {form: general for one in (HE, SHE) for form, general in zip(one[:3], THEY[:3], strict=True)}
"""How someone of unknown sex is called instead; "her" is taken for the possessive."""
SINGULAR_TO_PLURAL = {"is": "are", "was": "were", "has": "have", "does": "do"}
SINGULAR_TO_PLURAL_NOT = {"isn": "aren", "wasn": "weren", "hasn": "haven", "doesn": "don"}
"""The same before "'t"."""

ARTICLES = _LISTS["articles"]
DEMONSTRATIVES = _LISTS["demonstratives"]
PRONOUNS = PERSONAL_FORMS | DEMONSTRATIVES | {"one", "ones", "there"}
"""What refers back to something in the dialogue."""
SEXED_NOUNS = _LISTS["sexed_nouns"]
FEMALE_NOUNS = _LISTS["female_nouns"]
DETERMINERS = ARTICLES | DEMONSTRATIVES | _LISTS["other_determiners"]
STAND_INS = frozenset(POSSESSIVES) | ARTICLES | DEMONSTRATIVES
"""What stands where an article and its noun, or the article alone, would."""
VAGUE_WORDS = ARTICLES | DEMONSTRATIVES | _LISTS["vague_words"]
PREPOSITIONS = _LISTS["prepositions"]
OBJECT_PREPOSITIONS = _LISTS["object_prepositions"]
PHRASE_OPENERS = PREPOSITIONS | DETERMINERS | _LISTS["phrase_openers"]
SUBORDINATORS = _LISTS["subordinators"]
UNISEX_NAMES = _LISTS["unisex_names"]
TRADE = _LISTS["trade"]
CERTAIN_NAMES = dict.fromkeys(_LISTS["female_names"], SHE) | dict.fromkeys(_LISTS["male_names"], HE)
"""The pronoun of a first name that leaves no doubt."""
TIMES = _LISTS["times"]
WEEKDAYS, SEASONS = _LISTS["weekdays"], _LISTS["seasons"]
MOTIONS = _LISTS["motions"]
JOURNEYS = _LISTS["journeys"]
CONJUNCTIONS = _LISTS["conjunctions"]
JOINTS = _LISTS["joints"]
NAME_JOINTS = _LISTS["name_joints"]
NAME_HEADS = _LISTS["name_heads"]
AFTER_OBJECT = _LISTS["after_object"]
AUXILIARIES = _LISTS["auxiliaries"]
SECOND_VERBS = _LISTS["second_verbs"]
LINKS = PREPOSITIONS | AUXILIARIES | _LISTS["links"]
QUESTION_WORDS = _LISTS["question_words"]
OBJECT_QUESTION_WORDS = _LISTS["object_question_words"]
QUESTION_STARTS = QUESTION_WORDS | (AUXILIARIES - {"shall", "must"}) | _LISTS["question_starts"]
EXCLAMATIONS = _LISTS["exclamations"]
INTERJECTIONS = _LISTS["interjections"]
STATEMENT_STARTS = _LISTS["statement_starts"]
INFORMATION_VERBS = _LISTS["information_verbs"]
WISHES = _LISTS["wishes"]
LEARNING = _LISTS["learning"]
WONDERING = _LISTS["wondering"]
ABOUT_ASSISTANTS = _LISTS["about_assistants"]
APOSTROPHES = frozenset("'’")
SUFFIXES = _LISTS["suffixes"]
PREFIXES = frozenset("odl")
"""What stands before an apostrophe inside a word: o'clock, O'Brien; D'Angelo; L'Oreal."""
ABBREVIATIONS = _LISTS["abbreviations"]
ENDS = frozenset("?.!")
"""Marks that end a question."""
CLOSED_CLASS = _LISTS["small_words"] | _LISTS["closed_class"]
NEVER_NAMES = _LISTS["small_words"] | _LISTS["never_names"]
"""Words that start sentences without being names. They are never written with a capital on the strength of one seen
elsewhere ("It", the film), and lose the capital they had when they no longer come first."""
BEFORE_NAMES = DETERMINERS | PREPOSITIONS | CONJUNCTIONS | AUXILIARIES | _LISTS["before_names"]
"""Those that stand before names and are not of them: "In Paris", "My Toyota", "Can Germany"."""
_IRREGULAR = dict(pair.split(":") for pair in _LISTS["irregular"])
_STEMS = _IRREGULAR | dict(pair.split(":") for pair in _LISTS["irregular_nouns"])
NUMBERS = _LISTS["numbers"]
NAMED_KINDS = _LISTS["named_kinds"]
"""Nouns that stand before the name of what they are: "the album Vespertine"."""
GENERIC_WORDS = _LISTS["generic_words"]
"""Content words that say nothing about what a dialogue is about."""
_FOREIGN_PREPOSITIONS = frozenset({"a", "i", "im", "in", "no"})
"""Homographs that often follow a foreign "and"."""
_ENGLISH = (CLOSED_CLASS | QUESTION_STARTS) - _LISTS["homographs"]


@lru_cache(maxsize=1 << 16)
def is_word(form: str) -> bool:
    """Return whether ``form`` has a letter or digit."""
    return form.isalnum() or any(map(str.isalnum, form))


@lru_cache(maxsize=1 << 16)
def is_content(form: str) -> bool:
    """Return whether a lower-cased word carries content of its own."""
    return form not in CLOSED_CLASS and is_word(form)


def is_number(form: str) -> bool:
    """Return whether ``form`` is a number or says which one: 2, 1990s, two, second, next."""
    return form[0].isdigit() or form in NUMBERS


def is_plural(form: str) -> bool:
    """Return whether a noun is of many by its form: scrolls, children; not news, bus or analysis."""
    ends = form.endswith("s") and not form.endswith(("ss", "us", "is")) and form not in _LISTS["singulars"]
    return (ends and len(form) > 3) or form in _LISTS["plurals"]


def is_irregular(form: str) -> bool:
    """Return whether ``form`` is of a word that is found by no ending: wrote, given; children too."""
    return form in _IRREGULAR


@lru_cache(maxsize=1 << 16)
def find_stem(form: str) -> str:
    """Return what the forms of a word share: film, films; study, studied; make, making; write, wrote.

    It need be no word, and goes by letters alone: news and new are one.
    """
    form = _STEMS.get(form, form)
    if found := _VERB_FORM.fullmatch(form):
        form = _DOUBLED.sub(r"\1", found[1])  # planned, running; but pulled, pressing, buzzed
    elif found := _PLURAL.fullmatch(form):
        form = found[1]
    form = form[:-1] if len(form) > 3 and form.endswith("e") else form
    return f"{form[:-1]}i" if len(form) > 2 and form.endswith("y") else form


def is_foreign(question: str, context: Sequence[str], is_known: Callable[[str], bool]) -> bool:
    """Return whether ``question`` is surely not English; ``is_known`` tells the words of the model's vocabulary.

    One English function word is enough to be English, unless it stands among more foreign ones. One foreign word may be
    of a name, so it counts beside a word that is accented or not known; without one the dialogue decides.
    """
    opening = _LETTERS.search(question)
    if opening is not None and opening.group().lower() in _ENGLISH:
        return False
    first, *others = _find_plain_words(question) or [""]
    english, foreign = _count_languages([first, *others])
    if english:
        return first not in _ENGLISH and foreign > english + 1
    accented = {word for word in (first, *others) if not word.isascii()}
    if foreign > 1 or len(accented) > 1 or _is_other_script(question) or _SPANISH_MARKS.fullmatch(question):
        return True
    unknown = (word for word in others if word not in _LISTS["foreign_scraps"] and not is_known(word))
    if (foreign and (accented or any(unknown))) or _is_foreign_fragment(first, others, question):
        return True
    in_dialogue = [_count_languages(_find_plain_words(text)) for text in context]
    return sum(found for _, found in in_dialogue) > sum(found for found, _ in in_dialogue)


def _is_foreign_fragment(first: str, others: Sequence[str], question: str) -> bool:
    """Return whether a few small words, names apart, are all of other languages: "Und in Deutschland?", "Warum?"."""
    foreign, scraps, asking, joining = (
        _LISTS[f"foreign_{name}"] for name in ("words", "scraps", "questions", "conjunctions")
    )
    if not others:
        return first in asking and len(_LETTERS.findall(question)) == 1
    if not {first, *others} <= foreign | scraps | joining | _LISTS["homographs"]:
        return False
    if not foreign.isdisjoint(others) or len(scraps & {first, *others}) > 2:
        return True
    joins = first in asking | joining and others[0] in scraps | _FOREIGN_PREPOSITIONS
    return joins or (first in _LISTS["foreign_verbs"] and others[0] in scraps)


def _find_plain_words(text: str) -> list[str]:
    """Return the words of ``text``, lower-cased, but for those with a capital inside it, which may be names."""
    words = _LETTERS.findall(text)
    return [word.lower() for index, word in enumerate(words) if not index or word[0].islower()]


def _count_languages(words: Sequence[str]) -> tuple[int, int]:
    """Return how many different English and foreign function words there are among ``words``."""
    found = set(words)
    foreign, scraps = len(found & _LISTS["foreign_words"]), len(found & _LISTS["foreign_scraps"])
    return len(found & _ENGLISH), foreign + (scraps > 0 if foreign else scraps > 1)


def _is_other_script(text: str) -> bool:
    letters = [letter for letter in text if letter.isalpha()]
    other = sum(letter > _LAST_LATIN and not "\u1e00" <= letter <= "\u1eff" for letter in letters)
    return 2 * other > len(letters)
