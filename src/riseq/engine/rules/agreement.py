"""Grammar that follows from an edit by rule, put right among the pass's edits so that words and text never part.

A rule acts only beside a word that the edits bring in or bring together, so what the user wrote is never corrected for
its own sake. Capitals and spaces are ``riseq.text.realise``'s.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import NamedTuple

from riseq.core.edits import DELETE, GONE, Edit, Op, find_run, find_runs, substitute_run
from riseq.text import lexicon
from riseq.text.lexicon import is_word

_TO_PLURAL = (lexicon.SINGULAR_TO_PLURAL, lexicon.SINGULAR_TO_PLURAL_NOT)
_TO_SINGULAR = tuple({many: one for one, many in verbs.items()} for verbs in _TO_PLURAL)
_WRONG_VERBS = {"they": _TO_PLURAL, **dict.fromkeys(("he", "she", "it"), _TO_SINGULAR)}
"""By subject: what each verb that does not agree with it should be, without and before "'t"."""
_BEFORE_VERB = lexicon.QUESTION_WORDS - {"whose"}
"""The question words that stand right before a verb."""

_VOWELS = frozenset("aeiou")
# The sound decides, not the letter: a university, a one-time star, a European; an hour, an heir, an uninvited guest.
_SOUNDS_VOWEL = ("hour", "honest", "honor", "honour", "heir", "unin", "unim", "unid", "utt")
_SOUNDS_CONSONANT = ("uni", "use", "usu", "usa", "ubi", "ut", "uk", "eu", "ew", "one", "once")
# Letters that are called by a vowel (an FBI agent), and what words begin with all the same (a film, a star, a fly).
_CALLED_BY_VOWEL = frozenset("fhlmnrsx")
_ONSETS = ("sc", "sh", "sk", "sl", "sm", "sn", "sp", "sq", "st", "sw", "fl", "fr", "rh", "my", "ny", "sy", "hy", "ly")


class _Token(NamedTuple):
    """A word of what the edits make: the position it comes from and, where it is new, its index in the phrase there."""

    form: str
    position: int
    in_phrase: int | None = None

    @property
    def new(self) -> bool:
        """Whether the edits bring it in."""
        return self.in_phrase is not None


def fix_agreement(words: Sequence[str], edits: Sequence[Edit], fixed: Collection[int] = ()) -> list[Edit]:
    """Return the edits with what follows from them; both start with the marker's position, ``fixed`` ones are kept.

    - "[Ira Hayes] he's name": an owner that became a pronoun takes its "'s" along: "his name".
    - "opposed to [Ira Hayes] he": after a preposition the pronoun is an object: "him".
    - "[the band] Was they": a form of be, have or do agrees with the pronoun beside it: "Were they".
    - "[a data engineer] he": someone of whom nothing else is known is "they".
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
        gone = find_run([edit.op for edit in edits], position - 1, GONE)
        marks = [at for at in range(gone.start, gone.stop) if words[at] == words[position]]
        marks = [at for at in marks if not _is_inside(words, at)]
        if len(marks) % 2 and not _is_inside(words, position) and position not in fixed:
            _replace(edits, position, ())


def _stay_general(words: Sequence[str], edits: list[Edit], _fixed: Collection[int]) -> None:
    """Write the pronoun for "a data engineer" as they; "a king" tells, and the "A." of a name is no article."""
    for run in _find_substitutes(edits):
        phrase, article, noun = edits[run.start].phrase, words[run.start], words[run.start + 1 : run.start + 2]
        general = lexicon.GENERAL_PRONOUNS.get(phrase[-1])
        if article not in ("a", "an") or general is None or not lexicon.SEXED_NOUNS.isdisjoint(words[run]):
            continue
        if noun and len(noun[0]) > 1 and is_word(noun[0]):
            edits[run.start] = Edit(Op.SUBSTITUTE, (*phrase[:-1], general))


def _drop_double(tokens: list[_Token], words: Sequence[str], edits: list[Edit], fixed: Collection[int]) -> list[_Token]:
    """Drop one of two words alike that were brought together, and an article before a word that stands for its own."""
    index = 0
    while index + 1 < len(tokens):
        first, second = tokens[index], tokens[index + 1]
        alike = first.form == second.form and is_word(first.form)
        bare = first.form in lexicon.ARTICLES and second.form in lexicon.STAND_INS and second.new
        if not (alike or bare):
            index += 1
            continue
        were_together = second.new == first.new and second.position - first.position <= (0 if first.new else 1)
        gone = second if alike and first.new else first
        if were_together or (not gone.new and gone.position in fixed):
            index += 1
            continue
        if gone.in_phrase is None:
            _replace(edits, gone.position, ())
        else:
            edit = edits[gone.position]
            edits[gone.position] = Edit(edit.op, (*edit.phrase[: gone.in_phrase], *edit.phrase[gone.in_phrase + 1 :]))
        tokens = _tokens(words, edits)
    return tokens


def _own(words: Sequence[str], edits: list[Edit], fixed: Collection[int]) -> None:
    """Turn a pronoun that was brought in before "'s" into its possessive; the plural's bare apostrophe counts too."""
    for run in _find_substitutes(edits):
        phrase, mark = edits[run.start].phrase, _read_possessive(words, edits, run.stop)
        # The run before may have taken this one's phrase along with its mark.
        if not phrase or phrase[-1] not in lexicon.POSSESSIVES or not mark or any(at in fixed for at in mark):
            continue
        before_noun, alone = lexicon.POSSESSIVES[phrase[-1]]
        after = next((token.form for token in _tokens(words, edits) if token.position > mark[-1]), "?")
        edits[run.start] = Edit(Op.SUBSTITUTE, (*phrase[:-1], before_noun if is_word(after) else alone))
        for at in mark:
            _replace(edits, at, ())


def _read_possessive(words: Sequence[str], edits: Sequence[Edit], at: int) -> range:
    """Return the kept positions from ``at`` on that make what stands before them an owner; none where it is not."""
    if at >= len(words) or words[at] not in lexicon.APOSTROPHES or edits[at].op is not Op.KEEP:
        return range(0)
    if at + 1 < len(words) and words[at + 1] == "s" and edits[at + 1].op is Op.KEEP:
        return range(at, at + 2)
    # "the Stones' hit", but not "in 'Help'" nor "the Stones've".
    opened = sum(word in lexicon.APOSTROPHES and not _is_inside(words, index) for index, word in enumerate(words[:at]))
    bare = words[at - 1].endswith("s") and not opened and at + 1 < len(words) and words[at + 1] not in lexicon.SUFFIXES
    return range(at, at + 1) if bare else range(0)


def _take_object_form(
    tokens: list[_Token], words: Sequence[str], edits: list[Edit], fixed: Collection[int]
) -> list[_Token]:
    """Write a pronoun that was brought in after a preposition as its object."""
    wrong = [
        token
        for before, token in pairwise(tokens)
        if token.form in lexicon.OBJECT_FORMS and token.new and before.form in lexicon.OBJECT_PREPOSITIONS
    ]
    for token in wrong:
        _rewrite(edits, token, lexicon.OBJECT_FORMS[token.form], fixed)
    return _tokens(words, edits) if wrong else tokens


def _agree(tokens: list[_Token], words: Sequence[str], edits: list[Edit], fixed: Collection[int]) -> list[_Token]:
    """Make be, have and do agree with each pronoun that was brought in beside them."""
    for number in range(sum(len(edit.phrase) for edit in edits)):
        # A verb that is written anew may move into the pronoun's phrase: each pronoun is looked at afresh.
        pronouns = [index for index, token in enumerate(tokens) if token.form in _WRONG_VERBS and token.new]
        if number >= len(pronouns):
            break
        index = pronouns[number]
        verb = _find_verb_before(tokens, index) or _find_verb_after(tokens, index)
        if verb is not None:
            _rewrite(edits, *verb, fixed)
            tokens = _tokens(words, edits)
    return tokens


def _find_verb_before(tokens: Sequence[_Token], index: int) -> tuple[_Token, str] | None:
    """Return the verb before its subject that does not agree with it ("Was they"), and what it should be."""
    pronoun = tokens[index].form
    at, wrong = index - 1, _WRONG_VERBS[pronoun][0]
    if [token.form for token in tokens[max(index - 2, 0) : index]] == ["'", "t"]:
        at, wrong = index - 3, _WRONG_VERBS[pronoun][1]
    # "How are it and its sequel related?": two things are many.
    if at < 0 or tokens[at].form not in wrong or _form_at(tokens, index + 1) in lexicon.CONJUNCTIONS:
        return None
    # "Did they have it?": after have and do, it is the subject only where they come first.
    if pronoun == "it" and tokens[at].form in ("have", "do") and at > 0 and tokens[at - 1].form not in _BEFORE_VERB:
        return None
    return tokens[at], wrong[tokens[at].form]


def _find_verb_after(tokens: Sequence[_Token], index: int) -> tuple[_Token, str] | None:
    """Return the form of be after its subject that does not agree with it ("if they was"), and what it should be."""
    pronoun, verb = tokens[index].form, _form_at(tokens, index + 1)
    # "songs on it were hits": it may be the object of what stands before. "if he were": a wish, not a plural.
    joined = index > 0 and tokens[index - 1].form in lexicon.CONJUNCTIONS
    if pronoun == "it" or verb not in ("is", "was", "are") or joined:
        return None
    right = _WRONG_VERBS[pronoun][0].get(verb)
    return None if right is None else (tokens[index + 1], right)


def _form_at(tokens: Sequence[_Token], index: int) -> str:
    return tokens[index].form if index < len(tokens) else ""


def _choose_article(
    tokens: list[_Token], words: Sequence[str], edits: list[Edit], fixed: Collection[int]
) -> list[_Token]:
    """Make a or an agree with the word that follows, where an edit brought the two together."""
    for index in range(len(tokens) - 1):
        article, after = tokens[index], tokens[index + 1]
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
    return words[at] in lexicon.APOSTROPHES and at + 1 < len(words) and words[at + 1] in lexicon.SUFFIXES


def _tokens(words: Sequence[str], edits: Sequence[Edit]) -> list[_Token]:
    """Return what the edits make of ``words``, without the marker."""
    tokens = []
    for position, (word, edit) in enumerate(zip(words, edits, strict=True)):
        if position and edit.op not in GONE:
            tokens.append(_Token(word, position))
        if edit.phrase:
            tokens += [_Token(form, position, index) for index, form in enumerate(edit.phrase)]
    return tokens


def _rewrite(edits: list[Edit], token: _Token, form: str, fixed: Collection[int]) -> None:
    """Write ``token`` as ``form``, be it a kept word or one of a phrase."""
    edit = edits[token.position]
    if token.in_phrase is not None:
        phrase = (*edit.phrase[: token.in_phrase], form, *edit.phrase[token.in_phrase + 1 :])
        edits[token.position] = Edit(edit.op, phrase)
    elif token.position not in fixed:
        _replace(edits, token.position, (form,))


def _find_substitutes(edits: Sequence[Edit]) -> list[slice]:
    """Return the runs of SUBSTITUTEs that have a phrase."""
    return [run for run in find_runs([edit.op for edit in edits], (Op.SUBSTITUTE,)) if edits[run.start].phrase]


def _replace(edits: list[Edit], at: int, phrase: tuple[str, ...]) -> None:
    """Put ``phrase`` in the place of a kept word; neighbouring SUBSTITUTEs become one run, their phrases in order."""
    edits[at] = Edit(Op.SUBSTITUTE, phrase + edits[at].phrase)
    run = find_run([edit.op for edit in edits], at, (Op.SUBSTITUTE,))
    if any(edit.phrase for edit in edits[run]):
        substitute_run(edits, run)
    else:
        edits[at] = DELETE
