"""What only the question says, case by case."""

from __future__ import annotations

from itertools import takewhile
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riseq.core.edits import MARKER, Op
from riseq.core.phrases import PhraseVocabulary
from riseq.engine.backends import BatchScores, ScoreArray
from riseq.engine.dialogue import DialogueWords
from riseq.engine.phrasing import Phrasing
from riseq.engine.rules.new_information import keep_new_information, keep_unsaid
from riseq.engine.simplifier import Simplifier
from riseq.model.inputs import Batch, SpanBatch
from riseq.text.lexicon import find_stem, is_content, is_number
from riseq.text.words import find_stems, forms
from tiny_model import make_pieces

WORDS = f"{MARKER} what is the weather like in nairobi in july ?".split()
NAIROBI = ["How big is Nairobi?", "It has 4 million people."]


def guard(ops: str, sureness: float, context: list[str], better: float = 1.0) -> str:
    found = ["KDIS".index(op) for op in ops]
    scores = np.full((len(ops), 4), -9, dtype=np.float32)
    scores[:, Op.KEEP] = -2
    scores[np.arange(len(ops)), found] = -2 + better
    keep_new_information(scores, found, WORDS, DialogueWords(context), sureness)
    return "".join("KDIS"[op] for op in found)


@pytest.mark.parametrize(
    ("ops", "expected", "why"),
    [
        ("KKKKKKDDDDK", "KKKKKKDDKKK", "the dialogue has said Nairobi, nobody has said July"),
        ("KKKKKKKKSSK", "KKKKKKKKKKK", "nothing to refer to"),
        ("KKKKKKKSSSK", "KKKKKKKSSSK", "a phrase that is partly known is one phrase"),
        ("KDDKKKKKKKK", "KDDKKKKKKKK", "no content"),
        ("KKKKIKKKKKK", "KKKKIKKKKKK", "nothing goes"),
    ],
)
def test_cases(ops: str, expected: str, why: str) -> None:
    assert guard(ops, 2.0, NAIROBI) == expected, why


def test_what_the_network_is_sure_of_goes() -> None:
    assert guard("KKKKKKDDDDK", 2.0, NAIROBI, better=2.5) == "KKKKKKDDDDK"


def test_a_plural_was_said_with_its_singular() -> None:
    assert "nairobi" in DialogueWords(["the Nairobis"])
    assert "july" not in DialogueWords([])


LAW = [
    ("what is it like in [Nairobi] [in July] ?", ["How big is Nairobi?"], "nairobi", "July is news, answers or none"),
    ("how much is [the new iPhone] ?", ["Which iPhone is that?"], "the new iPhone", "the noun was said"),
    ("how much is [the iPhone 15] ?", ["Which iPhone is that?"], "", "a number is news"),
    ("how much is [the second album] ?", ["Is that an album?"], "", "and so is which one"),
    ("is [lung cancer] treatable ?", ["What is throat cancer?"], "", "a sibling is another thing"),
    ("is [Greta Gerwig] a star ?", ["Do you know Gerwig?"], "Greta Gerwig", "the name was said by its last part"),
    ("where was [Steve Wozniak] born ?", ["Who is Steve Jobs?"], "", "a first name is not enough"),
    ("is [the Nairobi office] open ?", ["Where is the office?"], "", "a name is news before an ordinary noun"),
    ("who runs [MIT] ?", ["the Massachusetts Institute of Technology"], "MIT", "a name was said for its acronym"),
    ("who runs [the European Space Agency] ?", ["ESA?"], "the European Space Agency", "and back"),
    ("is [making cakes] hard ?", ["Who makes a cake?"], "making cakes", "by their stems"),
    ("my dog is old . can [my dog] run ?", [], "my dog", "the question says it twice"),
]


@pytest.mark.parametrize(("marked", "context", "gone", "why"), LAW, ids=[case[3] for case in LAW])
def test_what_nobody_said_stays(marked: str, context: list[str], gone: str, why: str) -> None:
    words, ops, names = [MARKER], [Op.KEEP.value], [False]
    inside = False
    for token in marked.split():
        inside |= token.startswith("[")
        word = token.strip("[]")
        words.append(word.lower())
        names.append(word[0].isupper())
        ops.append(Op.DELETE.value if inside else Op.KEEP.value)
        inside &= not token.endswith("]")
    keep_unsaid(ops, words, [()] * len(ops), names, words, DialogueWords(context))
    assert [word for word, op in zip(words, ops, strict=True) if op] == gone.lower().split(), why


def test_what_comes_back_is_not_lost() -> None:
    words = [MARKER, "if", "jo", "wants", "it"]
    ops = [Op.KEEP.value, Op.KEEP.value, Op.SUBSTITUTE.value, Op.SUBSTITUTE.value, Op.KEEP.value]
    keep_unsaid(ops, words, [(), (), ("they", "want"), (), ()], [False] * 5, words, DialogueWords(["Jo?"]))
    assert ops[3] == Op.SUBSTITUTE


def test_what_a_pass_brought_together_was_not_asked_together() -> None:
    words, dialogue = [MARKER, "a", "film", "alien"], DialogueWords(["the alien"])
    for question, last in (("a film alien", Op.DELETE), ("a film the alien", Op.KEEP)):
        ops = [Op.KEEP.value, Op.DELETE.value, Op.DELETE.value, Op.DELETE.value]
        keep_unsaid(ops, words, [()] * 4, [False] * 4, question.split(), dialogue)
        assert ops[2] == last, question


class RandomBackend:
    """A network of chance."""

    max_pieces = batch_pieces = 512

    def __init__(self, chance: Random) -> None:
        self._chance = np.random.default_rng(chance.getrandbits(32))

    def score(self, batch: Batch) -> BatchScores:
        return RandomScores(self._chance, batch)


class RandomScores:
    def __init__(self, chance: np.random.Generator, batch: Batch) -> None:
        self._chance = chance
        scores = chance.normal(0, 4, (len(batch.words_B), int(batch.words_B.max()), 4)).astype(np.float32)
        scores[:, 0, [Op.DELETE, Op.SUBSTITUTE]] = -1e4
        self.edits_BWE: ScoreArray = scores

    def score_phrases(self, spans: SpanBatch) -> ScoreArray:
        return -self._chance.random((len(spans.row_N), len(PHRASES)), dtype=np.float32)


PHRASES = PhraseVocabulary((("it",), ("what", "about"), ("his",), ("the", "one"), ("they",)))
PIECES = make_pieces("bert")
POOL = forms("alien aliens film films the of in he it what 1979 released ridley scott , ? and did new")


@given(
    st.lists(st.sampled_from(POOL), min_size=1, max_size=12),
    st.lists(st.lists(st.sampled_from(POOL), max_size=6).map(" ".join), min_size=1, max_size=3),
    st.randoms(use_true_random=False),
    st.booleans(),
)
def test_no_word_that_nobody_said_is_ever_lost(
    words: list[str], context: list[str], chance: Random, many: bool
) -> None:
    """The law, over the whole engine: random scores in all passes, at every strength and in every alternative."""
    engine = Simplifier(RandomBackend(chance), PIECES, Phrasing(PHRASES))
    question = " ".join(words)
    result = engine(question, context, strength=chance.random(), n_best=4 if many else 1)
    said = find_stems(context)
    for form in (result, *result.alternatives):
        kept = find_stems([form.text])
        for index, word in enumerate(words):
            if is_content(word) and find_stem(word) not in kept | said:
                # All that may go unsaid stands before a noun that was said, and is no number.
                after = list(takewhile(is_content, words[index:]))
                assert said.intersection(map(find_stem, after[1:])), (question, form.text)
                assert not is_number(word)
