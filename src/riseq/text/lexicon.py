"""The English words that rules and measures go by: every list of words in riseq, each named once.

A word is content where it has a letter or digit and is not of the closed classes: articles, pronouns, prepositions,
conjunctions, auxiliaries, question words, and a few adverbs and particles. No other room is imported here, so that any
room may read it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_VERB_FORM = re.compile(r"(?=.{3,}(?:ing|ed)$)(?!.*eed$)(.*[aeiouy].*)(?:ing|ed)")
_DOUBLED = re.compile(r"([^lsz])\1$")
_PLURAL = re.compile(r"(.{3,}?)(?:(?<=[sxzio])es|(?<=[cs]h)es|(?<![su])s)")


def _list(words: str) -> frozenset[str]:
    return frozenset(words.split())


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

DEMONSTRATIVES = frozenset({"this", "that", "these", "those"})
PRONOUNS = PERSONAL_FORMS | DEMONSTRATIVES | {"one", "ones", "there"}
"""What refers back to something in the dialogue."""
POSSESSIVES = {form: (one.possessive, one.alone) for one in _THIRD_PERSON for form in one[:3]}
"""The possessive of each form of a pronoun, before a noun and alone."""
OBJECT_FORMS = {one.subject: one.object for one in (HE, SHE, THEY)}
GENERAL_PRONOUNS = {form: general for one in (HE, SHE) for form, general in zip(one[:3], THEY[:3], strict=True)}
"""How someone of unknown sex is called instead; "her" is taken for the possessive."""
SEXED_NOUNS = _list(
    """man woman boy girl king queen prince princess lady gentleman actress nun monk father mother son daughter brother
    sister husband wife uncle aunt male female"""
)
"""Nouns that say whether it is he or she."""

ARTICLES = frozenset({"a", "an", "the"})
DETERMINERS = ARTICLES | DEMONSTRATIVES | {"his", "her", "its", "their", "my", "your"}
STAND_INS = frozenset(POSSESSIVES) | ARTICLES | DEMONSTRATIVES
"""What stands where an article and its noun, or the article alone, would."""
VAGUE_WORDS = ARTICLES | DEMONSTRATIVES | _list("other any some of in on at to for his her their its")
"""Words that make no name by themselves."""

PREPOSITIONS = frozenset({"in", "of", "on", "at", "for", "from", "by", "with", "about", "during", "after", "before"})
OBJECT_PREPOSITIONS = frozenset({"of", "to", "for", "from", "by", "with", "about", "against"})
"""Not those that a clause may follow or that may end one: "the day after they met", "the house in which they lived"."""
PHRASE_OPENERS = (
    PREPOSITIONS
    | DETERMINERS
    | {"to", "against", "between", "into", "through", "within", "without", "and", "or", "but", "that", "which", "who"}
)
"""Words that begin a phrase of their own: a run of deletions is looked at phrase by phrase."""
CONJUNCTIONS = frozenset({"and", "or", ",", "&"})
"""What joins two subjects to one that is many, marks among them."""
JOINTS = frozenset({"and", "or", "vs", "versus", "&", ","})
"""What stands between two things that a dialogue sets side by side."""
NAME_JOINTS = frozenset({"of", "the", "and", "for", "&", "-"})
"""What may stand inside a name, and counts for nothing in its acronym."""
AFTER_OBJECT = _list("? . , ! in on at to for from with by after before during when while as and or about")
"""What can follow an object and hardly a possessor or a subject."""

AUXILIARIES = _list("am is are was were do does did has have had can could will would shall should may might must")
SECOND_VERBS = frozenset({"be", "been", "become", "get", "have"})
"""Verbs that may follow an auxiliary and its subject, and are surely verbs there."""
SINGULAR_TO_PLURAL = {"is": "are", "was": "were", "has": "have", "does": "do"}
SINGULAR_TO_PLURAL_NOT = {"isn": "aren", "wasn": "weren", "hasn": "haven", "doesn": "don"}
"""The same before "'t"."""

LINKS = PREPOSITIONS | AUXILIARIES | _list("than to be been being as into under besides between around since until")
"""Small words that tie what stands before them to what comes after."""

QUESTION_WORDS = frozenset({"who", "whom", "whose", "what", "which", "when", "where", "why", "how"})
OBJECT_QUESTION_WORDS = frozenset({"what", "who", "whom", "which"})
"""A question that starts so may well end in a preposition: "What is it known for?"."""
QUESTION_STARTS = QUESTION_WORDS | (AUXILIARIES - {"shall", "must"}) | {"any", "anything", "and", "or", "so", "tell"}
"""How questions begin whose "?" was left out or cut off."""
EXCLAMATIONS = frozenset({"yes", "no", "really"})

APOSTROPHES = frozenset("'’")
SUFFIXES = frozenset(("s", "t", "re", "ve", "ll", "d", "m"))
"""What follows an apostrophe inside a word: band's, didn't, they're, we've, she'll, he'd, I'm."""
PREFIXES = frozenset("odl")
"""What stands before an apostrophe inside a word: o'clock, O'Brien; D'Angelo; L'Oreal."""
ABBREVIATIONS = frozenset(("mr", "mrs", "ms", "dr", "st", "jr", "sr", "vs", "no"))
"""Words whose dots end no sentence."""
ENDS = frozenset("?.!")
"""Marks that end a question."""

_IN_BOTH = """
a an the
me my mine you your yours he him his himself she her hers herself it its itself we us our ours they them their theirs
themselves one ones this that these those there here
who whom whose which what when where why how whatever whichever whoever
about above across after against along among around as at before behind below beneath besides between beyond by
despite down during except for from in inside into like near of off on onto out outside over past per since through
throughout to under until up upon via with within without
and but or nor so yet if because although though while whereas than whether then
am is are was were be been being do does did doing done have has had having can could may might must shall should will
would ought
not no any some every each either neither both all another other also too just only even still more most much many such
same
"""
CLOSED_CLASS = _list(
    f"""{_IN_BOTH}
    i myself yourself yourselves ourselves aside apart beside till toward towards others else very ever again already
    own s t d ll m re ve n isn aren wasn weren don doesn didn haven hasn hadn couldn wouldn shouldn"""
)
"""The closed classes: words that hold a text together and are not what it is about."""
NUMBERS = _list(
    """two three four five six seven eight nine ten twelve hundred thousand million billion half first second third
    fourth fifth last next latest previous"""
)
_IRREGULAR = dict(
    pair.split(":")
    for pair in _list(
        """children:child men:man women:woman won:win wrote:write took:take taken:take went:go goes:go came:come
        got:get built:build bought:buy sold:sell left:leave ran:run led:lead lost:lose met:meet paid:pay said:say
        gave:give saw:see sent:send spoke:speak spent:spend taught:teach told:tell began:begin became:become
        chose:choose fell:fall
        felt:feel found:find held:hold kept:keep knew:know brought:bring made:make used:use using:use"""
    )
)
"""Forms of a word that no ending tells."""
NEVER_NAMES = _list(
    f"""{_IN_BOTH}
    none someone anyone everyone something anything everything nothing unless aside apart regarding concerning according
    need dare get got give gave given make made take took taken go went gone come came say said says
    tell describe explain name list show find compare define discuss mention identify please know think see talk let
    isn aren wasn weren don doesn didn haven hasn hadn couldn won wouldn shouldn
    okay ok yes well oh hi hello thanks now next later once first last few several further however otherwise instead
    """
)
"""Words that start sentences without being names. They are never written with a capital on the strength of one seen
elsewhere ("It", the film), and lose the capital they had when they no longer come first."""

FOREIGN_WORDS = _list(
    """
    que qué quien quién cuál cuáles cuándo cuántos cuántas cuánto dónde cómo por una unos es está fue sobre más pero
    puedo esta este dime quel quelle quels quelles quand qui où pourquoi combien est sont était le les une aux avec
    dans je vous nous elle cette il moi wann wer wie wo warum welche welcher welches welchen ist sind wurde dem ein
    eine einen zu für auf nicht kann ich mein meine viele und gibt quando chi perché quanti quante gli della è sono
    nel posso mio sulla più questo quem quantos quantas onde qual uma não é meu minha sem foi são isso wanneer
    waarom hoeveel welke wat waar het een werd heeft ik mijn nog niet zijn voor naar kan kiedy kto gdzie ile
    dlaczego czy jaka jaki jest są się na nie mogę był była który moje zaman kaç nasıl neden nerede hangi bir mı
    için nedir daha kapan siapa berapa mengapa bagaimana apa apakah yang dari ini itu saya bisa untuk dengan adalah
    tidak när vem hur många varför vad är jag och det som för på av ett inte till blev milloin kuka kuinka missä
    mikä miksi mitä monta onko oli voinko minun joka voiko có là của không gì nào nhiêu năm tại tôi đã và những
    tiene puede quanto hoe vilken finns peut kadar mihin paljonko hvad hva hvor hvordan hvornår når kolik kde kdy
    proč jsou cât unde când mennyi mikor hol egy
    """
)
"""Function words of Spanish, French, German, Italian, Portuguese, Dutch, Polish, Turkish, Indonesian, Swedish, Finnish,
Vietnamese and a few more; none that English has too or that its names are full of (la, el, van)."""
FOREIGN_SCRAPS = _list(
    """
    al ao au bu co com con da das de del den der des di die do dos du el em en et ha hat het kim la las lo los mana
    mi ne os na o per se si sin som un van ve von w y z
    """
)
"""More of them that stand in English names and titles too; among other foreign words they count."""
HOMOGRAPHS = _list("a all am an any as at by d do for had he her i in is its m me no of on or over s so t to us was we")
"""English function words that are words of other languages too, and say nothing of a text's language."""


def is_word(form: str) -> bool:
    """Return whether ``form`` has a letter or digit."""
    return form.isalnum() or any(map(str.isalnum, form))


def is_content(form: str) -> bool:
    """Return whether a lower-cased word carries content of its own."""
    return form not in CLOSED_CLASS and is_word(form)


def is_number(form: str) -> bool:
    """Return whether ``form`` is a number or says which one: 2, 1990s, two, second, next."""
    return form[0].isdigit() or form in NUMBERS


@lru_cache(maxsize=1 << 16)
def find_stem(form: str) -> str:
    """Return what the forms of a word share: film, films; study, studied; make, making; write, wrote.

    It need be no word, and goes by letters alone: news and new are one.
    """
    form = _IRREGULAR.get(form, form)
    if found := _VERB_FORM.fullmatch(form):
        form = _DOUBLED.sub(r"\1", found[1])  # planned, running; but pulled, pressing, buzzed
    elif found := _PLURAL.fullmatch(form):
        form = found[1]
    form = form[:-1] if len(form) > 3 and form.endswith("e") else form
    return f"{form[:-1]}i" if len(form) > 2 and form.endswith("y") else form
