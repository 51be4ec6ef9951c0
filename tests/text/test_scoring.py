"""The paper's scoring form."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

import riseq.text
from riseq.text.pieces import load_bert_pieces, scoring_form


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", ""),
        ("What is Britpop's sub-genre?", "what is britpop ' s sub - genre ?"),
        ("Did BEYONCÉ sing?", "did beyonce sing ?"),
        ("𓀀 it", "[UNK] it"),
        ("a" * 101 + " it", "[UNK] it"),
        ("go " * 40, " ".join(["go"] * 30)),
    ],
)
def test_texts_take_the_papers_form(text: str, wanted: str) -> None:
    assert scoring_form(text) == wanted


def test_the_cut_counts_pieces_not_words() -> None:
    assert load_bert_pieces().spell("britpop") == ("brit", "##pop")
    assert scoring_form("no britpop now", limit=2) == "no brit"
    assert scoring_form("no britpop now", limit=3) == "no britpop"
    assert scoring_form("no britpop now", limit=0) == ""


def test_the_vocabulary_is_berts_own() -> None:
    """bert-base-uncased's vocab.txt: 30,522 lines, known by its MD5 sum."""
    data = (Path(riseq.text.__file__).parent / "bert_uncased_vocab.txt").read_bytes()
    assert data.count(b"\n") == len(load_bert_pieces()) == 30_522
    assert hashlib.md5(data).hexdigest() == "64800d5d8528ce344256daf115d4965e"
