"""Words are BERT's basic tokens, each where the user wrote it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import PreTokenizedString
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from riseq.text.words import Word, forms, split

NORMALIZER = BertNormalizer(clean_text=True, handle_chinese_chars=True, strip_accents=True, lowercase=True)


def bert(text: str) -> list[str]:
    string = PreTokenizedString(text)
    string.normalize(NORMALIZER.normalize)
    BertPreTokenizer().pre_tokenize(string)
    return [form for form, _, _ in string.get_splits()]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", []),
        (" \t\n ", []),
        ("Didn't Zappa?", ["Didn", "'", "t", "Zappa", "?"]),
        ("Beyoncé", ["Beyoncé"]),
        ("cafe\u0301 ole\u0301!", ["cafe\u0301", "ole\u0301", "!"]),  # the accent belongs to the letter before it
        ("I ❤\ufe0f you", ["I", "❤\ufe0f", "you"]),  # the heart's variation selector
        ("👨\u200d👩\u200d👧 went", ["👨\u200d👩\u200d👧", "went"]),  # joined emoji
        ("wo\u200brd\u200b x", ["wo\u200brd\u200b", "x"]),  # zero-width space
        ("a\x00b \x07c", ["a\x00b", "c"]),  # control characters; the bell stands between the words
        ("\ufeffwhat", ["what"]),  # a byte order mark before the first word
        ("ＷＨＡＴ？", ["ＷＨＡＴ", "？"]),
        ("北京 in北", ["北", "京", "in", "北"]),
        ("İstanbul ẞ ΣΑΣ", ["İstanbul", "ẞ", "ΣΑΣ"]),  # lower-casing changes lengths
        ("한국어?", ["한국어", "?"]),  # decomposition makes one letter three
        ("a\ud800b c", ["a\ud800b", "c"]),  # half a surrogate pair
        ("[SEP] [CLS]", ["[", "SEP", "]", "[", "CLS", "]"]),  # a user cannot write our marks
        ("rock_n_roll $5", ["rock", "_", "n", "_", "roll", "$", "5"]),
    ],
)
def test_spans_are_what_the_user_wrote(text: str, wanted: list[str]) -> None:
    assert [text[word.start : word.end] for word in split(text)] == wanted


def test_forms_are_cleaned_lower_cased_and_without_accents() -> None:
    assert forms("Ｗhere did BEYONCÉ go?\x07") == ["ｗhere", "did", "beyonce", "go", "?"]
    assert split("Où ça") == [Word("ou", 0, 2), Word("ca", 3, 5)]


@given(st.text(st.characters(exclude_categories=["Cs"])) | st.text(st.characters(max_codepoint=127)))
def test_forms_are_berts_on_any_text(text: str) -> None:
    assert forms(text) == [word.form for word in split(text)] == bert(text)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_every_span_reads_as_its_form_and_nothing_is_left_between(text: str) -> None:
    end = 0
    for word in split(text):
        assert forms(text[word.start : word.end]) == [word.form]
        assert not bert(text[end : word.start])
        assert end <= word.start < word.end
        end = word.end
    assert not bert(text[end:])


@given(st.text())
def test_any_python_string_can_be_split(text: str) -> None:
    assert all(0 <= word.start < word.end <= len(text) for word in split(text))


def test_forms_are_berts_on_real_questions(data_dir: Path) -> None:
    with gzip.open(data_dir / "canard" / "train.all.jsonl.gz", "rt", encoding="utf-8") as lines:
        questions = [json.loads(line)["question"] for _, line in zip(range(3000), lines, strict=False)]
    assert [forms(question) for question in questions] == [bert(question) for question in questions]
