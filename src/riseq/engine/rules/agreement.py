"""Grammar that follows from an edit by rule, put right among the pass's edits so that words and text never part.

A rule acts only beside a word that the edits bring in or bring together, so what the user wrote is never corrected for
its own sake. Capitals and spaces are ``riseq.text.realise``'s.
"""

import re
from collections.abc import Collection, Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from riseq.core.edits import DELETE, GONE, Edit, Op, apply, find_run, find_runs, substitute_run
from riseq.text import lexicon
from riseq.text.lexicon import is_word

_TO_PLURAL = (lexicon.SINGULAR_TO_PLURAL, lexicon.SINGULAR_TO_PLURAL_NOT)
_TO_SINGULAR = tuple({many: one for one, many in verbs.items()} for verbs in _TO_PLURAL)
_WRONG_VERBS = {"they": _TO_PLURAL, **dict.fromkeys(("he", "she", "it"), _TO_SINGULAR)}
"""By subject: what each verb that does not agree with it should be, without and before "'t"."""
_BEFORE_VERB = lexicon.QUESTION_WORDS - {"whose"}
"""The question words that stand right before a verb."""
_SUBJECT_FORMS = {"them": "they", "him": "he"}

VERB_OF_ONE = re.compile(r"(?!always$|sometimes$|perhaps$)(\w{2,}?)(ies|(?<=[cs]h|ss|zz)es|(?<=[xo])es|(?<![sui])s)")
"""A verb after he, she or it: says, tries, watches."""

Pronouns = Sequence[tuple[Sequence[str], str]]
"""The words of each name, and its pronoun: he, she, they or it."""

_BEFORE_ACTING = frozenset({"also", "always", "ever", "never", "often", "really", "sometimes", "still"})
"""Adverbs between a subject and its verb, beside those in -ly."""
_LEADERS = frozenset({"the", "my", "our", "your"})
"""What the role of somebody, or an animal, is named after: "the president", "our cat"."""
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


class _Sentence:
    """Words, their edits, of which those at ``fixed`` positions stay, and what they make of the words."""

    def __init__(self, words: Sequence[str], edits: Sequence[Edit], fixed: Collection[int]) -> None:
        self.words, self.edits, self.fixed = words, list(edits), fixed

    @cached_property
    def tokens(self) -> list[_Token]:
        """What the edits make of the words, without the marker; laid out anew only after a change."""
        tokens = []
        for position, (word, edit) in enumerate(zip(self.words, self.edits, strict=True)):
            if position and edit.op not in GONE:
                tokens.append(_Token(word, position))
            tokens += [_Token(form, position, index) for index, form in enumerate(edit.phrase)]
        return tokens

    @property
    def substitutes(self) -> list[slice]:
        """The runs of SUBSTITUTEs that have a phrase."""
        runs = find_runs([edit.op for edit in self.edits], (Op.SUBSTITUTE,))
        return [run for run in runs if self.edits[run.start].phrase]

    def brings_any(self, forms: Collection[str] | None = None) -> bool:
        """Return whether the edits bring in any word, or any of ``forms``."""
        brought = (word for edit in self.edits if edit.phrase for word in edit.phrase)
        return any(forms is None or word in forms for word in brought)

    def is_kept(self, at: int) -> bool:
        """Return whether nothing happens at ``at``."""
        return self.edits[at].op is Op.KEEP

    def set_phrase(self, at: int, phrase: tuple[str, ...]) -> None:
        """Give the edit at ``at`` another phrase."""
        self.edits[at] = Edit(self.edits[at].op, phrase)
        self.__dict__.pop("tokens", None)

    def replace(self, at: int, *phrase: str) -> None:
        """Put ``phrase`` in the place of a kept word; neighbouring SUBSTITUTEs become one run, phrases in order."""
        self.edits[at] = Edit(Op.SUBSTITUTE, phrase + self.edits[at].phrase)
        run = find_run([edit.op for edit in self.edits], at, (Op.SUBSTITUTE,))
        if any(edit.phrase for edit in self.edits[run]):
            substitute_run(self.edits, run)
        else:
            self.edits[at] = DELETE
        self.__dict__.pop("tokens", None)

    def rewrite(self, token: _Token, *forms: str) -> None:
        """Write ``token``, be it a kept word or one of a phrase, as ``forms``."""
        if token.in_phrase is not None:
            phrase = self.edits[token.position].phrase
            self.set_phrase(token.position, (*phrase[: token.in_phrase], *forms, *phrase[token.in_phrase + 1 :]))
        elif token.position not in self.fixed:
            self.replace(token.position, *forms)


def use_pronouns(words: Sequence[str], edits: Sequence[Edit], pronouns: Pronouns) -> list[Edit]:
    """Return the edits with the pronoun of each name, or of a part of it, that one replaces, in the same role."""
    changed = list(edits)
    for run in find_runs([edit.op for edit in edits], (Op.SUBSTITUTE,)) if pronouns else ():
        gone, phrase = set(filter(lexicon.is_content, words[run])), edits[run.start].phrase
        asked = [lexicon.PERSONAL_PRONOUNS[pronoun] for name, pronoun in pronouns if gone and gone <= set(name)]
        found = [index for index, form in enumerate(phrase) if form in lexicon.PERSONAL_FORMS]
        if asked and found:
            role, form = _find_role(words, edits, run, phrase[found[0] + 1 :]), phrase[found[0]]
            if role == 0 and form not in lexicon.PERSONAL_PRONOUNS:
                role = 2 if form in ("his", "their", "its") else 1
            changed[run.start] = Edit(Op.SUBSTITUTE, (*phrase[: found[0]], asked[0][role], *phrase[found[0] + 1 :]))
    return changed


def correct_gender(words: Sequence[str], edits: Sequence[Edit]) -> list[Edit]:
    """Return the edits with she where one replaced a name such as Katalin by he, and the other way round."""
    names = [
        (tuple(words[run]), certain.subject)
        for run in find_runs([edit.op for edit in edits], (Op.SUBSTITUTE,))
        if (certain := lexicon.CERTAIN_NAMES.get(words[run.start])) is not None
        and any(form in lexicon.GENERAL_PRONOUNS and form not in certain for form in edits[run.start].phrase)
    ]
    return use_pronouns(words, edits, names)


def _find_role(words: Sequence[str], edits: Sequence[Edit], run: slice, rest: Sequence[str]) -> int:
    """Return whether the name was a subject, an object, or an owner, before a noun or alone."""
    before = next((words[at] for at in range(run.start - 1, 0, -1) if edits[at].op not in GONE), "")
    kept = [words[at] for at in range(run.stop, len(words)) if edits[at].op not in GONE]
    ends = (*rest, *kept, "?")[0] in lexicon.AFTER_OBJECT
    if not lexicon.APOSTROPHES.isdisjoint(words[run]):
        return 3 if ends else 2
    return int(before in lexicon.OBJECT_PREPOSITIONS or (ends and before not in lexicon.AUXILIARIES and before != ""))


def fix_agreement(
    words: Sequence[str],
    edits: Sequence[Edit],
    fixed: Collection[int] = (),
    gender_known: bool = True,
    names: Sequence[bool] = (),
    of_trade: bool = False,
) -> list[Edit]:
    """Return the edits with what follows from them; both start with the marker's position, ``fixed`` ones are kept.

    ``gender_known`` says whether the dialogue called anybody he or she, ``names`` which words are written as names
    are, ``of_trade`` whether the dialogue is about shops and firms, of which many have a person's name.

    - "[Ira Hayes] he's name": an owner that became a pronoun takes its "'s" along: "his name".
    - "opposed to [Ira Hayes] he": after a preposition the pronoun is an object: "him".
    - "[the band] Was they": a form of be, have or do agrees with the pronoun beside it: "Were they".
    - "[a data engineer] he", "[Charlie] he", "[Elif Shafak] he", "[the president] he": someone of whom nothing else is
      known is "they".
    - "an [Italian] restaurant": the article goes by the word it now stands before: "a restaurant".
    - "like in [Nairobi] in July", "the [Wall] it": of two words alike that an edit brought together one goes, and so
      does an article before a pronoun.
    - "[the song '] it'": a quotation mark whose partner is gone goes too.
    """
    sentence = _Sentence(words, edits, fixed)
    if any(edit.op for edit in edits):
        # Each rule is asked only where there is something for it: most edits need none of them.
        if "'" in words or '"' in words:
            _drop_closing_quote(sentence)
        if sentence.brings_any():
            _stay_general(sentence, gender_known, names, of_trade)
            _own(sentence)
        made = apply(words, sentence.edits)
        if any(first == second or first in lexicon.ARTICLES for first, second in pairwise(made)):
            _drop_double(sentence)
        if sentence.brings_any(lexicon.OBJECT_FORMS):
            _take_object_form(sentence)
        if sentence.brings_any(_SUBJECT_FORMS):
            _take_subject_form(sentence)
        if sentence.brings_any(_WRONG_VERBS):
            _agree(sentence)
        if "a" in made or "an" in made:
            _choose_article(sentence)
    return sentence.edits


def _drop_closing_quote(sentence: _Sentence) -> None:
    words = sentence.words
    for position in range(2, len(words)):
        if words[position] not in ("'", '"') or not sentence.is_kept(position) or position in sentence.fixed:
            continue
        gone = find_run([edit.op for edit in sentence.edits], position - 1, GONE)
        marks = [at for at in range(gone.start, gone.stop) if words[at] == words[position]]
        if sum(not _is_inside(words, at) for at in marks) % 2 and not _is_inside(words, position):
            sentence.replace(position)


def _stay_general(sentence: _Sentence, gender_known: bool, names: Sequence[bool], of_trade: bool) -> None:
    """Write the pronoun for "a data engineer" as they; "a king" tells, and the "A." of a name is no article."""
    for run in sentence.substitutes:
        phrase, (first, *gone) = sentence.edits[run.start].phrase, sentence.words[run]
        noun = "".join(sentence.words[run.start + 1 : run.start + 2])
        general = lexicon.GENERAL_PRONOUNS.get(phrase[-1])
        role = first in ("a", "an") and lexicon.SEXED_NOUNS.isdisjoint(gone) and len(noun) > 1 and is_word(noun)
        sure = first in lexicon.CERTAIN_NAMES and not of_trade
        named = first in lexicon.UNISEX_NAMES or (any(names[run]) and names[run.start])
        role_of_one = first in _LEADERS and lexicon.CERTAIN_NAMES.keys().isdisjoint(gone)
        unsure = (
            not gender_known and (named or role_of_one) and not sure and lexicon.SEXED_NOUNS.isdisjoint((first, *gone))
        )
        if phrase[-1:] == ("her",) and _find_role(sentence.words, sentence.edits, run, ()) == 1:
            general = lexicon.THEY.object
        if general is not None and (role or unsure):
            sentence.set_phrase(run.start, (*phrase[:-1], general))


def _drop_double(sentence: _Sentence) -> None:
    """Drop one of two words alike that were brought together, and an article before a word that stands for its own."""
    index = 0
    while index + 1 < len(sentence.tokens):
        first, second = sentence.tokens[index : index + 2]
        alike = first.form == second.form and is_word(first.form)
        bare = first.form in lexicon.ARTICLES and second.form in lexicon.STAND_INS and second.new
        were_together = second.new == first.new and second.position - first.position <= (0 if first.new else 1)
        gone = second if alike and first.new else first
        if not (alike or bare) or were_together or (not gone.new and gone.position in sentence.fixed):
            index += 1
        else:
            sentence.rewrite(gone)


def _own(sentence: _Sentence) -> None:
    """Turn a pronoun that was brought in before "'s" into its possessive; the plural's bare apostrophe counts too."""
    for run in sentence.substitutes:
        phrase, mark = sentence.edits[run.start].phrase, _read_possessive(sentence, run.stop)
        # The run before may have taken this one's phrase along with its mark.
        if not phrase or phrase[-1] not in lexicon.POSSESSIVES or not mark or any(at in sentence.fixed for at in mark):
            continue
        before_noun, alone = lexicon.POSSESSIVES[phrase[-1]]
        after = next((token.form for token in sentence.tokens if token.position > mark[-1]), "?")
        sentence.set_phrase(run.start, (*phrase[:-1], before_noun if is_word(after) else alone))
        for at in mark:
            sentence.replace(at)


def _read_possessive(sentence: _Sentence, at: int) -> range:
    """Return the kept positions from ``at`` on that make what stands before them an owner; none where it is not."""
    words = sentence.words
    if at >= len(words) or words[at] not in lexicon.APOSTROPHES or not sentence.is_kept(at):
        return range(0)
    after = "".join(words[at + 1 : at + 2])
    if after == "s" and sentence.is_kept(at + 1):
        return range(at, at + 2)
    # "the Stones' hit", but not "in 'Help'" nor "the Stones've".
    opened = sum(word in lexicon.APOSTROPHES and not _is_inside(words, index) for index, word in enumerate(words[:at]))
    bare = words[at - 1].endswith("s") and not opened and after and after not in lexicon.SUFFIXES
    return range(at, at + 1) if bare else range(0)


def _take_object_form(sentence: _Sentence) -> None:
    """Write a pronoun that was brought in after a preposition, or the verb that begins a request, as its object."""
    for index, (before, token) in enumerate(pairwise(sentence.tokens)):
        request = (
            index == 0 and lexicon.is_content(before.form) and _form_at(sentence.tokens, 2) in lexicon.AFTER_OBJECT
        )
        objected = request or before.form in lexicon.OBJECT_PREPOSITIONS
        if token.form in lexicon.OBJECT_FORMS and token.new and objected:
            sentence.rewrite(token, lexicon.OBJECT_FORMS[token.form])


def _take_subject_form(sentence: _Sentence) -> None:
    """Write "them" and "him" as subjects between what begins a clause and its verb: "what [the prints: them] were"."""
    tokens = sentence.tokens
    for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        clause = before.form in lexicon.SUBORDINATORS | _BEFORE_VERB and after.form in lexicon.AUXILIARIES
        if token.form in _SUBJECT_FORMS and token.new and clause:
            sentence.rewrite(token, _SUBJECT_FORMS[token.form])


def _agree(sentence: _Sentence) -> None:
    """Make be, have and do agree with each pronoun that was brought in beside them."""
    for number in range(sum(len(edit.phrase) for edit in sentence.edits)):
        # A verb that is written anew may move into the pronoun's phrase: each pronoun is looked at afresh.
        tokens = sentence.tokens
        pronouns = [index for index, token in enumerate(tokens) if token.form in _WRONG_VERBS and token.new]
        if number >= len(pronouns):
            break
        verb = _find_verb_before(tokens, pronouns[number]) or _find_verb_after(tokens, pronouns[number])
        if verb is not None:
            sentence.rewrite(*verb)


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
    """Return the verb after its subject that does not agree with it ("if they was"), and what it should be."""
    pronoun, verb = tokens[index].form, _form_at(tokens, index + 1)
    asked = index > 0 and tokens[index - 1].form in lexicon.AUXILIARIES
    acts = index + 1 + (verb in _BEFORE_ACTING or verb.endswith("ly"))  # "how long they usually sing"
    act = _form_at(tokens, acts)
    if pronoun == "they" and not asked and lexicon.is_content(act) and (found := VERB_OF_ONE.fullmatch(act)):
        return tokens[acts], found[1] + "y" * (found[2] == "ies")
    negated = _WRONG_VERBS[pronoun][1]
    if pronoun != "it" and not asked and verb in negated and _form_at(tokens, index + 2) in lexicon.APOSTROPHES:
        return tokens[index + 1], negated[verb]
    # "songs on it were hits": it may be the object of what stands before. "if he were": a wish, not a plural.
    joined = index > 0 and tokens[index - 1].form in lexicon.CONJUNCTIONS
    if pronoun == "it" or verb not in ("is", "was", "are") or joined:
        return None
    right = _WRONG_VERBS[pronoun][0].get(verb)
    return None if right is None else (tokens[index + 1], right)


def _form_at(tokens: Sequence[_Token], index: int) -> str:
    return tokens[index].form if index < len(tokens) else ""


def _choose_article(sentence: _Sentence) -> None:
    """Make a or an agree with the word that follows, where an edit brought the two together."""
    for index in range(len(sentence.tokens) - 1):
        article, after = sentence.tokens[index : index + 2]
        were_together = not article.new and not after.new and after.position == article.position + 1
        right = _find_article(after.form) if article.form in ("a", "an") and not were_together else None
        if right is not None and right != article.form:
            sentence.rewrite(article, right)


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
