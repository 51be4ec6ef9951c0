"""The best phrase at a span is training's own: the largest sum over all ways to say its words."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from riseq.core.batch import index_phrases
from riseq.core.copies import find_same, write_copies
from riseq.core.copyable import make_copyable, pack_templates
from riseq.core.edits import MARKER
from riseq.core.packed import Interner
from riseq.core.phrases import PhraseVocabulary
from riseq.core.templates import BARE, TemplateVocabulary
from riseq.engine.phrasing import CopiedWords, Phrasing
from riseq.model.copies import CopyBatch
from riseq.model.network import merge_copies
from riseq.train.phrasing import TemplateScores, WordScores

READ = [
    [MARKER, "of", "alien", "of", MARKER, "the", "alien", "film", "of", "alien", MARKER, "it"],
    [MARKER, "nash", MARKER, "it"],
    [MARKER, "it", "it", "it", MARKER, "of", "it"],
]
VOCABULARY = PhraseVocabulary((("it",), ("of", "alien"), ("the",), ("film", "of")))
TEMPLATES = TemplateVocabulary((BARE, (("of",), ()), ((), ("film",)), (("the",), ("of", "alien"))))
LONGEST = 3


def make_scores(seed: int, scale: float, templates: TemplateVocabulary) -> tuple[torch.Tensor, torch.Tensor]:
    """Return random scores of two spans a row: of vocabulary and copies, and of templates."""
    generator, width = torch.Generator().manual_seed(seed), max(map(len, READ)) * LONGEST
    raw = torch.randn(2 * len(READ), len(VOCABULARY) + width, generator=generator) * scale
    for span, read in enumerate([read for read in READ for _ in range(2)]):
        for number in range(width):
            words = read[number // LONGEST : number // LONGEST + number % LONGEST + 1]
            if MARKER in words or len(words) <= number % LONGEST:
                raw[span, len(VOCABULARY) + number] = -1e4
    by_template = torch.randn(len(raw), len(templates), generator=generator) * scale
    return raw.log_softmax(-1), by_template.log_softmax(-1)


@pytest.mark.parametrize(("seed", "scale"), [(seed, scale) for seed in range(12) for scale in (0.3, 1.0, 5.0)])
@pytest.mark.parametrize("templates", [TEMPLATES, TemplateVocabulary()], ids=["templates", "bare"])
def test_it_is_the_one_that_training_finds(seed: int, scale: float, templates: TemplateVocabulary) -> None:
    columns, by_template = make_scores(seed, scale, templates)
    row = np.repeat(np.arange(len(READ)), 2)
    interner = Interner()
    index = index_phrases(interner.pack(VOCABULARY))
    copyable = make_copyable(interner.pack(READ), LONGEST, pack_templates(templates, interner))
    if len(templates) > 1:
        scores = TemplateScores(columns, by_template, row, copyable, index, torch.from_numpy)
        ids, given = scores.best(), torch.cat([columns, by_template], 1)
        odds = scores.take(np.arange(len(row)), ids).exp().tolist()
    else:
        same = CopyBatch(copyable, np.zeros(0, dtype=np.int64), find_same(copyable, index), len(VOCABULARY)).same_BK
        assert same is not None
        merged = merge_copies(columns, torch.from_numpy(same)[row])
        ids, given = WordScores(merged, torch.from_numpy).best(), columns
        odds = merged.max(1).values.exp().tolist()
    found = Phrasing(VOCABULARY, LONGEST, templates).find_best(given.numpy(), [READ[k] for k in row])
    for span, (k, one) in enumerate(zip(ids.tolist(), found, strict=True)):
        number = np.array([k - len(VOCABULARY)])
        known = k < len(VOCABULARY)
        words = VOCABULARY[k] if known else interner.unpack(write_copies(copyable, row[span : span + 1], number))[0]
        assert one.words == tuple(words)
        assert one.probability == pytest.approx(odds[span], rel=1e-4)
        if one.copied is not None:
            first, stop, before = one.copied
            assert tuple(READ[row[span]][first:stop]) == one.words[before : before + stop - first]


def test_a_mention_is_the_likeliest_of_several() -> None:
    scores = np.full((1, 4 + len(READ[0]) * LONGEST), -1e4, dtype=np.float32)
    scores[0, 4 + 2 * LONGEST], scores[0, 4 + 6 * LONGEST], scores[0, 0] = np.log([0.2, 0.3, 0.4])
    (best,) = Phrasing(VOCABULARY, LONGEST).find_best(scores, READ[:1])
    assert best.words == ("alien",), "together they are more than the pronoun"
    assert best.probability == pytest.approx(0.5)
    assert best.copied == CopiedWords(6, 7, 0)


def test_words_of_the_vocabulary_have_a_mention_where_they_were_said() -> None:
    scores = np.full((1, 4 + len(READ[0]) * LONGEST), -20, dtype=np.float32)
    scores[0, 1] = 0
    (best,) = Phrasing(VOCABULARY, LONGEST).find_best(scores, READ[:1])
    assert (best.words, best.copied) == (("of", "alien"), CopiedWords(8, 10, 0))
    (plain,) = Phrasing(VOCABULARY).find_best(scores[:, :4], [[]])
    assert (plain.words, plain.copied) == (("of", "alien"), None)


def test_beside_an_article_alone_the_likeliest_owner_is_known() -> None:
    templates = TemplateVocabulary((((), ()), ((), ("'", "s")), (("of",), ())))
    known = PhraseVocabulary((("the",), ("it",), ("its",)))
    width = len(known) + len(READ[0]) * LONGEST
    scores = np.full((2, width + len(templates)), -20, dtype=np.float32)
    scores[:, len(known) + 2 * LONGEST], scores[:, width + 1] = np.log([0.3, 0.5])
    scores[0, 0] = np.log(0.6)
    scores[1, 1] = np.log(0.6)
    article, pronoun = Phrasing(known, LONGEST, templates).find_best(scores, [READ[0]] * 2)
    assert (article.words, pronoun.words) == (("the",), ("it",))
    assert pronoun.owner is None, "nobody is lost"
    assert article.owner is not None
    assert article.owner.words == ("alien", "'", "s")
    assert article.owner.copied is not None
    assert article.owner.probability == pytest.approx(0.15, rel=1e-3)
