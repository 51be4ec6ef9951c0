"""What a person writes and asks for in the playground, and what the page shows for it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable

from playwright.sync_api import Page, Route, expect

from riseq.server.engines import Engine
from server.playground.visit import FILMS, OSCAR, Open, expect_answer, expect_state, last_request, say


def test_the_first_example_is_there_at_once(open_page: Open, keep_picture: Callable[[Page, str], None]) -> None:
    page = open_page()
    expect_answer(page, "Did he win an Oscar for it?")
    expect(page.locator("#model")).to_contain_text("int8")
    expect(page.locator("mark")).to_have_text(["he", "it"])
    keep_picture(page, "desktop")


def test_whoever_is_quicker_than_the_examples_keeps_what_they_wrote(open_page: Open) -> None:
    held: list[Route] = []
    page = open_page(route=("**/examples.json", lambda route: held.append(route)))
    page.fill("#question", "Who am I?")
    held[0].continue_()
    expect(page.locator("#examples button")).to_have_count(6)
    expect_answer(page, "Who am I?")
    expect(page.locator("#answer-note")).to_contain_text("No dialogue comes before it")
    expect(page.locator("#question")).to_have_value("Who am I?")
    expect(page.locator(".turn")).to_have_count(0)


def test_a_typed_dialogue_and_question_give_the_engines_answer(open_page: Open) -> None:
    page = open_page()
    say(page, "Where did Emily Dickinson live?", "In Amherst, Massachusetts.")
    assert page.locator(".turn").evaluate_all("turns => turns.map(turn => turn.dataset.speaker)") == [
        "user",
        "assistant",
    ]
    page.locator("#question").press_sequentially("What is Emily Dickinson's most famous poem?", delay=2)
    expect_answer(page, "What is her most famous poem?")
    expect(page.locator("#live")).to_have_text("Would ask: What is her most famous poem?")
    expect(page.locator("#facts")).to_contain_text("7 → 6")


def test_turns_are_edited_deleted_brought_back_and_change_speaker(open_page: Open) -> None:
    page = open_page()
    say(page, "Who directed Alien?", "Ridley Scott.")
    page.fill("#question", "When was Alien released?")
    expect_answer(page, "When was it released?")
    body = last_request(page, lambda: page.locator(".speaker").nth(1).click())
    assert [turn["role"] for turn in body["context"]] == ["user", "user"]
    body = last_request(page, lambda: page.locator(".bubble").nth(1).fill("Ridley Scott did."))
    assert body["context"][1] == {"role": "user", "content": "Ridley Scott did."}
    page.locator(".turn").nth(0).hover()
    body = last_request(page, lambda: page.locator(".turn-delete").nth(0).click())
    assert [turn["content"] for turn in body["context"]] == ["Ridley Scott did."]
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".bubble").nth(0)).to_have_value("Who directed Alien?")
    expect(page.locator(".turn")).to_have_count(2)


PASTED = [
    ("User: Who directed Alien?\nAssistant: Ridley Scott.\nHe is British.\nUser: How long is it?", "uau"),
    ("Ada: Who directed Alien?\nBen: Ridley Scott.", "ua"),
    ("Who directed Alien?\nRidley Scott.\n\nHow long is it?", "uau"),
    ("First block\nof two lines.\n\nAnd: an answer.", "ua"),
    ("System: Be brief.\nQ: Who directed Alien?\nA: Ridley Scott.", "ua"),
    (json.dumps([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": [{"text": "Yes?"}]}]), "ua"),
    (json.dumps({"context": [["Who directed it?", "Scott."]], "question": "When?"}), "ua"),
]


def test_pasted_dialogues_are_split_into_turns(open_page: Open) -> None:
    page = open_page()
    read = """async (texts) => {
        const { readDialogue } = await import("/static/paste.js");
        return texts.map((text) => readDialogue(text).turns.map((turn) => turn.speaker[0]).join(""));
    }"""
    assert page.evaluate(read, [text for text, _ in PASTED]) == [speakers for _, speakers in PASTED]
    page.click("#paste")
    page.fill("#paste-text", "User: Who directed Alien?\nAssistant: Scott.\nUser: When was Alien released?")
    expect(page.locator("#paste-found")).to_have_text("2 turns and the question found")
    page.click("#paste-use")
    expect(page.locator(".bubble")).to_have_count(2)
    expect_answer(page, "When was it released?")


def test_lines_pasted_into_the_new_turn_become_turns(open_page: Open) -> None:
    page = open_page()
    say(page)
    page.evaluate("navigator.clipboard.writeText('Who directed Alien?\\nRidley Scott.\\nHow long is it?')")
    page.focus("#draft-text")
    page.keyboard.press("Control+V")
    expect(page.locator(".bubble")).to_have_count(3)
    expect(page.locator(".bubble").nth(2)).to_have_value("How long is it?")


def test_the_slider_answers_while_it_moves(open_page: Open) -> None:
    page = open_page()
    expect_answer(page, "Did he win an Oscar for it?")
    body = last_request(page, lambda: page.locator("#strength").fill("0.2"))
    assert body["strength"] == 0.2
    expect_answer(page, "Did he win an Oscar for Oppenheimer?")
    expect(page.locator("#strength-value")).to_have_text("0.20")
    # The button stays down: what is seen is seen during the slide.
    box = page.locator("#strength").bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.2, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.7, middle, steps=4)
    expect_answer(page, "Did he win an Oscar for it?")
    page.mouse.up()
    page.click("#strength-reset")
    expect(page.locator("#strength-value")).to_have_text("0.50")


def test_a_clicked_word_is_protected_until_it_is_clicked_again(open_page: Open) -> None:
    page = open_page()
    expect_answer(page, "Did he win an Oscar for it?")
    word = page.get_by_role("button", name="Oppenheimer", exact=True)
    assert last_request(page, word.click)["protect"] == ["Oppenheimer"]
    expect(word).to_have_attribute("aria-pressed", "true")
    expect_answer(page, "Did he win an Oscar for Oppenheimer?")
    assert "protect" not in last_request(page, word.click)
    expect_answer(page, "Did he win an Oscar for it?")


def test_an_edit_tells_its_probability_on_hover_and_on_focus(open_page: Open) -> None:
    page = open_page()
    edits = page.locator("#passes .edit")
    expect(edits).to_have_count(2)
    expect(edits.nth(0)).to_have_accessible_name(
        re.compile("^Christopher Nolan → he: replaced, probability [1-9][0-9]?%, refers to turn 1$")
    )
    tip = page.locator("#tip")
    expect(tip).to_be_hidden()
    edits.nth(0).hover()
    expect(tip).to_contain_text(re.compile(r"Christopher Nolan → he: replaced\s*[1-9][0-9]?% probable"))
    page.mouse.move(0, 0)
    expect(tip).to_be_hidden()
    edits.nth(1).focus()
    expect(tip).to_contain_text(re.compile(r"Oppenheimer → it: replaced\s*[1-9][0-9]?% probable"))
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()


def test_an_edit_lights_up_what_it_refers_to_by_mouse_and_by_keyboard(open_page: Open) -> None:
    page = open_page()
    edits, lit = page.locator("#passes .edit"), page.locator("#turns .mention mark")
    expect(edits).to_have_count(2)
    expect(lit).to_have_count(0)
    edits.nth(0).hover()
    expect(lit).to_have_text("Christopher Nolan")
    edits.nth(1).focus()
    expect(lit).to_have_text("Oppenheimer")
    mark, bubble = lit.bounding_box(), page.locator("#turns .turn").nth(1).locator("textarea").bounding_box()
    assert mark
    assert bubble
    assert bubble["x"] < mark["x"] < mark["x"] + mark["width"] < bubble["x"] + bubble["width"]
    assert bubble["y"] < mark["y"] < mark["y"] + mark["height"] < bubble["y"] + bubble["height"]
    page.keyboard.press("Escape")
    expect(lit).to_have_count(0)


def test_other_forms_are_listed_from_mild_to_strong_and_can_be_shown(open_page: Open, engine: Engine) -> None:
    page = open_page()
    expect_answer(page, "Did he win an Oscar for it?")
    forms = page.locator("#forms .form-text > span:first-child")
    expect(forms.first).to_have_text(OSCAR)
    assert len(forms.all_inner_texts()) > 2
    page.get_by_role("button", name=re.compile("^Did he win an Oscar for Oppenheimer")).click()
    expect(page.locator("#answer")).to_have_text("Did he win an Oscar for Oppenheimer?")
    expect(page.locator("#passes .edit")).to_have_count(1)
    page.click("#copy")
    expect(page.locator(".toast")).to_have_text("Question copied")
    assert page.evaluate("navigator.clipboard.readText()") == "Did he win an Oscar for Oppenheimer?"


def test_each_example_is_loaded_by_its_button(open_page: Open) -> None:
    page = open_page()
    buttons = page.locator("#examples button")
    expect(buttons).to_have_count(6)
    for place in range(6):
        buttons.nth(place).click()
        expect(buttons.nth(place)).to_have_attribute("aria-pressed", "true")
        question = page.input_value("#question")
        expect(page.locator(".pass[data-kind=given] .pass-text")).to_have_text(question)
    expect(page.locator("#answer-note")).to_contain_text("stays as it is")  # The last one is a new topic.


def test_marks_stand_right_behind_characters_of_two_halves(open_page: Open) -> None:
    page = open_page()
    say(page, *FILMS)
    page.fill("#question", f"😀👩‍🚀 {OSCAR}")
    line = page.locator(".pass[data-kind=edit] .pass-text").first
    expect(line).to_contain_text("😀")  # the answer to this question, not to the example's
    expect(line.locator("del").first).to_have_text("Christopher Nolan")
    without_new = (
        "line => { line.querySelectorAll('ins, .gap').forEach(word => word.remove()); return line.textContent; }"
    )
    assert line.evaluate(without_new) == f"😀👩‍🚀 {OSCAR}"


def test_the_code_that_is_copied_runs(open_page: Open) -> None:
    page = open_page()
    say(page, "Who's the \"boss\" of O'Reilly's $HOME \\ `id`?", "Tim O'Reilly 😀.")
    page.fill("#question", "Where does Tim O'Reilly live?")
    expect_state(page, "done")
    answer = page.locator("#answer").inner_text()
    page.click("#code-copy")
    expect(page.locator(".toast")).to_have_text("curl command copied")
    curl = page.evaluate("navigator.clipboard.readText()")
    page.click("#tab-python")
    page.click("#code-copy")
    expect(page.locator(".toast")).to_have_text("Python copied")
    program = page.evaluate("navigator.clipboard.readText()")
    assert _run([sys.executable, "-c", program]).strip() == answer
    if shutil.which("curl") and os.name == "posix":
        assert json.loads(_run(["sh", "-c", f"{curl} --silent"]))["text"] == answer


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
