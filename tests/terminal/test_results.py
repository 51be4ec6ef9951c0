"""Edits as people see them."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from riseq.core.edits import Op
from riseq.terminal.results import mark_edits, show
from riseq.types import Example, Simplification, Step, TextEdit

REPLACED = TextEdit(Op.SUBSTITUTE, 9, 14, "Alien", "it")
DROPPED = TextEdit(Op.DELETE, 21, 25, "here", "")
ADDED = TextEdit(Op.INSERT, 20, 20, "", "then")
FIRST = TextEdit(Op.INSERT, 0, 0, "", "So")
TEXT = "When was Alien shown here?"

CASES = [
    ([], "When was Alien shown here?"),
    ([REPLACED], "When was [-Alien-]{+it+} shown here?"),
    ([DROPPED], "When was Alien shown [-here-]?"),
    ([ADDED], "When was Alien shown {+then+} here?"),
    ([FIRST], "{+So+} When was Alien shown here?"),
    ([DROPPED, REPLACED], "When was [-Alien-]{+it+} shown [-here-]?"),
]


@pytest.mark.parametrize(("edits", "expected"), CASES)
def test_marks(edits: list[TextEdit], expected: str) -> None:
    assert mark_edits(TEXT, edits, marked=True).plain == expected


def test_styles_strike_what_goes_and_keep_the_text_clean() -> None:
    text = mark_edits(TEXT, [REPLACED], marked=False)
    assert text.plain == "When was Alien it shown here?"
    assert {(text.plain[span.start : span.end], span.style) for span in text.spans} == {
        ("Alien", "red strike"),
        ("it", "bold green"),
    }


EXAMPLE = Example("film", ("Who directed [bold]Alien[/]?", "Is it good?"), TEXT)
RESULT = Simplification(
    TEXT,
    "When was it shown?",
    (
        Step("When was it shown here?", (REPLACED,)),
        Step("When was it shown?", (TextEdit(Op.DELETE, 18, 22, "here", ""),)),
    ),
)


def test_a_pipe_gets_a_line_a_fact() -> None:
    file = StringIO()
    show(Console(file=file, width=20), EXAMPLE, RESULT)
    assert file.getvalue().splitlines() == [
        "film",
        "  context   Who directed [bold]Alien[/]?",
        "            Is it good?",
        "  question  When was Alien shown here?",
        "  edits 1   When was [-Alien-]{+it+} shown here?",
        "  edits 2   When was it shown [-here-]?",
        "  result    When was it shown?",
        "",
    ]


def test_an_unchanged_question_says_so() -> None:
    file = StringIO()
    show(Console(file=file), Example("1", (), "Why?"), Simplification("Why?", "Why?"))
    assert "  edits     none" in file.getvalue().splitlines()


@pytest.mark.parametrize(("colours", "struck", "marked"), [("standard", True, False), (None, False, True)])
def test_a_terminal_without_colours_gets_marks(colours: str | None, struck: bool, marked: bool) -> None:
    file = StringIO()
    console = Console(file=file, force_terminal=True, color_system="standard" if colours else None, width=80)
    show(console, EXAMPLE, RESULT)
    assert ("\x1b[9;31mAlien" in file.getvalue()) is struck
    assert ("[-Alien-]{+it+}" in file.getvalue()) is marked
