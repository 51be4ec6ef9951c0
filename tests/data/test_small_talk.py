"""The small talk that training leaves as it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from riseq.data.corpora import read_small_talk
from riseq.types import InputError


def test_the_shipped_file_has_many_kinds_and_nothing_twice(root: Path) -> None:
    path = root / "data" / "everyday" / "small_talk.jsonl"
    texts = list(read_small_talk(path))
    assert len(texts) == len(set(texts)) > 300
    kinds = {json.loads(line)["kind"] for line in path.read_text(encoding="utf-8").splitlines()}
    assert kinds >= {"greeting", "thanks", "yes-no", "statement", "other-language"}


@pytest.mark.parametrize("line", ['{"kind": "x"}', '{"text": " "}', "[]", "", "{"], ids=str)
def test_a_line_without_a_text_is_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_text(f'{{"text": "Hi"}}\n{line}\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"talk\.jsonl, line 2: expected an object with a text"):
        list(read_small_talk(path))
