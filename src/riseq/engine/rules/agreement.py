"""Grammar that follows from an edit by rule, put right among the pass's edits so that words and text never part.

A rule acts only beside a word that the edits bring in or bring together, so what the user wrote is never corrected for
its own sake. Capitals and spaces are ``riseq.text.realise``'s.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import NamedTuple

from riseq.core.edits import DELETE, Edit, Op
from riseq.text.spacing import APOSTROPHES, SUFFIXES, is_word

_GONE = (Op.DELETE, Op.SUBSTITUTE)

POSSESSIVES = {
    **dict.fromkeys(("he", "him", "his"), ("his", "his")),
    **dict.fromkeys(("she", "her"), ("her", "hers")),
    **dict.fromkeys(("it", "its"), ("its", "its")),
    **dict.fromkeys(("they", "them", "their"), ("their", "theirs")),
}
"""The possessive of a pronoun, before a noun and alone."""

_OBJECTS = {"he": "him", "she": "her", "they": "them"}
# Not those that a clause may follow or that may end one: "the day after they met", "the house in which they lived".
_PREPOSITIONS = frozenset({"of", "to", "for", "from", "by", "with", "about", "against"})

_ONE_TO_MANY = {"is": "are", "was": "were", "has": "have", "does": "do"}
_ONE_TO_MANY_NOT = {"isn": "aren", "wasn": "weren", "hasn": "haven", "doesn": "don"}
_MANY_TO_ONE = {many: one for one, many in _ONE_TO_MANY.items()}
_MANY_TO_ONE_NOT = {many: one for one, many in _ONE_TO_MANY_NOT.items()}
_SUBJECTS = {"they": (_ONE_TO_MANY, _ONE_TO_MANY_NOT)} | dict.fromkeys(
    ("he", "she", "it"), (_MANY_TO_ONE, _MANY_TO_ONE_NOT)
)
_LEADS = frozenset({"who", "whom", "what", "which", "when", "where", "why", "how"})
_JOINS = frozenset({"and", "or", ",", "&"})

_GENERAL = {"he": "they", "she": "they", "him": "them", "his": "their", "her": "their"}
_GENDERED = frozenset(
    {
        "man",
        "woman",
        "boy",
        "girl",
        "king",
        "queen",
        "prince",
        "princess",
        "lady",
        "gentleman",
        "actress",
        "nun",
        "monk",
    }
    | {"father", "mother", "son", "daughter", "brother", "sister", "husband", "wife", "uncle", "aunt", "male", "female"}
)

_ARTICLES = frozenset({"a", "an", "the"})
_STAND_INS = frozenset(POSSESSIVES) | _ARTICLES | {"this", "that", "these", "those"}
"""What stands where an article and its noun, or the article alone, would."""

_VOWELS = frozenset("aeiou")
# The sound decides, not the letter: a university, a one-time star, a European; an hour, an heir, an uninvited guest.
_SOUNDS_VOWEL = ("hour", "honest", "honor", "honour", "heir", "unin", "unim", "unid", "utt")
_SOUNDS_CONSONANT = ("uni", "use", "usu", "usa", "ubi", "ut", "uk", "eu", "ew", "one", "once")
# Letters that are called by a vowel (an FBI agent), and what words begin with all the same (a film, a star, a fly).
_CALLED_BY_VOWEL = frozenset("fhlmnrsx")
_ONSETS = ("sc", "sh", "sk", "sl", "sm", "sn", "sp", "sq", "st", "sw", "fl", "fr", "rh", "my", "ny", "sy", "hy", "ly")


class _Token(NamedTuple):
    """A word of what the edits make: the position it comes from and, where it is new, its place in the phrase there."""

    form: str
    position: int
    place: int | None = None

    @property
    def new(self) -> bool:
        """Whether the edits bring it in."""
        return self.place is not None


def repair(words: Sequence[str], edits: Sequence[Edit], fixed: Collection[int] = ()) -> list[Edit]:
    """Return the edits with what follows from them; both start with the marker's position, ``fixed`` ones are kept.

    - "[Ira Hayes] he's name": an owner that became a pronoun takes its "'s" along: "his name".
    - "opposed to [Ira Hayes] he": after a preposition the pronoun is an object: "him".
    - "[the band] Was they": a form of be, have or do agrees with the pronoun beside it: "Were they".
    - "[a data engineer] he": someone of whom nothing is told is "they".
    - "an [Italian] restaurant": the article goes by the word it now stands before: "a restaurant".
    - "like in [Nairobi] in July", "the [Wall] it": of two words alike that an edit brought together one goes, and so
      does an article before a pronoun.
    - "[the song '] it'": a quotation mark whose partner is gone goes too.
    """
    repaired = list(edits)
    if not any(edit.op for edit in edits):
        return repaired
    for rule in (_drop_closing_quote, _stay_general, _own):
        rule(words, repaired, fixed)
    # These go by what the edits make of the words, which is laid out anew only where a rule has changed it.
    tokens = _tokens(words, repaired)
    for reading_rule in (_drop_double, _take_object_form, _agree, _choose_article):
        tokens = reading_rule(tokens, words, repaired, fixed)
    return repaired


def _drop_closing_quote(words: Sequence[str], edits: list[Edit], fixed: Collection[int]) -> None:
    for position in range(2, len(words)):
        if words[position] not in ("'", '"') or edits[position].op is not Op.KEEP:
            continue
        start = position
        while edits[start - 1].op in _GONE:
            start -= 1
        marks = [at for at in range(start, position) if words[at] == words[position] and not _is_inside(words, at)]
        if len(marks) % 2 and not _is_inside(words, position) and position not in fixed:
            _replace(edits, position, ())


def _stay_general(words: Sequence[str], edits: list[Edit], _fixed: Collection[int]) -> None:
    """Write the pronoun for "a data engineer" as they; "a king" tells, and the "A." of a name is no article."""
    for position in range(1, len(words) - 1):
        edit = edits[position]
        opens = words[position] in ("a", "an") and len(words[position + 1]) > 1 and edit.op is Op.SUBSTITUTE
        if not opens or not edit.phrase or edit.phrase[-1] not in _GENERAL:
            continue
        end = position + 1
        while end < len(words) and edits[end].op is Op.SUBSTITUTE:
            end += 1
        if _GENDERED.isdisjoint(words[position:end]) and all(map(is_word, words[position : position + 2])):
            edits[position] = Edit(Op.SUBSTITUTE, (*edit.phrase[:-1], _GENERAL[edit.phrase[-1]]))


def _drop_double(tokens: list[_Token], words: Sequence[str], edits: list[Edit], fixed: Collection[int]) -> list[_Token]:
    """Drop one of two words alike that were brought together, and an article before a word that stands for its own."""
    place = 0
    while place + 1 < len(tokens):
        first, second = tokens[place], tokens[place + 1]
        alike = first.form == second.form and is_word(first.form)
        bare = first.form in _ARTICLES and second.form in _STAND_INS and second.new
        if not (alike or bare):
            place += 1
            continue
        were_together = second.new == first.new and second.position - first.position <= (0 if first.new else 1)
        gone = second if alike and first.new else first
        if were_together or (not gone.new and gone.position in fixed):
            place += 1
            continue
        if gone.place is None:
            _replace(edits, gone.position, ())
        else:
            edit = edits[gone.position]
            edits[gone.position] = Edit(edit.op, (*edit.phrase[: gone.place], *edit.phrase[gone.place + 1 :]))
        tokens = _tokens(words, edits)
    return tokens


def _own(words: Sequence[str], edits: list[Edit], fixed: Collection[int]) -> None:
    """Turn a pronoun that was brought in before "'s" into its possessive; the plural's bare apostrophe counts too."""
    for position in range(1, len(words)):
        if not edits[position].phrase or edits[position].op is not Op.SUBSTITUTE:
            continue
        end = position + 1
        while end < len(words) and edits[end].op is Op.SUBSTITUTE:
            end += 1
        phrase, mark = edits[position].phrase, _read_possessive(words, edits, end)
        if phrase[-1] not in POSSESSIVES or not mark or any(at in fixed for at in mark):
            continue
        before_noun, alone = POSSESSIVES[phrase[-1]]
        after = next((token.form for token in _tokens(words, edits) if token.position > mark[-1]), "?")
        edits[position] = Edit(Op.SUBSTITUTE, (*phrase[:-1], before_noun if is_word(after) else alone))
        for at in mark:
            _replace(edits, at, ())


def _read_possessive(words: Sequence[str], edits: Sequence[Edit], at: int) -> range:
    """Return the kept positions from ``at`` on that make what stands before them an owner; none where it is not."""
    if at >= len(words) or words[at] not in APOSTROPHES or edits[at].op is not Op.KEEP:
        return range(0)
    if at + 1 < len(words) and words[at + 1] == "s" and edits[at + 1].op is Op.KEEP:
        return range(at, at + 2)
    # "the Stones' hit", but not "in 'Help'" nor "the Stones've".
    opened = sum(word in APOSTROPHES and not _is_inside(words, place) for place, word in enumerate(words[:at]))
    bare = words[at - 1].endswith("s") and not opened and at + 1 < len(words) and words[at + 1] not in SUFFIXES
    return range(at, at + 1) if bare else range(0)


def _take_object_form(
    tokens: list[_Token], words: Sequence[str], edits: list[Edit], fixed: Collection[int]
) -> list[_Token]:
    """Write a pronoun that was brought in after a preposition as its object."""
    wrong = [
        token
        for before, token in pairwise(tokens)
        if token.form in _OBJECTS and token.new and before.form in _PREPOSITIONS
    ]
    for token in wrong:
        _rewrite(edits, token, _OBJECTS[token.form], fixed)
    return _tokens(words, edits) if wrong else tokens


def _agree(tokens: list[_Token], words: Sequence[str], edits: list[Edit], fixed: Collection[int]) -> list[_Token]:
    """Make be, have and do agree with each pronoun that was brought in beside them."""
    for number in range(sum(len(edit.phrase) for edit in edits)):
        # A verb that is written anew may move into the pronoun's phrase: each pronoun is looked at afresh.
        pronouns = [place for place, token in enumerate(tokens) if token.form in _SUBJECTS and token.new]
        if number >= len(pronouns):
            break
        place = pronouns[number]
        verb = _find_verb_before(tokens, place) or _find_verb_after(tokens, place)
        if verb is not None:
            _rewrite(edits, *verb, fixed)
            tokens = _tokens(words, edits)
    return tokens


def _find_verb_before(tokens: Sequence[_Token], place: int) -> tuple[_Token, str] | None:
    """Return the verb before its subject that does not agree with it ("Was they"), and what it should be."""
    pronoun = tokens[place].form
    at, wrong = place - 1, _SUBJECTS[pronoun][0]
    if [token.form for token in tokens[max(place - 2, 0) : place]] == ["'", "t"]:
        at, wrong = place - 3, _SUBJECTS[pronoun][1]
    # "How are it and its sequel related?": two things are many.
    if at < 0 or tokens[at].form not in wrong or _form_at(tokens, place + 1) in _JOINS:
        return None
    # "Did they have it?": after have and do, it is the subject only where they come first.
    if pronoun == "it" and tokens[at].form in ("have", "do") and at > 0 and tokens[at - 1].form not in _LEADS:
        return None
    return tokens[at], wrong[tokens[at].form]


def _find_verb_after(tokens: Sequence[_Token], place: int) -> tuple[_Token, str] | None:
    """Return the form of be after its subject that does not agree with it ("if they was"), and what it should be."""
    pronoun, verb = tokens[place].form, _form_at(tokens, place + 1)
    # "songs on it were hits": it may be the object of what stands before. "if he were": a wish, not a plural.
    if pronoun == "it" or verb not in ("is", "was", "are") or (place and tokens[place - 1].form in _JOINS):
        return None
    right = _SUBJECTS[pronoun][0].get(verb)
    return None if right is None else (tokens[place + 1], right)


def _form_at(tokens: Sequence[_Token], place: int) -> str:
    return tokens[place].form if place < len(tokens) else ""


def _choose_article(
    tokens: list[_Token], words: Sequence[str], edits: list[Edit], fixed: Collection[int]
) -> list[_Token]:
    """Make a or an agree with the word that follows, where an edit brought the two together."""
    for place in range(len(tokens) - 1):
        article, after = tokens[place], tokens[place + 1]
        if article.form not in ("a", "an"):
            continue
        were_together = not article.new and not after.new and after.position == article.position + 1
        right = None if were_together else _find_article(after.form)
        if right is not None and right != article.form:
            _rewrite(edits, article, right, fixed)
            tokens = _tokens(words, edits)
    return tokens


def _find_article(form: str) -> str | None:
    """Return the article that ``form`` is spoken with; None where its letters don't tell (an FBI agent)."""
    digits = form[: len(form) - len(form.lstrip("0123456789"))]
    if digits:
        eleven = digits.startswith(("11", "18")) and len(digits) in (2, 4)
        return "an" if eleven or digits[0] == "8" else "a"
    if not (form.isalpha() and form.isascii()) or len(form) < 2:
        return None
    if form.startswith(_SOUNDS_VOWEL):
        return "an"
    if form.startswith(_SOUNDS_CONSONANT) or form == "us":
        return "a"
    if form[0] in _CALLED_BY_VOWEL and form[1] not in _VOWELS and not form.startswith(_ONSETS):
        return None
    return "an" if form[0] in _VOWELS else "a"


def _is_inside(words: Sequence[str], at: int) -> bool:
    """Return whether the apostrophe at ``at`` is part of a word: band's, don't."""
    return words[at] in APOSTROPHES and at + 1 < len(words) and words[at + 1] in SUFFIXES


def _tokens(words: Sequence[str], edits: Sequence[Edit]) -> list[_Token]:
    """Return what the edits make of ``words``, without the marker."""
    tokens = []
    for position, (word, edit) in enumerate(zip(words, edits, strict=True)):
        if position and edit.op not in _GONE:
            tokens.append(_Token(word, position))
        if edit.phrase:
            tokens += [_Token(form, position, place) for place, form in enumerate(edit.phrase)]
    return tokens


def _rewrite(edits: list[Edit], token: _Token, form: str, fixed: Collection[int]) -> None:
    """Write ``token`` as ``form``, be it a kept word or one of a phrase."""
    edit = edits[token.position]
    if token.place is not None:
        phrase = (*edit.phrase[: token.place], form, *edit.phrase[token.place + 1 :])
        edits[token.position] = Edit(edit.op, phrase)
    elif token.position not in fixed:
        _replace(edits, token.position, (form,))


def _replace(edits: list[Edit], at: int, said: tuple[str, ...]) -> None:
    """Say ``said`` in the place of a kept word; neighbouring SUBSTITUTEs become one run, their phrases in order."""
    said += edits[at].phrase
    edits[at] = Edit(Op.SUBSTITUTE, said)
    start = at
    while edits[start - 1].op is Op.SUBSTITUTE:
        start -= 1
    end = at + 1
    while end < len(edits) and edits[end].op is Op.SUBSTITUTE:
        end += 1
    phrase = tuple(form for edit in edits[start:end] for form in edit.phrase)
    if not phrase:
        edits[at] = DELETE
        return
    edits[start:end] = [Edit(Op.SUBSTITUTE, phrase), *[Edit(Op.SUBSTITUTE)] * (end - start - 1)]
