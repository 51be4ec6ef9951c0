"""What is no English: undone, or mended. A case is written as it is edited, ``[the band|they]``, ``[now]``."""

from __future__ import annotations

import re

import pytest

from riseq.core.edits import DELETE, GONE, KEEP, MARKER, Edit, Op, apply
from riseq.engine.rules.broken_english import mend_phrases, undo_broken_runs
from riseq.text.words import forms

UNDONE = [
    ("Did the [League or the Avengers] come first?", "did the league or the avengers come first", "the needs its noun"),
    ("Can I become a [doctor] in Berlin?", "can i become a doctor in berlin", "a noun between verb and place"),
    ("Is it an example that [is] rejected?", "is it an example that is rejected", "a verb alone ties"),
    ("Are others [than] Blockbuster left?", "are others than blockbuster left", "than alone ties"),
    ("Did she help [Lewis and] Clark?", "did she help lewis and clark", "half of a pair"),
    ("Are real-[time] databases fast?", "are real - time databases fast", "half of a compound"),
    ("What were [Ching Shih's] laws?", "what were ching shih ' s laws", "laws are somebody's"),
    ("What was the [big] wall?", "what was the wall", "a noun without its adjective is a noun"),
    ("Who won [in Rome]?", "who won", "nothing is broken"),
    ("How many [calories does rowing|what about] burn?", "how many calories does rowing burn", "it opens questions"),
    ("[How long does it take|What about] to learn Go?", "how long does it take to learn go", "what about a thing"),
    ("What is the role [of toilets|their] in film?", "what is the role of toilets in film", "their needs a noun"),
    ("Can it reach [the|there] Moon?", "can it reach the moon", "there has no noun"),
    ("How much [Red Bull|it] can I drink?", "how much red bull can i drink", "it has no quantity"),
    ("My [twins|they] are ill.", "my twins are ill .", "they are nobody's"),
    (
        "Can [my landlord raise the rent|that] in Berlin?",
        "can my landlord raise the rent in berlin",
        "the verb went too",
    ),
    ("[How] about in Rome?", "how about in rome", "about begins no question"),
    ("Who gave the largest sum under the [Marshall Plan]?", "who gave the largest sum", "small words go along"),
    ("How soon will they reply to [an email]?", "how soon will they reply", "the same without an article"),
    ("Who scored goals for [Argentina] in the final?", "who scored goals in the final", "before another phrase"),
]
MENDED = [
    ("[What is the limit|about] in Poland?", "what about in poland", "what about is whole"),
    ("How cold does the [telescope|one] get?", "how cold does it get", "the one of nothing is it"),
    ("How cold does [the telescope|the one] get?", "how cold does it get", "the same as a phrase"),
    ("Is it the [telescope|one] in Chile?", "is it the one in chile", "here it says which"),
    ("Who joined [the OECD|their] since 2015?", "who joined them since 2015", "no noun follows"),
    ("Who joined [the OECD's|their] team?", "who joined their team", "a noun follows"),
    ("What if [the seller|they] has left?", "what if they have left", "they are many"),
    ("Can I raise my [melatonin|the] levels?", "can i raise my levels", "my is enough"),
]


def read(marked: str) -> tuple[list[str], list[Edit]]:
    words, edits = [MARKER], [KEEP]
    for part in re.findall(r"\[[^]]*\]|[^[]+", marked):
        old, _, new = part.strip("[]").partition("|")
        words += forms(old)
        if not part.startswith("["):
            edits += [KEEP] * len(forms(old))
        elif new:
            edits += [Edit(Op.SUBSTITUTE, tuple(forms(new))), *[Edit(Op.SUBSTITUTE)] * (len(forms(old)) - 1)]
        else:
            edits += [DELETE] * len(forms(old))
    return words, edits


def show(words: list[str], edits: list[Edit]) -> str:
    return " ".join(apply(words, edits)[1:]).removesuffix(" ?")


@pytest.mark.parametrize(("marked", "expected", "why"), UNDONE, ids=[case[2] for case in UNDONE])
def test_undone(marked: str, expected: str, why: str) -> None:
    words, edits = read(marked)
    ops = [int(edit.op) for edit in edits]
    undo_broken_runs(ops, words, [edit.phrase for edit in edits])
    gone = [edit if edit.op == op else DELETE if op in GONE else KEEP for edit, op in zip(edits, ops, strict=True)]
    assert show(words, gone) == expected, why


@pytest.mark.parametrize(("marked", "expected", "why"), MENDED, ids=[case[2] for case in MENDED])
def test_mended(marked: str, expected: str, why: str) -> None:
    words, edits = read(marked)
    assert show(words, mend_phrases(words, edits)) == expected, why


def test_fixed_words_stay() -> None:
    words, edits = read("How cold does the [telescope|one] get?")
    assert show(words, mend_phrases(words, edits, {4})) == "how cold does the one get"
    words, edits = read("How soon will they reply to [an email]?")
    ops = [int(edit.op) for edit in edits]
    undo_broken_runs(ops, words, [()] * len(words), {6})
    assert ops[6] == Op.KEEP
