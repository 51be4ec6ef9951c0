"""The pairs that are learnt from, each with what RISE's network is told of the words that may go.

A network that only sees pairs learns that new words may go, for in half of CANARD's the target leaves out content words
that its context lacks. So every pair comes with the truth of it (are all words that go said in the dialogue?), once
without being told; and dialogues are mixed so that a question may stay as it is. All pairs are made as they are read;
where the direction is to resolve, they are turned round at the end.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, compress, groupby, islice, takewhile
from pathlib import Path

import numpy as np

from riseq.core.edits import MARKER, Op
from riseq.core.levenshtein import gold_edits
from riseq.data.corpora import read_everyday, read_small_talk
from riseq.data.dataset import complete_pair, is_complete, load_dataset, locate_dataset, reverse_pair
from riseq.model.inputs import Condition
from riseq.text.lexicon import AFTER_OBJECT, HE, IT, SHE, VAGUE_WORDS
from riseq.text.words import find_stems, forms
from riseq.train.corpus import load_pairs
from riseq.train.settings import RiseSettings, TrainSettings
from riseq.types import Example

Pair = tuple[Example, Condition]
UNTOLD = 0.25
"""The share of the pairs of ``with_truth`` that are also used without their truth."""
BARE = 0.15
"""The share of everyday dialogues that come without their answers, where the questions alone say what goes."""
AFTER = 0.2
"""The share of foreign dialogues that come after a pair's own: there the question keeps its name."""
WHOLE = 0.7
"""The share of first turns that are self-contained; the others refer to what nobody said."""
OPENING = 0.15
"""The share of small talk that opens a dialogue."""
_PRONOUNS = {"man": HE, "woman": SHE, "thing": IT}
"""What each kind of thing is called again, by role."""
_KIND_OF = {form: kind for kind, forms_of_kind in _PRONOUNS.items() for form in forms_of_kind}


def gather_pairs(settings: TrainSettings, rng: np.random.Generator) -> tuple[list[Pair], list[Example]]:
    """Return the training pairs with what is made from them, and the pairs as they came."""
    plain, answered = list[Example](), list[Example]()
    for name, found in load_pairs(settings):
        (answered if ".qa" in Path(name).name else plain).extend(found)
    examples = plain + answered
    read = (one for name in settings.everyday for one in read_everyday(locate_dataset(name)))
    forms_of = (islice(group, settings.everyday_forms) for _, group in groupby(read, key=lambda pair: pair.id))
    everyday = list(islice(chain.from_iterable(forms_of), settings.limit))
    answers = [utterance for e in answered for utterance in e.context[1::2]]
    every = [
        *examples,
        *drop_answers(answered, settings.drop_answers, rng),
        *borrow_answers(plain, answers, settings.borrow_answers, rng),
        *swap_entities(examples, settings.swap, rng),
    ]
    pairs = [(e, Condition.UNKNOWN) for e in every]
    truths: list[Example] = []
    if isinstance(settings, RiseSettings) and settings.grounded:
        truths = [e for name in settings.with_truth for e in load_dataset(name)[: settings.limit] if e.context]
        pairs += [(e, find_condition(e)) for e in every + truths]
        pairs += [(e, Condition.UNKNOWN) for e in truths if rng.random() < UNTOLD]
    pairs += mix_unrelated(examples + truths, settings.unrelated, rng)
    pairs += mix_foreign([*examples, *truths, *everyday], settings.foreign, rng)
    resolves = settings.direction == "resolve"
    for copy in range(settings.everyday_copies):
        chosen = [make_bare(e, rng) for e in everyday] if resolves else choose_forms(everyday, copy, rng)
        pairs += [(e, Condition.GROUNDED) for e in chosen]
    pairs += mix_unchanged(settings, [*examples, *truths, *everyday], rng)
    came = examples + everyday
    if resolves:
        return [(reverse_pair(e), condition) for e, condition in pairs], [reverse_pair(e) for e in came]
    return pairs, came


def find_condition(example: Example) -> Condition:
    """Return whether every content word that the target leaves out was said in the dialogue."""
    lost = find_stems([example.question]) - find_stems([example.target or ""])
    return Condition.GROUNDED if lost <= find_stems(example.context) else Condition.UNGROUNDED


def choose_forms(pairs: Sequence[Example], copy: int, rng: np.random.Generator) -> list[Example]:
    """Return one form of each question: the best in every other copy, the others in turn in the rest."""
    chosen = []
    for _, group in groupby(pairs, key=lambda pair: pair.id):
        said = list(group)
        form = said[0] if copy % 2 == 0 else said[(copy // 2 + 1) % len(said)]
        chosen.append(make_bare(form, rng))
    return chosen


def make_bare(form: Example, rng: np.random.Generator) -> Example:
    """Return an everyday pair, now and then without its dialogue's answers where the questions alone say what goes."""
    bare = replace(form, context=form.context[::2])
    return bare if rng.random() < BARE and find_condition(bare) is Condition.GROUNDED else form


def mix_unchanged(settings: TrainSettings, pairs: Sequence[Example], rng: np.random.Generator) -> list[Pair]:
    """Return what stays as it is: complete questions in their dialogues, first turns, and small talk."""
    made: list[Example] = []
    whole = [pair for pair in pairs if is_complete(pair)] if settings.complete else []
    for k in rng.integers(len(whole), size=int(settings.complete * len(pairs))) if whole else ():
        made.append(replace(complete_pair(whole[k]), id=f"{whole[k].id}/complete"))
    for k in rng.integers(len(pairs), size=int(settings.first_turns * len(pairs))):
        said = pairs[k].question if rng.random() < WHOLE else pairs[k].target or ""
        made.append(Example(f"{pairs[k].id}/first", (), said, said))
    talk = [text for name in settings.small_talk for text in read_small_talk(locate_dataset(name))]
    count = int(settings.small_talk_share * len(pairs)) if talk else 0
    order = [k for _ in range(-(-count // max(1, len(talk)))) for k in rng.permutation(len(talk))][:count]
    for number, (k, at) in enumerate(zip(order, rng.integers(len(pairs), size=count), strict=True)):
        context = () if rng.random() < OPENING else pairs[at].context
        made.append(Example(f"small-talk-{number}", context, talk[k], talk[k]))
    return [(example, Condition.GROUNDED) for example in made]


def mix_unrelated(pairs: Sequence[Example], share: float, rng: np.random.Generator) -> list[Pair]:
    """Return questions after dialogues with which they share no content word: they stay as they are."""
    made: list[Pair] = []
    for _ in range(int(share * len(pairs))):
        one, other = (pairs[int(k)] for k in rng.integers(len(pairs), size=2))
        if not find_stems([one.question]) & find_stems(other.context):
            example = Example(f"{one.id}/unrelated", other.context, one.question, one.question)
            made.append((example, Condition.GROUNDED))
    return made


def mix_foreign(pairs: Sequence[Example], share: float, rng: np.random.Generator) -> list[Pair]:
    """Return pairs with a foreign dialogue before theirs, where they still refer, or after it, where they stay."""
    made: list[Pair] = []
    for _ in range(int(share * len(pairs))):
        one, other = (pairs[int(k)] for k in rng.integers(len(pairs), size=2))
        if find_stems([one.question, *one.context]) & find_stems(other.context):
            continue
        turns = 2 if len(other.context) > 1 else 1
        foreign = other.context[:turns] if rng.random() < 0.5 else other.context[:4]
        if rng.random() >= AFTER:
            joined = replace(one, id=f"{one.id}/before", context=(*foreign, *one.context))
            made.append((joined, find_condition(joined)))
        elif find_condition(one) is Condition.GROUNDED:
            context = (*one.context[-4:], *foreign)
            made.append((Example(f"{one.id}/after", context, one.question, one.question), Condition.GROUNDED))
    return made


def drop_answers(examples: Sequence[Example], share: float, rng: np.random.Generator) -> list[Example]:
    """Return a ``share`` of the examples, whose odd utterances are answers, again without those."""
    chosen = compress(examples, rng.random(len(examples)) < share)
    return [replace(e, id=f"{e.id}/questions", context=e.context[::2]) for e in chosen]


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
    return found[0] if len(set(found)) == 1 and all(w.isalpha() for w in found[0].words) else None


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
    if not all(by_kind.values()):
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
    texts = (example.question, example.target, *example.context)
    question, target, *context = (_rewrite(text, old, new) for text in texts)
    if question == " ".join(forms(example.question)):
        return None
    return Example(f"{example.id}/{new.kind}", tuple(context), question, target)


def _rewrite(text: str, old: Mention, new: Mention) -> str:
    """Return the words of ``text`` with ``new`` in the place of ``old``."""
    words = forms(text)
    parts = set(old.words) - VAGUE_WORDS
    output: list[str] = []
    at = 0
    while at < len(words):
        name = tuple(words[at : at + len(old.words)])
        if name != old.words:  # a surname alone is the entity too
            name = tuple(takewhile(parts.__contains__, words[at:]))
        if name:
            output.extend(new.words)
        elif _KIND_OF.get(words[at]) == old.kind:
            output.append(_PRONOUNS[new.kind][_find_role(words, at)])
        else:
            output.append(words[at])
        at += len(name) or 1
    return " ".join(output)


def _find_role(words: list[str], at: int) -> int:
    """Return what the pronoun at a place is: 0 is the subject, 1 the object, 2 stands before what is owned, 3 alone."""
    # "her" is object or possessor, "it" subject or object: the word after it decides, as well as a list can guess.
    otherwise = {"her": 2, "it": 0}.get(words[at])
    if otherwise is None:
        return _PRONOUNS[_KIND_OF[words[at]]].index(words[at])
    return 1 if at + 1 == len(words) or words[at + 1] in AFTER_OBJECT else otherwise
