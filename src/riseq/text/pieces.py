"""Words to the word pieces a network reads, and the paper's scoring form of a text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tokenizers import Token
from tokenizers.models import WordPiece

from riseq.text.words import read_forms, remember, split
from riseq.types import InputError

CACHED_WORDS = 100_000
"""How many words' pieces are remembered; CANARD has about 30,000 different words."""

_MAX_CHARACTERS = 100  # BERT gives up on a longer word and calls it unknown.

# MPNet's vocabulary is BERT's with its own four marks put first, and its networks know those: they win where present.
_SPECIALS = (("<s>", "[CLS]"), ("</s>", "[SEP]"), ("<pad>", "[PAD]"), ("[UNK]", "<unk>"))


class Pieces:
    """A word-piece vocabulary (BERT's or MPNet's) that cuts words, as ``riseq.text.words`` makes them, into pieces."""

    def __init__(self, vocabulary: Mapping[str, int], source: str = "the vocabulary") -> None:
        """Make the cutter of a vocabulary, piece -> id; ``source`` names it in errors."""
        self._vocabulary, self._source = dict(vocabulary), source
        specials = [next((name for name in names if name in vocabulary), "") for names in _SPECIALS]
        if "" in specials:
            missing = " or ".join(_SPECIALS[specials.index("")])
            raise InputError(f"{source}: no special piece {missing}; expected a BERT or MPNet vocabulary")
        self.cls_id, self.sep_id, self.pad_id, self.unk_id = (self._vocabulary[piece] for piece in specials)
        self._model = WordPiece(self._vocabulary, unk_token=specials[3], max_input_chars_per_word=_MAX_CHARACTERS)
        self.cut = lru_cache(maxsize=CACHED_WORDS)(self._cut)
        """The ids of one word's pieces, never empty."""
        self.cut_text = remember(self._cut_text)
        """The ids of the pieces of each word of a text."""
        self.encode_text = remember(self._encode_text)
        """The ids of the pieces of all words of a text in a row."""

    @classmethod
    def load(cls, path: str | Path) -> Pieces:
        """Return the vocabulary in a ``tokenizer.json``, a ``vocab.txt``, or a folder that has one of them."""
        path = Path(path)
        if path.is_dir():
            found = next((path / name for name in ("tokenizer.json", "vocab.txt") if (path / name).is_file()), None)
            if found is None:
                raise InputError(f"{path}: no vocabulary in this folder; expected tokenizer.json or vocab.txt")
            path = found
        try:
            content = path.read_bytes()
        except OSError as error:
            raise InputError(f"{path}: cannot read the vocabulary ({error.strerror})") from error
        return cls.parse(content, path)

    @classmethod
    def parse(cls, content: bytes, path: Path) -> Pieces:
        """Return the vocabulary that a file at ``path`` has with this content."""
        try:
            text = content.decode()
        except UnicodeDecodeError as error:
            raise InputError(f"{path}: not UTF-8 text at byte {error.start}; expected a vocabulary") from error
        if path.suffix == ".json":
            return cls(_read_json(text, path), str(path))
        # str.splitlines would also break at the exotic line ends that are pieces of their own in BERT's vocabulary.
        lines = text.removesuffix("\n").split("\n")
        return cls({line.rstrip("\r"): index for index, line in enumerate(lines)}, str(path))

    def __len__(self) -> int:
        return len(self._vocabulary)

    @property
    def vocabulary(self) -> Mapping[str, int]:
        """The id of each piece."""
        return MappingProxyType(self._vocabulary)

    def __reduce__(self) -> tuple[type[Pieces], tuple[dict[str, int], str]]:
        # The cache and the compiled model don't travel to another process; the vocabulary does.
        return Pieces, (self._vocabulary, self._source)

    def _cut(self, word: str) -> tuple[int, ...]:
        return tuple(token.id for token in self._tokenize(word))

    def _cut_text(self, text: str) -> tuple[tuple[int, ...], ...]:
        return tuple(map(self.cut, read_forms(text)))

    def _encode_text(self, text: str) -> tuple[int, ...]:
        return tuple(chain.from_iterable(self.cut_text(text)))

    def encode(self, words: Iterable[str]) -> list[int]:
        """Return the ids of the pieces of all ``words`` in a row; no special pieces are added."""
        return [piece for word in words for piece in self.cut(word)]

    def spell(self, word: str) -> tuple[str, ...]:
        """Return the pieces of one word as strings, ``##`` on all but the first."""
        return tuple(token.value for token in self._tokenize(word))

    def save(self, path: str | Path) -> None:
        """Write the vocabulary to ``path`` in the form of ``vocab.txt``: one piece a line, in the order of ids."""
        ordered = sorted(self._vocabulary, key=self._vocabulary.__getitem__)
        if [self._vocabulary[piece] for piece in ordered] != list(range(len(ordered))):
            raise ValueError(f"{self._source}: its ids are not 0 to {len(ordered) - 1}; line numbers can't say them")
        Path(path).write_text("".join(f"{piece}\n" for piece in ordered), encoding="utf-8", newline="\n")

    def _tokenize(self, word: str) -> list[Token]:
        if not word:
            raise ValueError("an empty word has no pieces")
        return self._model.tokenize(word)


def _read_json(text: str, path: Path) -> dict[str, int]:
    try:
        settings: Any = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{path}, line {error.lineno}: not JSON ({error.msg}); expected a tokenizer.json") from error
    model = settings.get("model") if isinstance(settings, dict) else None
    if not isinstance(model, dict) or not isinstance(model.get("vocab"), dict):
        raise InputError(f"{path}: no field model.vocab with pieces and ids; expected a WordPiece tokenizer.json")
    if model.get("type", "WordPiece") != "WordPiece":
        raise InputError(f"{path}: model.type is {model['type']!r}; expected WordPiece")
    normalizer = settings.get("normalizer")
    if isinstance(normalizer, dict) and normalizer.get("lowercase") is False:
        raise InputError(f"{path}: normalizer.lowercase is false; expected an uncased tokenizer")
    added = settings.get("added_tokens") or []
    return {**model["vocab"], **{token["content"]: token["id"] for token in added}}


LIMIT = 30
"""How many word pieces of an utterance the paper keeps."""


def scoring_form(text: str, limit: int = LIMIT) -> str:
    """Return the first ``limit`` word pieces of ``text`` joined to words; a word BERT can't spell is ``[UNK]``."""
    pieces: list[str] = []
    for word in split(text):
        if len(pieces) >= limit:
            break
        pieces += _spell(word.form)
    return " ".join(pieces[:limit]).replace(" ##", "")


_BERT = Path(__file__).with_name("bert_uncased_vocab.txt")


@lru_cache(maxsize=1)
def load_bert_pieces() -> Pieces:
    """Return BERT's uncased vocabulary, which comes with the package; it is read once."""
    return Pieces.load(_BERT)


def read_known_vocabularies() -> Iterator[bytes]:
    """Yield the vocabularies that models need not bring, as ``vocab.txt`` has them.

    They are BERT's and MPNet's uncased ones, and MPNet's without its 994 pieces that no text has ("[unused0]").
    """
    yield (bert := _BERT.read_bytes())
    yield (mpnet := b"<s>\n<pad>\n</s>\n<unk>\n" + bert + b"<mask>\n")
    yield re.sub(rb"^\[unused\d+\]\n", b"", mpnet, flags=re.MULTILINE)


@lru_cache(maxsize=CACHED_WORDS)
def _spell(form: str) -> tuple[str, ...]:
    return load_bert_pieces().spell(form)
