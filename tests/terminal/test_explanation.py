"""An explanation as people see it."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

from rich.console import Console

from riseq.core.edits import Op
from riseq.terminal.results import explain
from riseq.types import Mention, Simplification, Step, TextEdit

FIRST = TextEdit(Op.SUBSTITUTE, 9, 14, "Alien", "it", 0.914)
SECOND = TextEdit(Op.DELETE, 18, 22, "here", "", 0.3)
ADDED = TextEdit(Op.INSERT, 0, 0, "", "So", None)
RESULT = Simplification(
    "When was Alien shown here?",
    "So when was it shown?",
    (Step("When was it shown here?", (FIRST,)), Step("So when was it shown?", (ADDED, SECOND))),
    truncated=True,
)


def test_a_pipe_gets_plain_lines() -> None:
    file = StringIO()
    explain(Console(file=file, width=20), RESULT)
    assert file.getvalue().splitlines() == [
        "question    When was Alien shown here?",
        "pass 1      When was [-Alien-]{+it+} shown here?",
        "             91%  substitute Alien → it",
        "pass 2      {+So+} When was it shown [-here-]?",
        "            insert So",
        "             30%  delete here",
        "result      So when was it shown?",
        "note        not all of the dialogue or the question was read",
    ]


def test_an_edit_names_what_it_refers_to() -> None:
    edit, file = replace(FIRST, refers_to=Mention(1, 0, 5)), StringIO()
    result = Simplification("When was Alien shown?", "When was it shown?", (Step("When was it shown?", (edit,)),))
    explain(Console(file=file, width=200), result, ["Hello.", "Alien is a film."])
    assert '                  refers to "Alien" (utterance 2)' in file.getvalue().splitlines()


def test_a_question_that_stays_says_so() -> None:
    file = StringIO()
    explain(Console(file=file), Simplification("Why?", "Why?"))
    assert file.getvalue().splitlines() == ["question    Why?", "            nothing to edit", "result      Why?"]


def test_confidence_and_alternatives_stand_below() -> None:
    file = StringIO()
    milder = Simplification("Who is Al?", "Who is Al?", probability=0.25)
    chosen = Simplification("Who is Al?", "Who is he?", probability=0.7, confidence=0.874)
    explain(Console(file=file), replace(chosen, alternatives=(milder, chosen)))
    assert file.getvalue().splitlines()[-4:] == [
        "result      Who is he?",
        "confidence  87%",
        "forms        25%  Who is Al?",
        "             70%  Who is he?",
    ]


def test_a_terminal_gets_colours_and_no_marks() -> None:
    file = StringIO()
    explain(Console(file=file, force_terminal=True, color_system="standard", width=80), RESULT)
    assert "[-" not in file.getvalue()
    assert "\x1b[9;31mAlien\x1b[0m" in file.getvalue()
    assert "\x1b[31m 30%  \x1b[0m" in file.getvalue()
