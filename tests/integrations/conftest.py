"""One small model for every tool."""

from __future__ import annotations

from pathlib import Path

import pytest

from riseq.engine.simplifier import Simplifier
from tiny_model import export_tiny, make_examples


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny exported model."""
    return export_tiny(tmp_path_factory.getbasetemp(), "bert", "float32")[1]


@pytest.fixture(scope="session")
def simplifier(model: Path) -> Simplifier:
    return Simplifier.load(model, threads=1)


@pytest.fixture(scope="session")
def rows() -> list[tuple[str, list[str]]]:
    """Questions and their dialogues."""
    return [(example.question, list(example.context)) for example in make_examples(40)]


@pytest.fixture(scope="session")
def texts(simplifier: Simplifier, rows: list[tuple[str, list[str]]]) -> list[str]:
    """What the engine makes of the rows by itself; most of them change."""
    texts = [simplifier(question, context).text for question, context in rows]
    assert sum(text != row[0] for text, row in zip(texts, rows, strict=True)) > len(rows) / 2
    return texts
