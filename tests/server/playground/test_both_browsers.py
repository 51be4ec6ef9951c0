"""The main flows in Chromium and in Firefox: simplify, touch an edit, paste, a file, models, the keyboard alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from server.playground.conftest import WAIT_MS
from server.playground.visit import FILMS, OSCAR, Host, expect_answer, make_file, say

ANSWER = "Did he win an Oscar for it?"


@pytest.fixture(scope="module", params=["chromium", "firefox"])
def context(request: pytest.FixtureRequest) -> Iterator[BrowserContext]:
    browser: Browser = request.getfixturevalue("browser" if request.param == "chromium" else "firefox")
    opened = browser.new_context(viewport={"width": 1280, "height": 860})
    opened.set_default_timeout(WAIT_MS)
    yield opened
    opened.close()


@pytest.fixture
def page(context: BrowserContext, host: Host) -> Iterator[Page]:
    """The playground, which must not fail anywhere."""
    complaints: list[str] = []
    opened = context.new_page()
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("console", lambda one: complaints.append(one.text) if one.type == "error" else None)
    opened.goto(host.url)
    expect.set_options(timeout=WAIT_MS)
    yield opened
    opened.close()
    assert complaints == []


def test_a_question_is_answered_an_edit_lights_up_its_mention_and_others_stand_beside(page: Page) -> None:
    say(page, *FILMS)
    page.fill("#question", OSCAR)
    expect_answer(page, ANSWER)
    expect(page.locator("#kept")).to_have_text("Kept because only the question says it: “win”, “Oscar”")
    page.locator("#passes .edit").first.hover()
    expect(page.locator("#tip")).to_be_visible()
    expect(page.locator(".turn mark")).to_have_text("Christopher Nolan")
    # What lies over the turn hides nothing of it.
    expect(page.locator(".turn .mention")).to_have_css("background-color", "rgba(0, 0, 0, 0)")
    page.get_by_role("button", name="origin", exact=True).click()
    expect(page.locator("#models [data-name=origin]")).to_contain_text(OSCAR)
    page.locator("#strength").fill("0")
    expect_answer(page, OSCAR)


def test_a_dialogue_is_pasted_and_an_assistants_turn_is_not_the_question(page: Page) -> None:
    expect_answer(page, ANSWER)
    page.click("#clear")
    page.click("#paste")
    page.fill("#paste-text", "User: Who directed Alien?\nAssistant: Ridley Scott, in 1979.")
    page.keyboard.press("Control+A")
    page.keyboard.press("Control+C")
    page.keyboard.press("Escape")
    page.focus("#question")
    page.keyboard.press("Control+V")
    expect(page.locator(".bubble")).to_have_count(2)
    expect(page.locator("#question")).to_have_value("")
    page.keyboard.type("When was Alien released?")
    expect_answer(page, "When was it released?")


def test_a_file_is_read_and_done(page: Page) -> None:
    page.get_by_role("tab", name="A file").click()
    row = '{"question": "When was Alien released?", "context": ["Who directed Alien?"]}\n'
    page.locator("#file-field").set_input_files(make_file("asked.jsonl", row))
    expect(page.locator("#file-status")).to_have_text("asked.jsonl: 1 of 1 question done, at strength 0.5.")
    expect(page.locator("#file-rows")).to_contain_text("When was it released?")
    expect(page.locator("#file-jsonl")).to_be_visible()


def test_the_keyboard_is_enough(page: Page) -> None:
    expect_answer(page, ANSWER)
    keys = page.keyboard
    keys.press("Alt+n")
    for turn in FILMS:
        keys.type(turn)
        keys.press("Enter")
    keys.press("Enter")
    expect(page.locator("#question")).to_be_focused()
    keys.type(OSCAR)
    keys.press("Enter")
    expect_answer(page, ANSWER)
    keys.press("Alt+w")
    keys.press("End")
    keys.press("Space")  # The last word is protected.
    expect_answer(page, "Did he win an Oscar for Oppenheimer?")
    keys.press("?")
    expect(page.locator("#help-sheet")).to_be_visible()
    keys.press("Escape")
    expect(page.locator("#help-sheet")).to_be_hidden()
