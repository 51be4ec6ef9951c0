"""Questions under way: what has been made of each so far, and many of them as one batch."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain

import numpy as np
from numpy.typing import NDArray

from riseq.core.copyable import make_copyable
from riseq.core.edits import DELETE, KEEP, MARKER, Edit, Op, apply
from riseq.core.packed import Interner
from riseq.engine.confidence import Calibration, DraftFeatures, PassFeatures
from riseq.engine.dialogue import DialogueWords
from riseq.engine.phrasing import CopiedWords
from riseq.engine.reading import Reader
from riseq.engine.rules.agreement import Pronouns, correct_gender, fix_agreement, use_pronouns
from riseq.engine.rules.broken_english import fix_stranded_words, mend_phrases
from riseq.engine.rules.conjunctions import find_waiting
from riseq.engine.rules.doubts import drop_doubtful
from riseq.engine.rules.frames import asks_again
from riseq.engine.rules.loose_ends import find_loose_ends
from riseq.engine.rules.next_best import drop_repeating
from riseq.engine.rules.references import keep_second_things, unite_references
from riseq.engine.rules.resolved import mend_resolved
from riseq.engine.rules.small_talk import NO_QUESTION, asks_nothing
from riseq.model.copies import CopyBatch
from riseq.model.inputs import PAPER_WINDOW, UTTERANCE_PIECES, Batch, Condition, ContextWindow, ShownRow
from riseq.text.lexicon import (
    FEMALE_NOUNS,
    GENERAL_PRONOUNS,
    HE,
    PRONOUNS,
    SEXED_NOUNS,
    SHE,
    TRADE,
    find_stem,
    is_content,
    is_foreign,
    is_word,
)
from riseq.text.pieces import Pieces
from riseq.text.realise import Copied, realise
from riseq.text.words import find_named, forms, read_forms
from riseq.types import Direction, Simplification, Step, TextEdit

LEAST_CONTEXT = UTTERANCE_PIECES + 2
"""How many pieces of the dialogue stay in sight, however long the question is."""
NO_DIALOGUE = "there is no dialogue before it"
NOT_ENGLISH = "it does not seem to be English"
_TELLING = {
    words: frozenset(map(find_stem, words))
    for words in (
        frozenset(HE) | (SEXED_NOUNS - FEMALE_NOUNS) | {"himself"},
        frozenset(SHE) | FEMALE_NOUNS | {"herself"},
    )
}
"""Words that tell that somebody is he, and that somebody is she, with their stems."""
_TRADE_STEMS = frozenset(map(find_stem, TRADE))


@dataclass(frozen=True, slots=True)
class Choice:
    """The edits of one pass, the marker's first, and how probable each was."""

    edits: list[Edit]
    probabilities: list[float]
    log_probability: float = 0.0
    """Of all of them together."""
    features: PassFeatures | None = None
    """How sure the network was of them."""
    copied: Mapping[int, CopiedWords] = field(default_factory=dict)
    """Where the words of phrases come from, by the position of their edit."""


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
    direction: Direction = "simplify"
    shown: Sequence[ShownRow] = ()
    """Which words of the dialogue ``context_ids`` are of."""
    reason: str | None = None
    """Why no pass reads it; None where passes may."""
    steps: list[Step] = field(default_factory=list)
    log_probability: float | None = None
    """Of the edits of every pass so far together; None before the first."""
    pass_features: list[PassFeatures] = field(default_factory=list)
    """How sure the network was in each pass so far, one that changed nothing among them."""
    known_features: tuple[str, DraftFeatures] | None = None
    """What the confidence goes by, and the text it was found for."""
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
    def read_words(self) -> list[str]:
        """The words that the network reads, the marker before each utterance and before the question."""
        said = [(self.dialogue.find_forms(index) if places else [], places) for index, places in self.shown]
        context = [word for words, places in said for word in (MARKER, *(words[place] for place in places))]
        return context + self.words[: len(self.cuts)]

    @property
    def names(self) -> list[bool]:
        """Which words of ``text`` are written as names are: with a capital, and no function words."""
        return [False, *find_named(self.text)]

    @property
    def question_words(self) -> list[str]:
        """The words of the question as it was asked: what a pass has put in may go again."""
        return forms(self.question) if self.steps else self.words

    @property
    def points_back(self) -> bool:
        """Whether a word of the question as it was asked points back, such as "it" or "there"."""
        return not PRONOUNS.isdisjoint(self.question_words)

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
        if self.known_features is None or self.known_features[0] != self.text:
            self.known_features = self.text, self._find_features()
        return self.known_features[1]

    def _find_features(self) -> DraftFeatures:
        unsaid = 0
        if self.steps:
            left = set(map(find_stem, self.words))
            gone = {word for word in read_forms(self.question) if find_stem(word) not in left and is_content(word)}
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
        located = {at: self._locate(one) for at, one in choice.copied.items()}
        known = {at: one for at, one in located.items() if one is not None}
        if self.direction == "simplify":
            edits = self._mend(chosen)
            known = {at: one for at, one in known.items() if edits[at] == chosen[at]}
        else:
            likely = [*choice.probabilities, *[1.0] * unseen]
            edits = drop_doubtful(chosen, likely, bool(self.steps), self.points_back)
            edits, known = mend_resolved(self.text, self.words, edits, likely, known, self.dialogue.context)
            edits = drop_repeating(self.words, edits, likely)
        reached = apply(self.words, edits)
        # A mark alone is no question: an edit that would leave no word is not made.
        if reached == self.words or not any(is_word(word) for word in reached[1:]):
            return False
        # What a rule does to a word that the network keeps follows from its other edits, and is as sure as they are.
        pairs = zip(chosen, edits, choice.probabilities + [1.0] * unseen, strict=True)
        probabilities = [1.0 if was.op is Op.KEEP and now.op is not Op.KEEP else p for was, now, p in pairs]
        step = realise(self.text, edits, self.dialogue.context, probabilities, known)
        self.steps.append(step)
        self.text = step.text
        self.words = [MARKER, *read_forms(step.text)]
        # What was out of sight once stays so, however short the rest becomes.
        self.cuts = _cut(self.words[: len(self.words) - unseen], pieces, self.room)
        return True

    def wants_another(self, calibration: Calibration) -> bool:
        """Return whether another pass is worth it; one that put in an "and" is to say with whom."""
        return self._find_waiting() is not None or calibration.wants_another(self.pass_features, self.features)

    def _find_waiting(self) -> int | None:
        return find_waiting(self.words, self.question_words) if self.direction == "resolve" and self.steps else None

    def _tidy(self) -> list[Step]:
        """Return the steps, and one that deletes what they left loose, if they did: an "and" that joins nothing.

        There is none where they only came back to a question that the dialogue has asked.
        """
        if self.direction == "simplify" or not self.steps:
            return self.steps
        if asks_again(self.words, [MARKER, *self.question_words], self.dialogue.context):
            return []
        waiting = self._find_waiting()
        loose = find_loose_ends(self.words, [MARKER, *self.question_words])
        loose |= set() if waiting is None else {waiting}
        if not loose:
            return self.steps
        edits = [DELETE if k in loose else KEEP for k in range(len(self.words))]
        return [*self.steps, realise(self.text, edits, self.dialogue.context, [1.0] * len(edits))]

    def _mend(self, chosen: Sequence[Edit]) -> list[Edit]:
        """Return the edits with the grammar that follows from them put right, as a simplified question needs it."""
        fixed, grounded = self.fixed, self.condition is Condition.GROUNDED
        edits = mend_phrases(self.words, chosen, fixed, self.names) if grounded else chosen
        edits = fix_stranded_words(self.words, edits, fixed)
        edits = unite_references(self.words, keep_second_things(self.words, edits)) if grounded else edits
        edits = use_pronouns(self.words, edits, self.pronouns)
        brought = {form for edit in edits for form in edit.phrase if form in GENERAL_PRONOUNS}
        told = {telling for telling in _TELLING if self._tells(telling)} if brought else set()
        unsure = grounded and not self.pronouns
        gender_known = not unsure or bool(told)
        if unsure and any(not brought.isdisjoint(telling) for telling in _TELLING if telling not in told):
            edits = correct_gender(self.words, edits)
        of_trade = self.dialogue.says_any(_TRADE_STEMS)
        return fix_agreement(self.words, edits, fixed, gender_known, self.names, of_trade)

    def _tells(self, telling: frozenset[str]) -> bool:
        """Return whether the dialogue, or the question, has any of the words that tell a sex."""
        return self.dialogue.says_any(_TELLING[telling]) or not telling.isdisjoint(self.words)

    def _locate(self, copied: CopiedWords) -> Copied | None:
        """Return where in the dialogue copied words are; None where only what is read has them together."""
        first, count = copied.first, copied.stop - copied.first
        for index, places in self.shown:
            if first <= len(places):  # the marker is word 0 of each row
                taken = places[first - 1 : first - 1 + count]
                together = taken[-1] - taken[0] + 1 == count
                return Copied(index, taken[0], taken[-1] + 1, copied.before) if together else None
            first -= len(places) + 1
        return Copied(None, first - 1, first - 1 + count, copied.before)

    def finish(self, calibration: Calibration | None = None) -> Simplification:
        """Return what was made of the question."""
        probability, confidence = None if self.log_probability is None else math.exp(self.log_probability), None
        if calibration is not None and self.pass_features:
            confidence = calibration.rate(self.pass_features, self.features)
        elif calibration is not None:
            confidence = calibration.alone if self.reason == NO_DIALOGUE else calibration.untouched
        steps = tuple(Step(step.text, tuple(map(self._refer, step.edits))) for step in self._tidy())
        made = self.question, steps[-1].text if steps else self.question, steps, self.truncated
        return Simplification(*made, confidence, probability, reason=self.reason)

    def _refer(self, edit: TextEdit) -> TextEdit:
        if self.direction == "resolve":
            return edit  # it refers to what it was copied from
        mention = self.dialogue.find_mention(edit.old) if edit.old else None
        if mention is None:
            return edit
        return TextEdit(edit.op, edit.start, edit.end, edit.old, edit.new, edit.probability, mention)


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
    direction: Direction = "simplify",
) -> Draft:
    """Return the draft of a question that nothing was done to; ``reader`` is that of ``context``, if there is one.

    Where question and context have more than ``max_pieces`` together, the oldest utterances go first; the end of the
    last one stays, and the question is edited as far as it fits behind it. Where only what is ``relevant`` is to be
    read, a long dialogue is read in part; see ``riseq.engine.reading``.
    """
    words = [MARKER, *read_forms(question)]
    cuts = _cut(words, pieces, max_pieces)
    length = sum(map(len, cuts)) + 1
    reader = reader or Reader(DialogueWords(context), pieces)
    fitting = max(max_pieces - length, LEAST_CONTEXT)
    fitting = fitting if window.pieces is None else min(window.pieces, fitting)
    window = ContextWindow(window.utterance_pieces, window.utterances, fitting)
    encoded = reader.encode(words[1:], window, relevant)
    room = max_pieces - len(encoded.ids) - 1
    if length > room + 1:
        cuts = _cut(words, pieces, room)
    has_context = any(piece not in (pieces.cls_id, pieces.sep_id) for piece in encoded.ids)
    truncated = encoded.truncated or len(cuts) < len(words)
    begun = encoded.ids, truncated, room, question, words, cuts
    foreign = has_context and is_foreign(question, context, lambda word: len(pieces.cut(word)) == 1)
    reason = NOT_ENGLISH if foreign else None if has_context else NO_DIALOGUE
    if direction == "resolve" and reason is None and asks_nothing(words[1:]):
        reason = NO_QUESTION
    return Draft(question, reader.dialogue, *begun, protect, condition, pronouns, direction, encoded.rows, reason)


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


def gather(drafts: Sequence[Draft], pieces: Pieces, copies: int = 0) -> Batch:
    """Return the padded batch of ``drafts``, for a network that copies phrases of up to ``copies`` words."""
    context = [len(draft.context_ids) for draft in drafts]
    words = [len(draft.cuts) for draft in drafts]
    # After the last word comes the last [SEP], and there a row's padding points to.
    firsts = [[*accumulate(map(len, draft.cuts), initial=len(draft.context_ids))] for draft in drafts]
    context_B, words_B = np.array([context, words], dtype=np.int64)
    lengths_B = np.array([row[-1] for row in firsts], dtype=np.int64) + 1
    most = max(words) + 1
    firsts_BW = np.array([row + row[-1:] * (most - len(row)) for row in firsts], dtype=np.int64)
    ids_BL = np.full((len(drafts), int(lengths_B.max())), pieces.pad_id, dtype=np.int64)
    end = (pieces.sep_id,)
    rows = chain.from_iterable((draft.context_ids, chain.from_iterable(draft.cuts), end) for draft in drafts)
    ids = np.fromiter(chain.from_iterable(rows), dtype=np.int64, count=int(lengths_B.sum()))
    ids_BL[np.arange(ids_BL.shape[1])[None, :] < lengths_B[:, None]] = ids
    condition_B = np.array([draft.condition for draft in drafts], dtype=np.int64)
    copied = _gather_words([draft.read_words for draft in drafts], pieces, copies) if copies else None
    return Batch(ids_BL, lengths_B, context_B, firsts_BW, words_B, condition_B, copied)


def _gather_words(rows: Sequence[Sequence[str]], pieces: Pieces, copies: int) -> CopyBatch:
    """Return the words of rows, each with its markers, as what phrases can be copied from."""
    counts = [1 if word == MARKER else len(pieces.cut(word)) for row in rows for word in row]
    return CopyBatch(make_copyable(Interner().pack(rows), copies), np.array(counts, dtype=np.int64))


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
    if sum(map(len, cuts)) <= room:
        return cuts
    fitting = sum(length <= room for length in accumulate(map(len, cuts)))
    return cuts[: max(fitting, 1)]
