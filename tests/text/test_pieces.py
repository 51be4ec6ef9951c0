"""Word pieces equal those of the transformers library, whatever the vocabulary's file is."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from transformers import BertTokenizer

from riseq.text import pieces as scoring
from riseq.text.pieces import CACHED_WORDS, Pieces, read_known_vocabularies
from riseq.text.words import forms
from riseq.types import InputError

WORDS = ["what", "brit", "##pop", "##s", "'", "s", "?", "is", "##it", "a"]
BERT = ["[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
MPNET = ["<s>", "<pad>", "</s>", "<unk>", *BERT, "<mask>"]

SENTENCES = [
    "",
    "What is Britpop's sub-genre?",
    "Did Beyoncé — née Knowles — sing “Déjà Vu” in 2006?!",
    "北京 or Wrocław? 👍🏽 \x07",
    "supercalifragilisticexpialidocious isn't " + "a" * 100 + " nor " + "b" * 101,
]


def write_vocabulary(folder: Path, pieces: list[str]) -> Path:
    path = folder / "vocab.txt"
    path.write_text("".join(f"{piece}\n" for piece in pieces), encoding="utf-8")
    return path


def write_json(folder: Path, pieces: list[str]) -> Path:
    tokenizer = Tokenizer(WordPiece({piece: i for i, piece in enumerate(pieces)}, unk_token="[UNK]"))
    tokenizer.normalizer = BertNormalizer()
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder / "tokenizer.json"


@pytest.mark.parametrize("write", [write_vocabulary, write_json])
@pytest.mark.parametrize(("pieces", "offset"), [(BERT, 0), (MPNET, 4)])
def test_both_vocabularies_load_from_both_files(tmp_path: Path, write: object, pieces: list[str], offset: int) -> None:
    path = write_json(tmp_path, pieces) if write is write_json else write_vocabulary(tmp_path, pieces)
    for source in (path, tmp_path, str(tmp_path)):
        loaded = Pieces.load(source)
        assert len(loaded) == len(pieces)
        specials = (loaded.cls_id, loaded.sep_id, loaded.pad_id, loaded.unk_id)
        assert specials == ((3, 4, 0, 2) if not offset else (0, 2, 1, 6))
        ids = [6 + offset, 7 + offset, 8 + offset, 9 + offset, 2 + offset, 12 + offset]
        assert loaded.encode(["what", "britpops", "zappa", "?"]) == ids


def test_a_word_is_cut_once_and_the_cache_is_bounded() -> None:
    pieces = Pieces({piece: i for i, piece in enumerate(BERT)})
    assert pieces.cut("britpop") is pieces.cut("britpop")
    assert pieces.cut.cache_info().maxsize == CACHED_WORDS
    assert pieces.spell("britpop") == ("brit", "##pop")


def test_pieces_travel_to_other_processes_and_to_disk(tmp_path: Path) -> None:
    pieces = Pieces({piece: i for i, piece in enumerate(MPNET)})
    copy = pickle.loads(pickle.dumps(pieces))
    pieces.save(tmp_path / "vocab.txt")
    for other in (copy, Pieces.load(tmp_path)):
        assert other.encode(["britpop", "is"]) == pieces.encode(["britpop", "is"])
        assert other.cls_id == pieces.cls_id


def test_ids_with_holes_are_not_saved_as_lines(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="line numbers"):
        Pieces({piece: 2 * i for i, piece in enumerate(BERT)}).save(tmp_path / "vocab.txt")


def test_an_empty_word_has_no_pieces() -> None:
    with pytest.raises(ValueError, match="empty word"):
        Pieces({piece: i for i, piece in enumerate(BERT)}).cut("")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("vocab.txt", b"what\nis\n", r"vocab.txt: no special piece <s> or \[CLS\]"),
        ("vocab.txt", b"[CLS]\n\xff\xfe", "vocab.txt: not UTF-8 text at byte 6"),
        ("tokenizer.json", b"{\n  oops", "tokenizer.json, line 2: not JSON"),
        ("tokenizer.json", b"[]", "tokenizer.json: no field model.vocab"),
        ("tokenizer.json", json.dumps({"model": {"type": "BPE", "vocab": {}}}).encode(), "model.type is 'BPE'"),
        (
            "tokenizer.json",
            json.dumps({"model": {"vocab": {}}, "normalizer": {"lowercase": False}}).encode(),
            "expected an uncased",
        ),
        ("notes.txt", b"", "no vocabulary in this folder; expected tokenizer.json or vocab.txt"),
    ],
)
def test_a_wrong_vocabulary_is_named(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        Pieces.load(tmp_path)


def test_a_missing_vocabulary_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.txt: cannot read the vocabulary"):
        Pieces.load(tmp_path / "gone.txt")


@pytest.fixture(scope="module")
def reference() -> BertTokenizer:
    pieces = scoring.load_bert_pieces()
    return BertTokenizer(vocab=dict(pieces._vocabulary))


def test_pieces_are_those_of_transformers(reference: BertTokenizer) -> None:
    pieces = scoring.load_bert_pieces()
    for sentence in SENTENCES:
        assert pieces.encode(forms(sentence)) == reference(sentence, add_special_tokens=False)["input_ids"]


def test_pieces_are_those_of_transformers_on_real_text(data_dir: Path, reference: BertTokenizer) -> None:
    rows = [json.loads(line) for line in (data_dir / "canard" / "dev.qa.jsonl").read_text("utf-8").splitlines()[::3]]
    texts = [text for row in rows for text in (row["question"], row["target"], *row["context"])]
    pieces = scoring.load_bert_pieces()
    ours = [pieces.encode(forms(text)) for text in texts]
    assert ours == reference(texts, add_special_tokens=False)["input_ids"]


def test_riseq_has_the_vocabularies_of_both_families() -> None:
    bert, mpnet, used = (Pieces.parse(content, Path("vocab.txt")) for content in read_known_vocabularies())
    assert (len(bert), bert.cls_id, bert.pad_id) == (30522, 101, 0)
    assert (len(mpnet), mpnet.cls_id, mpnet.sep_id, mpnet.pad_id, mpnet.unk_id) == (30527, 0, 2, 1, 104)
    assert [mpnet.vocabulary[piece] - place for piece, place in bert.vocabulary.items()] == [4] * len(bert)
    dropped = [f"[unused{number}]" for number in range(994)]
    assert set(mpnet.vocabulary) - set(used.vocabulary) == set(dropped)
    assert sorted(used.vocabulary, key=used.vocabulary.__getitem__) == [
        piece for piece in sorted(mpnet.vocabulary, key=mpnet.vocabulary.__getitem__) if piece not in dropped
    ]
    assert (used.cls_id, used.sep_id, used.pad_id, used.unk_id) == (0, 2, 1, 5)
    text = "Is [unused1] a word, naïve Jørn? Or 東京 and [MASK]."
    named = {place: piece for piece, place in used.vocabulary.items()}
    assert [mpnet.vocabulary[named[place]] for place in used.encode_text(text)] == list(mpnet.encode_text(text))
