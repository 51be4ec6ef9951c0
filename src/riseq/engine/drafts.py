"""Questions under way: what has been made of each so far, and many of them as one batch."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain

import numpy as np
from numpy.typing import NDArray

from riseq.core.edits import KEEP, MARKER, Edit, Op, apply
from riseq.engine.confidence import Calibration, DraftFeatures, PassFeatures
from riseq.engine.dialogue import DialogueWords
from riseq.engine.reading import Reader
from riseq.engine.rules.agreement import Pronouns, correct_gender, fix_agreement, use_pronouns
from riseq.engine.rules.broken_english import fix_stranded_words, mend_phrases
from riseq.model.inputs import PAPER_WINDOW, UTTERANCE_PIECES, Batch, Condition, ContextWindow
from riseq.text.lexicon import GENERAL_PRONOUNS, SEXED_NOUNS, TRADE, find_stem, is_content, is_foreign, is_word
from riseq.text.pieces import Pieces
from riseq.text.realise import realise
from riseq.text.words import forms, split
from riseq.types import Simplification, Step, TextEdit

LEAST_CONTEXT = UTTERANCE_PIECES + 2
"""How many pieces of the dialogue stay in sight, however long the question is."""
NO_DIALOGUE = "there is no dialogue before it"
NOT_ENGLISH = "it does not seem to be English"


@dataclass(frozen=True, slots=True)
class Choice:
    """The edits of one pass, the marker's first, and how probable each was."""

    edits: list[Edit]
    probabilities: list[float]
    log_probability: float = 0.0
    """Of all of them together."""
    features: PassFeatures | None = None
    """How sure the network was of them."""


@dataclass(slots=True)
class Draft:
    """One question in its dialogue, and what the passes so far have made of it."""

    question: str
    dialogue: DialogueWords
    """What the dialogue has said, whether the network sees it or not."""
    context_ids: list[int]
    """``[CLS] c1 [SEP] c2``, made once."""
    truncated: bool
    """Whether any of the context, or the end of the question, is out of the network's sight."""
    room: int
    """How many pieces the marker and the question may have."""
    text: str
    words: list[str]
    """The words of ``text``, the marker first."""
    cuts: list[tuple[int, ...]]
    """The pieces of the words that the network sees: the first ones, as many as there is room for."""
    protect: Sequence[Sequence[str]] = ()
    """The words of each phrase that is left alone."""
    condition: Condition = Condition.GROUNDED
    """What the network is told of the words that may go."""
    pronouns: Pronouns = ()
    """The words of each name that has a pronoun of its own, and the pronoun."""
    reason: str | None = None
    """Why no pass reads it; None where passes may."""
    steps: list[Step] = field(default_factory=list)
    log_probability: float | None = None
    """Of the edits of every pass so far together; None before the first."""
    pass_features: list[PassFeatures] = field(default_factory=list)
    """How sure the network was in each pass so far, one that changed nothing among them."""
    variants: list[Simplification] = field(default_factory=list)
    """What other edits than those chosen would have made of it."""

    @property
    def editable(self) -> bool:
        """Whether a pass could change anything: a question with no dialogue before it has nothing to refer to."""
        return self.reason is None and len(self.cuts) > 1

    @property
    def unseen(self) -> int:
        """How many words at the end the network does not see; they are kept as they are."""
        return len(self.words) - len(self.cuts)

    @property
    def length(self) -> int:
        """How many pieces the row has, with its last [SEP]."""
        return len(self.context_ids) + sum(map(len, self.cuts)) + 1

    @property
    def names(self) -> list[bool]:
        """Which words of ``text`` are written as names are: with a capital, and no function words."""
        return [False, *(self.text[word.start].isupper() and is_content(word.form) for word in split(self.text))]

    @property
    def question_words(self) -> list[str]:
        """The words of the question as it was asked: what a pass has put in may go again."""
        return forms(self.question) if self.steps else self.words

    @property
    def barred(self) -> NDArray[np.bool_]:
        """Which edits at which words of ``text`` would touch what is protected."""
        return find_protected(self.words, self.protect)

    @property
    def fixed(self) -> frozenset[int]:
        """The positions of protected words."""
        return frozenset(np.flatnonzero(self.barred[:, Op.DELETE]).tolist()) if self.protect else frozenset()

    @property
    def features(self) -> DraftFeatures:
        """What the confidence goes by, beside the passes."""
        left = {find_stem(word) for word in self.words}
        gone = {word for word in forms(self.question) if is_content(word) and find_stem(word) not in left}
        unsaid = sum(word not in self.dialogue for word in gone)
        grounded = self.condition is Condition.GROUNDED
        return DraftFeatures(float(self.dialogue.has_answers), float(self.truncated), float(grounded), float(unsaid))

    def advance(self, choice: Choice, pieces: Pieces) -> bool:
        """Apply the edits of one pass; return whether they changed anything."""
        self.log_probability = (self.log_probability or 0.0) + choice.log_probability
        if choice.features is not None:
            self.pass_features.append(choice.features)
        if not any(edit.op for edit in choice.edits):
            return False
        unseen = self.unseen
        chosen = choice.edits + [KEEP] * unseen
        fixed, grounded = self.fixed, self.condition is Condition.GROUNDED
        edits = mend_phrases(self.words, chosen, fixed, self.names) if grounded else chosen
        edits = use_pronouns(self.words, fix_stranded_words(self.words, edits, fixed), self.pronouns)
        telling = GENERAL_PRONOUNS.keys() | SEXED_NOUNS | {"himself", "herself"}
        said = any(form in self.dialogue for form in telling) or not telling.isdisjoint(self.words)
        gender_known = not grounded or bool(self.pronouns) or said
        if not gender_known:
            edits = correct_gender(self.words, edits)
        of_trade = any(word in self.dialogue for word in TRADE)
        edits = fix_agreement(self.words, edits, fixed, gender_known, self.names, of_trade)
        reached = apply(self.words, edits)
        # A mark alone is no question: an edit that would leave no word is not made.
        if reached == self.words or not any(is_word(word) for word in reached[1:]):
            return False
        # What a rule does to a word that the network keeps follows from its other edits, and is as sure as they are.
        likely = zip(chosen, edits, choice.probabilities + [1.0] * unseen, strict=True)
        probabilities = [1.0 if was.op is Op.KEEP and now.op is not Op.KEEP else p for was, now, p in likely]
        step = realise(self.text, edits, self.dialogue.context, probabilities)
        self.steps.append(step)
        self.text = step.text
        self.words = [MARKER, *forms(step.text)]
        # What was out of sight once stays so, however short the rest becomes.
        self.cuts = _cut(self.words[: len(self.words) - unseen], pieces, self.room)
        return True

    def finish(self, calibration: Calibration | None = None) -> Simplification:
        """Return what was made of the question."""
        probability, confidence = None if self.log_probability is None else math.exp(self.log_probability), None
        if calibration is not None and self.pass_features:
            confidence = calibration.rate(self.pass_features, self.features)
        elif calibration is not None:
            confidence = calibration.alone if self.reason == NO_DIALOGUE else calibration.untouched
        steps = tuple(Step(step.text, tuple(map(self._refer, step.edits))) for step in self.steps)
        made = self.question, self.text, steps, self.truncated
        return Simplification(*made, confidence, probability, reason=self.reason)

    def _refer(self, edit: TextEdit) -> TextEdit:
        mention = self.dialogue.find_mention(edit.old) if edit.old else None
        return edit if mention is None else replace(edit, refers_to=mention)


def start(
    question: str,
    context: Sequence[str],
    pieces: Pieces,
    max_pieces: int,
    protect: Sequence[Sequence[str]] = (),
    window: ContextWindow = PAPER_WINDOW,
    condition: Condition = Condition.GROUNDED,
    pronouns: Pronouns = (),
    reader: Reader | None = None,
    relevant: bool = False,
) -> Draft:
    """Return the draft of a question that nothing was done to; ``reader`` is that of ``context``, if there is one.

    Where question and context have more than ``max_pieces`` together, the oldest utterances go first; the end of the
    last one stays, and the question is edited as far as it fits behind it. Where only what is ``relevant`` is to be
    read, a long dialogue is read in part; see ``riseq.engine.reading``.
    """
    words = [MARKER, *forms(question)]
    cuts = _cut(words, pieces, max_pieces)
    length = sum(map(len, cuts)) + 1
    reader = reader or Reader(DialogueWords(context), pieces)
    window = replace(window, pieces=max(max_pieces - length, LEAST_CONTEXT))
    encoded = reader.encode(words[1:], window, relevant)
    room = max_pieces - len(encoded.ids) - 1
    if length > room + 1:
        cuts = _cut(words, pieces, room)
    has_context = any(piece not in (pieces.cls_id, pieces.sep_id) for piece in encoded.ids)
    truncated = encoded.truncated or len(cuts) < len(words)
    begun = encoded.ids, truncated, room, question, words, cuts
    foreign = has_context and is_foreign(question, context, lambda word: len(pieces.cut(word)) == 1)
    reason = NOT_ENGLISH if foreign else None if has_context else NO_DIALOGUE
    return Draft(question, reader.dialogue, *begun, protect, condition, pronouns, reason)


def find_protected(words: Sequence[str], protect: Iterable[Sequence[str]]) -> NDArray[np.bool_]:
    """Return [W, 4], True where the edit would touch a protected phrase of ``words``: change it or split it."""
    barred = np.zeros((len(words), len(Op)), dtype=np.bool_)
    for phrase in protect:
        for start in range(1, len(words) - len(phrase) + 1):
            end = start + len(phrase)
            if tuple(words[start:end]) == tuple(phrase):
                barred[start:end, [Op.DELETE, Op.SUBSTITUTE]] = True
                barred[start : end - 1, Op.INSERT] = True
    return barred


def gather(drafts: Sequence[Draft], pieces: Pieces) -> Batch:
    """Return the padded batch of ``drafts``."""
    context = [len(draft.context_ids) for draft in drafts]
    words = [len(draft.cuts) for draft in drafts]
    ids = [[*draft.context_ids, *chain.from_iterable(draft.cuts), pieces.sep_id] for draft in drafts]
    # After the last word comes the last [SEP], and there a row's padding points to.
    firsts = [[*accumulate(map(len, draft.cuts), initial=len(draft.context_ids))] for draft in drafts]
    lengths = [len(row) for row in ids]
    longest, most = max(lengths), max(words) + 1
    ids_BL = np.array([row + [pieces.pad_id] * (longest - len(row)) for row in ids], dtype=np.int64)
    firsts_BW = np.array([row + row[-1:] * (most - len(row)) for row in firsts], dtype=np.int64)
    lengths_B, context_B, words_B = np.array([lengths, context, words], dtype=np.int64)
    condition_B = np.array([draft.condition for draft in drafts], dtype=np.int64)
    return Batch(ids_BL, lengths_B, context_B, firsts_BW, words_B, condition_B)


def split_batches(drafts: Sequence[Draft], batch_pieces: int) -> Iterator[list[Draft]]:
    """Yield the drafts, the shortest first, in batches of at most ``batch_pieces`` pieces with their padding."""
    batch: list[Draft] = []
    for draft in sorted(drafts, key=lambda draft: draft.length):
        if batch and (len(batch) + 1) * draft.length > batch_pieces:
            yield batch
            batch = []
        batch.append(draft)
    if batch:
        yield batch


def _cut(words: Sequence[str], pieces: Pieces, room: int) -> list[tuple[int, ...]]:
    """Return the pieces of the first words, as many as have at most ``room`` pieces; the marker's is [SEP]."""
    cuts = [(pieces.sep_id,), *map(pieces.cut, words[1 : max(room, 1)])]
    fitting = sum(length <= room for length in accumulate(map(len, cuts)))
    return cuts[: max(fitting, 1)]
