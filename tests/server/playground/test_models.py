"""Models and systems side by side in the playground, and the project's links at its foot."""

from __future__ import annotations

import json
from importlib.util import find_spec
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from riseq.server.engines import DummyEngine
from riseq.systems.rule import PIPELINE
from server.playground.visit import FILMS, Host, Open, expect_answer, expect_state, say

ANSWER = "Did he win an Oscar for it?"


def pick(page: Page, name: str) -> None:
    page.locator("#models-picks").get_by_role("button", name=name, exact=True).click()


def watch(page: Page) -> list[dict[str, Any]]:
    """Return a list that gets the body of each request that names a model."""
    bodies: list[dict[str, Any]] = []

    def look(text: str | None) -> None:
        body = json.loads(text or "{}")
        if "model" in body:
            bodies.append(body)

    page.on("request", lambda request: look(request.post_data))
    return bodies


def test_another_answers_from_the_moment_it_is_chosen_and_follows_the_page(open_page: Open) -> None:
    page = open_page()
    asked = watch(page)
    rows = page.locator("#models .compared")
    expect_answer(page, ANSWER)
    expect(page.locator("#compare-block")).to_be_visible()
    expect(rows).to_have_count(0)
    assert asked == []
    pick(page, "large")
    large, own = page.locator("#models [data-name=large]"), page.locator("#models [data-name=default]")
    expect(large).to_have_attribute("data-state", "done")
    expect(large.locator(".form-text")).to_contain_text("Did he win an Oscar")
    expect(large.locator(".form-share")).to_contain_text("%")
    expect(own).to_contain_text("at work")
    expect(page.locator("#live")).to_contain_text("large: Did he win")
    assert [(one["model"], one.get("strength")) for one in asked] == [("large", None)]
    page.locator("#strength").fill("0.2")
    expect(own).to_contain_text("Did he win an Oscar for Oppenheimer?")
    expect(large).to_have_attribute("data-state", "done")
    say(page, FILMS[0])
    page.fill("#question", "When was Alien released?")
    expect(large).to_contain_text("When was Alien released?")
    expect(large).to_contain_text("the same")
    assert [one.get("strength") for one in asked] == [None, 0.2, None]
    pick(page, "large")
    expect(rows).to_have_count(0)
    page.fill("#question", "")
    expect_state(page, "idle")


@pytest.mark.skipif(find_spec(PIPELINE) is None, reason="the extra 'rule' is not installed")
def test_a_system_is_asked_without_the_controls_that_it_does_not_take(open_page: Open) -> None:
    page = open_page()
    asked = watch(page)
    expect_answer(page, ANSWER)
    page.locator("#strength").fill("0.7")
    pick(page, "rule")
    expect(page.locator("#models [data-name=rule]")).to_contain_text("Did Christopher Nolan win an Oscar?")
    pick(page, "origin")
    expect(page.locator("#models [data-name=origin]")).to_contain_text("the question itself")
    assert [(one["model"], sorted(one)) for one in asked] == [
        (name, ["context", "model", "question"]) for name in ("rule", "origin")
    ]


def test_one_that_fails_says_so_beside_the_answer_and_is_asked_again(open_page: Open) -> None:
    page = open_page()
    expect_answer(page, ANSWER)

    def refuse(route: Route) -> None:
        if "model" not in (route.request.post_data_json or {}):
            route.continue_()
            return
        message = "the model 'large' could not be loaded; the server's log says more"
        route.fulfill(status=500, json={"error": {"code": "failed", "message": message, "request_id": "1"}})

    page.route("**/v1/simplify", refuse)
    pick(page, "large")
    large = page.locator("#models [data-name=large]")
    expect(large).to_contain_text("No answer: the model 'large' could not be loaded")
    expect_answer(page, ANSWER)
    expect(page.locator("#notice")).to_be_hidden()
    page.unroute("**/v1/simplify")
    pick(page, "large")
    pick(page, "large")
    expect(large).to_have_attribute("data-state", "done")


@pytest.mark.parametrize("links", [{}, {"Repository": "https://example.org/riseq"}], ids=["none", "a repository"])
def test_the_foot_links_to_the_reference_and_to_where_the_project_lives_if_anywhere(
    open_page: Open, monkeypatch: pytest.MonkeyPatch, links: dict[str, str]
) -> None:
    monkeypatch.setattr("riseq.server.app.read_links", lambda: links)
    host = Host(DummyEngine(), compare=False)
    page = open_page(host.url)
    expect(page.locator("#model")).to_have_text("dummy")
    read = "links => Object.fromEntries(links.map(link => [link.textContent, link.getAttribute('href')]))"
    assert page.locator(".foot a").evaluate_all(read) == {"API reference": "docs", **links}
    expect_state(page, "done")
    expect(page.locator("#models-block")).to_be_hidden()  # There is nothing to compare on this server.
    page.locator(".foot").get_by_role("link", name="API reference").click()
    expect(page.get_by_role("heading", name="Operations")).to_be_visible()
    expect(page.get_by_text("Try it").first).to_be_visible()  # The page has all it asked for.
    host.stop()
