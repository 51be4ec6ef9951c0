"""The way back in the playground: its tab, the edits with the mentions they came from, and a server without a model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from riseq.server.engines import DummyEngine, Engine
from riseq.server.models import NO_RESOLVER
from riseq.types import InputError
from server.playground.visit import FILMS, OSCAR, Host, Open, expect_answer, expect_state, say
from tiny_resolver import export_tiny_resolver

SAID = ["Tell me about NASA.", "It is well known."]
ASKED, WHOLE = "Did it win a prize?", "Did NASA win a prize?"
STILL = "Did he win an Oscar for it?"


@pytest.fixture(scope="module")
def resolving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server whose resolver is the small one of the tests."""
    model = export_tiny_resolver(tmp_path_factory.getbasetemp(), "float32")[1]
    running = Host(DummyEngine(), resolve_model=model, threads=1)
    yield running.url
    running.stop()


def go_back(page: Page) -> None:
    page.get_by_role("tab", name="The way back").click()
    expect(page.get_by_role("tab", name="The way back")).to_have_attribute("aria-selected", "true")


def ask(page: Page) -> None:
    say(page, *SAID)
    page.fill("#question", ASKED)
    expect_answer(page, WHOLE)


def test_a_question_is_resolved_and_each_insertion_shows_its_mention(open_page: Open, resolving: str) -> None:
    page = open_page(resolving)
    go_back(page)
    expect(page.get_by_role("heading", name="The question in full")).to_be_visible()
    expect(page.get_by_label("The next question, as it was asked")).to_be_visible()
    paths: list[str] = []
    page.on("request", lambda request: paths.append(request.url.rpartition("/v1/")[2]))
    ask(page)
    expect(page.locator("#answer mark")).to_have_text("NASA")
    expect(page.locator("#kept")).to_have_text("Put in from the dialogue: “NASA” (turn 1)")
    edit = page.locator("#passes .edit")
    told = re.compile(r"^it → NASA: replaced, probability .*%, refers to turn 1$")
    expect(edit).to_have_attribute("aria-label", told)
    edit.hover()
    expect(page.locator("#tip")).to_contain_text("turn 1 says “NASA”")
    expect(page.locator(".turn").first.locator(".mention mark")).to_have_text("NASA")
    expect(page.locator("#live")).to_have_text(f"In full: {WHOLE}")
    expect(page.locator("#code-text")).to_contain_text("/v1/resolve")
    page.click("#tab-python")
    expect(page.locator("#code-text")).to_contain_text("result = client.resolve(")
    expect(page.locator("#compare-block")).to_be_visible()
    assert set(paths) - {"models"} == {"resolve"}  # a slow page asks for the models only now
    expect(page.locator("#model")).to_have_text("float32")
    page.click("#wrong")
    expect(page.locator(".toast")).to_contain_text("Issue text copied")
    issue = str(page.evaluate("navigator.clipboard.readText()"))
    for part in (f"The question as it was asked:\n```text\n{ASKED}\n", "The question in full:\n", ", float32\n"):
        assert part in issue
    page.fill("#question", WHOLE)
    expect_answer(page, WHOLE)
    expect(page.locator("#answer-note")).to_have_text("It stays as it is: the model would put nothing in.")
    expect(page.locator("#kept")).to_have_text("")


def test_the_tab_by_keyboard_alone_and_by_axe(open_page: Open, resolving: str) -> None:
    page = open_page(resolving)
    expect_state(page, "done")
    page.focus("#mode-one")
    page.keyboard.press("End")
    expect(page.locator("#mode-resolve")).to_be_focused()
    expect(page.get_by_role("tabpanel", name="The way back")).to_be_visible()
    expect(page.locator("#file")).to_be_hidden()
    page.keyboard.press("Alt+n")  # it starts over, and stays on this side
    expect(page.locator("#draft-text")).to_be_focused()
    for line in SAID:
        page.keyboard.type(line)
        page.keyboard.press("Enter")
    page.keyboard.press("Alt+q")
    page.keyboard.type(ASKED)
    expect_answer(page, WHOLE)
    expect(page.locator("#mode-resolve")).to_have_attribute("aria-selected", "true")
    page.locator("#passes .edit").focus()
    expect(page.locator("#tip")).to_contain_text("turn 1 says “NASA”")
    page.keyboard.press("Escape")
    expect(page.locator("#tip")).to_be_hidden()
    assert Axe().run(page).response["violations"] == []
    page.focus("#mode-resolve")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tabpanel", name="One question")).to_be_visible()
    expect(page.get_by_role("heading", name="What a person would ask")).to_be_visible()


def test_an_example_changes_its_form_and_ones_own_question_stays(open_page: Open, resolving: str) -> None:
    page = open_page(resolving)
    expect(page.locator("#question")).to_have_value(OSCAR)
    go_back(page)
    expect(page.locator("#question")).to_have_value(STILL)
    expect(page.locator("#examples [aria-pressed=true]")).to_have_count(1)
    page.keyboard.press("Alt+x")
    expect(page.locator("#question")).to_have_value("Which neighbourhood is best for a first visit?")
    page.get_by_role("tab", name="One question").click()
    expect(page.locator("#question")).to_have_value("Which neighbourhood of Lisbon is best for a first visit?")
    say(page, *FILMS)
    page.fill("#question", "Is this my own?")
    expect_answer(page, "Is this my own?")
    go_back(page)
    expect(page.locator("#question")).to_have_value("Is this my own?")


def test_a_link_a_reload_and_the_history_know_the_direction(open_page: Open, resolving: str) -> None:
    page = open_page(resolving)
    go_back(page)
    ask(page)
    page.click("#share")
    link = str(page.evaluate("navigator.clipboard.readText()"))
    page.reload()
    expect_answer(page, WHOLE)
    expect(page.locator("#mode-resolve")).to_have_attribute("aria-selected", "true")
    other = open_page(link)
    expect_answer(other, WHOLE)
    expect(other.get_by_role("tabpanel", name="The way back")).to_be_visible()
    expect(other.locator(".past")).to_have_count(1)
    other.get_by_role("tab", name="One question").click()
    expect_answer(other, ASKED)  # The dummy leaves it as it is.
    other.locator(".past", has_text=WHOLE).click()
    expect_answer(other, WHOLE)
    expect(other.locator("#mode-resolve")).to_have_attribute("aria-selected", "true")


def test_without_a_model_the_tab_says_so_and_the_other_goes_on(
    open_page: Open, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> Path:
        raise InputError("no such model")

    monkeypatch.setattr("riseq.server.models.find_resolve_model", refuse)
    host = Host(engine)
    page = open_page(host.url)
    expect_answer(page, STILL)
    picks = page.locator("#models-picks button")
    expect(page.locator("#models-block")).to_be_visible()
    offered = picks.count()
    go_back(page)
    expect_state(page, "error")
    expect(picks).to_have_count(0)  # None of them goes this way.
    expect(page.locator("#notice")).to_contain_text(NO_RESOLVER)
    expect(page.locator("#answer")).to_be_hidden()  # What the other direction said is no answer here.
    page.get_by_role("tab", name="One question").click()
    expect_answer(page, STILL)
    expect(page.locator("#notice")).to_be_hidden()
    expect(picks).to_have_count(offered)
    host.stop()


@pytest.mark.parametrize("width", [320, 390, 768])
def test_the_tabs_fit_a_narrow_screen(open_page: Open, resolving: str, width: int) -> None:
    page = open_page(resolving, viewport={"width": width, "height": 800})
    go_back(page)
    ask(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    boxes = [tab.bounding_box() for tab in page.locator(".modes [role=tab]").all()]
    assert len(boxes) == 3
    for box in boxes:
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert box["height"] >= 24
    assert len({box["y"] for box in boxes if box}) == 1, "in one row"
