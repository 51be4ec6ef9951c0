"""The training pairs of a run, and more made from them: without answers, and with entities of another kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from riseq.core.edits import MARKER, Op
from riseq.core.levenshtein import gold_edits
from riseq.text.lexicon import AFTER_OBJECT, HE, IT, SHE, VAGUE_WORDS
from riseq.text.words import forms
from riseq.types import Example

_PRONOUNS = {"man": HE, "woman": SHE, "thing": IT}
"""What each kind of thing is called again, by role."""
_KIND_OF = {form: kind for kind, forms_of_kind in _PRONOUNS.items() for form in forms_of_kind}


def drop_answers(examples: Sequence[Example], share: float, rng: np.random.Generator) -> list[Example]:
    """Return a ``share`` of the examples, whose odd utterances are answers, again without those."""
    chosen = np.flatnonzero(rng.random(len(examples)) < share).tolist()
    return [replace(e, id=f"{e.id}/questions", context=e.context[::2]) for e in (examples[k] for k in chosen)]


def borrow_answers(
    examples: Sequence[Example], answers: Sequence[str], share: float, rng: np.random.Generator
) -> list[Example]:
    """Return a ``share`` of question-only examples again, an answer from elsewhere after each question.

    CANARD's training answers could not be had; a borrowed one teaches that an answer stands there and seldom matters.
    """
    if not answers:
        return []
    made = []
    for example in examples:
        if rng.random() < share:
            drawn = [answers[k] for k in rng.integers(len(answers), size=len(example.context))]
            context = tuple(text for pair in zip(example.context, drawn, strict=True) for text in pair)
            made.append(replace(example, id=f"{example.id}/answers", context=context))
    return made


@dataclass(frozen=True, slots=True)
class Mention:
    """An entity that a target calls again by a pronoun: its words, and its kind."""

    words: tuple[str, ...]
    kind: str


def find_mention(example: Example) -> Mention | None:
    """Return the entity of an example whose only pronoun edit replaces its name, or None."""
    assert example.target is not None
    source = [MARKER, *forms(example.question)]
    edits = gold_edits(source, [MARKER, *forms(example.target)])
    found: list[Mention] = []
    for op, run in groupby(range(len(edits)), key=lambda k: edits[k].op):
        if op is Op.SUBSTITUTE:
            replaced = list(run)
            words = tuple(source[k] for k in replaced)
            if words[-2:] == ("'", "s"):
                words = words[:-2]
            phrase = edits[replaced[0]].phrase
            if len(phrase) == 1 and phrase[0] in _KIND_OF and words and not set(words) <= VAGUE_WORDS:
                found.append(Mention(words, _KIND_OF[phrase[0]]))
    kinds = {(m.words, m.kind) for m in found}
    return found[0] if len(kinds) == 1 and all(w.isalpha() for w in found[0].words) else None


def swap_entities(examples: Sequence[Example], share: float, rng: np.random.Generator) -> list[Example]:
    """Return new pairs, ``share`` times the examples, in which an entity gave way to one of another kind.

    CANARD is mostly biographies, so a network learns "he" as a habit; here the pronoun follows the thing. Names and
    pronouns change together in context, question and target, and the new entities are ones that other pairs call "he",
    "she" or "it". Only singular kinds are exchanged: the verbs around them stay right.
    """
    if not share:
        return []
    mentions = [(example, mention) for example in examples if (mention := find_mention(example)) is not None]
    by_kind: dict[str, list[tuple[str, ...]]] = {
        kind: sorted({m.words for _, m in mentions if m.kind == kind and len(m.words) <= 4}) for kind in _PRONOUNS
    }
    if not mentions or not all(by_kind.values()):
        return []
    made = []
    for _ in range(int(share * len(examples))):
        example, mention = mentions[rng.integers(len(mentions))]
        others = [kind for kind in _PRONOUNS if kind != mention.kind]
        # Things are what the biographies lack.
        kind = "thing" if "thing" in others and rng.random() < 0.7 else others[rng.integers(len(others))]
        names = by_kind[kind]
        made.append(swap_mention(example, mention, Mention(names[rng.integers(len(names))], kind)))
    return [example for example in made if example is not None]


def swap_mention(example: Example, old: Mention, new: Mention) -> Example | None:
    """Return the example with ``new`` in the place of ``old`` and its pronouns, or None where the question has none."""
    assert example.target is not None
    question = _rewrite(forms(example.question), old, new)
    target = _rewrite(forms(example.target), old, new)
    context = tuple(" ".join(_rewrite(forms(utterance), old, new)) for utterance in example.context)
    if question == forms(example.question):
        return None
    return Example(f"{example.id}/{new.kind}", context, " ".join(question), " ".join(target))


def _rewrite(words: list[str], old: Mention, new: Mention) -> list[str]:
    parts = set(old.words) - VAGUE_WORDS
    output: list[str] = []
    at = 0
    while at < len(words):
        length = 1
        if tuple(words[at : at + len(old.words)]) == old.words:
            output.extend(new.words)
            length = len(old.words)
        elif words[at] in parts:  # a surname alone is the entity too
            output.extend(new.words)
            while at + length < len(words) and words[at + length] in parts:
                length += 1
        elif _KIND_OF.get(words[at]) == old.kind:
            output.append(_pronoun(words, at, old.kind, new.kind))
        else:
            output.append(words[at])
        at += length
    return output


def _pronoun(words: list[str], at: int, old: str, new: str) -> str:
    role = _PRONOUNS[old].index(words[at])
    is_object = at + 1 == len(words) or words[at + 1] in AFTER_OBJECT
    if words[at] == "her":  # object or possessor: the word after it decides
        role = 1 if is_object else 2
    elif words[at] == "it":  # subject or object: one follows a verb or a preposition, which a list can only guess
        role = 1 if is_object else 0
    return _PRONOUNS[new][role]
