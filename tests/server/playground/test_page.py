"""The playground as a page: servers that fail, the keyboard, narrow and dark screens, barriers, links, keys."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Error, Page, Request, Route, expect

from riseq.server.engines import DummyEngine
from server.playground.visit import FILMS, OSCAR, Host, Open, asks_one, expect_answer, expect_state, make_file, say

SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def test_a_refused_question_says_why_and_the_next_one_works(
    open_page: Open, keep_picture: Callable[[Page, str], None]
) -> None:
    page = open_page()
    expect_answer(page, "Did he win an Oscar for it?")
    page.fill("#question", "Why? " * 1_000)
    notice = page.locator("#notice")
    expect_state(page, "error")
    expect(notice).to_contain_text("4000")
    expect(notice).to_contain_text("Request ")
    expect(page.locator("#answer-note")).to_contain_text("The last answer")
    page.fill("#question", OSCAR)
    expect_answer(page, "Did he win an Oscar for it?")
    expect(notice).to_be_hidden()
    page.route("**/v1/simplify", lambda route: route.fulfill(status=500, body="<h1>Oops</h1>"))
    page.fill("#question", OSCAR + "?")
    expect(notice).to_contain_text("The server answered 500.")
    keep_picture(page, "error")
    page.unroute("**/v1/simplify")
    notice.get_by_role("button", name="Try again").click()
    expect(notice).to_be_hidden()


def test_a_server_that_goes_and_comes_back_answers_what_was_typed_meanwhile(
    open_page: Open, keep_picture: Callable[[Page, str], None]
) -> None:
    host = Host(DummyEngine())
    page = open_page(host.url)
    expect_state(page, "done")
    host.stop()
    page.fill("#question", "When was Alien released?")
    expect_state(page, "gone")
    expect(page.locator("#notice")).to_contain_text(re.compile("does not answer.*safe here.*Trying again"))
    keep_picture(page, "gone")
    page.fill("#question", "When was Alien made?")
    host.start()
    expect_state(page, "done")
    expect(page.locator("#notice")).to_be_hidden()
    expect(page.locator(".toast")).to_have_text("The server is back")
    expect(page.locator(".pass[data-kind=given] .pass-text")).to_have_text("When was Alien made?")
    host.stop()


def test_a_busy_server_is_asked_again_when_it_says(open_page: Open) -> None:
    page = open_page()
    expect_answer(page, "Did he win an Oscar for it?")
    times: list[float] = []

    def refuse_once(route: Route) -> None:
        if asks_one(route.request):
            times.append(time.monotonic())
        if len(times) != 1:
            route.continue_()
            return
        error = {"error": {"code": "queue_full", "message": "the queue is full", "request_id": "1"}}
        route.fulfill(status=429, headers={"retry-after": "1"}, json=error)

    page.route("**/v1/simplify", refuse_once)
    page.fill("#question", OSCAR + "?")
    expect(page.locator("#notice")).to_contain_text("The server is busy.")
    expect_state(page, "done")
    assert len(times) == 2
    assert times[1] - times[0] > 0.9


@pytest.mark.parametrize("aborts", [True, False], ids=["called off", "though not called off"])
def test_an_older_answer_never_stands_over_a_newer_one(open_page: Open, aborts: bool) -> None:
    """The second case takes the browser's way of calling a request off away: the order alone must do."""
    script = "" if aborts else "AbortController.prototype.abort = () => {};"
    page = open_page(script=script)
    called_off: list[Request] = []
    page.on("requestfailed", lambda request: called_off.append(request))
    expect_answer(page, "Did he win an Oscar for it?")
    held: list[Route] = []

    def hold_the_first(route: Route) -> None:
        if held or not asks_one(route.request):
            route.continue_()
        else:
            held.append(route)

    page.route("**/v1/simplify", hold_the_first)
    page.get_by_role("button", name="Christopher", exact=True).click()
    expect_state(page, "loading")
    page.locator("#strength").fill("0")
    expect_answer(page, OSCAR)
    with suppress(Error):  # A request that was called off cannot be answered.
        held[0].fulfill(json={"question": OSCAR, "text": "OLD", "changed": True, "steps": [], "alternatives": []})
    page.wait_for_timeout(150)
    expect_answer(page, OSCAR)
    assert len(list(filter(asks_one, called_off))) == aborts


def test_everything_works_by_keyboard_alone(open_page: Open) -> None:
    page = open_page()
    expect_answer(page, "Did he win an Oscar for it?")
    keys = page.keyboard
    keys.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    keys.press("Enter")
    keys.press("Alt+n")
    expect(page.locator("#draft-text")).to_be_focused()
    for turn in FILMS:
        keys.type(turn)
        keys.press("Enter")
    keys.press("Enter")  # On an empty line: on to the question.
    expect(page.locator("#question")).to_be_focused()
    keys.type(OSCAR)
    keys.press("Enter")
    expect_answer(page, "Did he win an Oscar for it?")
    keys.press("Tab")
    keys.press("End")
    expect(page.locator(".word").last).to_be_focused()
    keys.press("Space")
    expect_answer(page, "Did he win an Oscar for Oppenheimer?")
    expect(page.locator(".word").last).to_be_focused()
    outline = (
        "getComputedStyle(document.activeElement).outlineStyle + getComputedStyle(document.activeElement).outlineWidth"
    )
    assert page.evaluate(outline) == "solid2px"
    keys.press("Alt+s")
    keys.press("Home")
    expect_answer(page, OSCAR)
    expect(page.locator("#strength")).to_have_attribute("aria-valuetext", "0.00, as it is")
    keys.press("Shift+Tab")
    keys.press("Enter")  # Reset, which gives the focus back to the slider.
    expect_answer(page, "Did he win an Oscar for Oppenheimer?")
    keys.press("Tab")
    expect(page.locator("#passes-copy")).to_be_focused()
    keys.press("Tab")
    expect(page.locator("#passes .edit").first).to_be_focused()
    expect(page.locator("#tip")).to_be_visible()
    keys.press("Alt+c")
    expect(page.locator(".toast")).to_have_text("Question copied")
    keys.press("?")
    expect(page.locator("#help-sheet")).to_be_visible()
    keys.press("Escape")
    expect(page.locator("#help-sheet")).to_be_hidden()
    keys.press("Alt+t")
    keys.press("Backspace")  # From the empty new turn into the last one, which Alt and an arrow move.
    keys.press("Alt+ArrowUp")
    expect(page.locator(".bubble").first).to_have_value(FILMS[1])
    expect(page.locator(".bubble").first).to_be_focused()


ATTACK = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>\'"`${window.hit=1}'


def test_nothing_that_is_written_or_answered_becomes_markup(open_page: Open) -> None:
    def answer(route: Route) -> None:
        edit = {"op": "substitute", "start": 0, "end": 3, "old": ATTACK, "new": ATTACK, "probability": 0.5}
        step = {"before": ATTACK, "text": ATTACK, "edits": [edit]}
        one = {"text": ATTACK, "changed": True, "steps": [step], "confidence": 0.5, "probability": 0.5}
        other = {**one, "text": ATTACK + "2"}
        route.fulfill(json={**one, "question": ATTACK, "truncated": False, "alternatives": [one, other]})

    page = open_page()
    images = page.locator("img").count()
    page.route("**/v1/simplify", answer)
    say(page, ATTACK, ATTACK)
    page.fill("#question", ATTACK)
    expect_answer(page, ATTACK)
    expect(page.locator("#facts")).to_contain_text("Confidence50%")
    page.locator("#passes .edit").first.hover()
    expect(page.locator("#tip")).to_contain_text("<img src=x")
    page.unroute("**/v1/simplify")
    refusal = {"error": {"code": "invalid", "message": ATTACK, "request_id": ATTACK}}
    page.route("**/v1/simplify", lambda route: route.fulfill(status=422, json=refusal))
    page.fill("#question", ATTACK + "?")
    expect(page.locator("#notice")).to_contain_text("<script>")
    assert page.locator("img").count() == images
    assert page.evaluate("window.hit") is None


def test_a_phone_has_nothing_to_scroll_sideways(open_page: Open, keep_picture: Callable[[Page, str], None]) -> None:
    page = open_page(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    expect_answer(page, "Did he win an Oscar for it?")
    expect(page.locator("#peek")).to_have_text("Did he win an Oscar for it?")
    keep_picture(page, "phone")
    say(page, "x" * 200, "Donaudampfschifffahrtsgesellschaftskapitänsmütze " * 3)
    page.fill("#question", f"What is {'y' * 120} about?")
    expect_state(page, "done")
    page.locator("#after").scroll_into_view_if_needed()
    expect(page.locator("#peek")).to_be_hidden()
    expect(page.locator("#history")).to_be_visible()  # once an answer has stood for a moment
    for width in (360, 320):
        page.set_viewport_size({"width": width, "height": 740})
        assert page.evaluate("document.documentElement.scrollWidth") == width
        # A card cuts off what is too wide for it: that would not scroll either.
        too_wide = "cards => cards.filter(card => card.scrollWidth > card.clientWidth).map(card => card.className)"
        assert page.locator(".card, .answer, .pass, .form").evaluate_all(too_wide) == []


def test_dark_follows_the_system_and_the_toggle(open_page: Open, keep_picture: Callable[[Page, str], None]) -> None:
    page = open_page(color_scheme="dark")
    expect_answer(page, "Did he win an Oscar for it?")
    brightness = "() => getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number)"
    assert max(page.evaluate(brightness)) < 40
    keep_picture(page, "dark")
    page.click("#theme")
    assert min(page.evaluate(brightness)) > 220
    page.reload()
    assert min(page.evaluate(brightness)) > 220
    expect(page.locator("#theme")).to_have_accessible_name(re.compile("light"))


def test_axe_finds_no_barrier_by_day_or_night(open_page: Open) -> None:
    page = open_page(color_scheme="light")
    expect_answer(page, "Did he win an Oscar for it?")
    page.get_by_role("button", name="Oppenheimer", exact=True).click()
    expect_answer(page, "Did he win an Oscar for Oppenheimer?")
    expect(page.locator("#compare-block")).to_be_visible()
    expect(page.locator("#history")).to_be_visible()
    page.get_by_role("button", name="origin", exact=True).click()
    expect(page.locator("#models [data-name=origin]")).to_have_attribute("data-state", "done")
    for scheme, width in zip(SCHEMES, (1280, 360), strict=True):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 860})
        assert _find_barriers(page) == []
    page.get_by_role("tab", name="A file").click()
    rows = '{"question": "When was Alien released?", "context": ["Who directed Alien?"], "n": 1}\n{"question": ""}'
    page.set_input_files("#file-field", make_file("a.jsonl", rows))
    expect(page.locator("#file-csv")).to_be_visible()
    assert _find_barriers(page) == []
    page.goto(page.url.partition("#")[0] + "docs")
    page.locator("summary").first.click()
    assert _find_barriers(page) == []


def _find_barriers(page: Page) -> list[object]:
    found = Axe().run(page).response["violations"]
    return [(one["id"], [node["target"] for node in one["nodes"]]) for one in found]


def test_motion_stops_where_it_is_not_wanted(open_page: Open) -> None:
    moves = "getComputedStyle(document.querySelector('.turn')).animationName"
    page = open_page(reduced_motion="no-preference")
    expect(page.locator(".turn")).to_have_count(2)
    assert page.evaluate(moves) == "rise"
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate(moves) == "none"


def test_a_key_is_asked_for_and_kept_to_the_tab(open_page: Open, keep_picture: Callable[[Page, str], None]) -> None:
    host = Host(DummyEngine(), api_key="opensesame")
    page = open_page(host.url)
    expect(page.locator("#key")).to_be_visible()
    keep_picture(page, "key")
    page.fill("#key-text", "wrong")
    page.press("#key-text", "Enter")
    expect(page.locator("#notice")).to_contain_text("That key was not accepted.")
    page.fill("#key-text", "opensesame")
    page.press("#key-text", "Enter")
    expect_state(page, "done")
    expect(page.locator("#key")).to_be_hidden()
    page.reload()
    expect_state(page, "done")
    assert "opensesame" not in page.locator("#code-text").inner_text()
    assert "RISEQ_API_KEY" in page.locator("#code-text").inner_text()
    assert "opensesame" not in page.evaluate("JSON.stringify(localStorage)")
    host.stop()


def test_a_link_brings_the_whole_page_to_another_browser(open_page: Open, host: Host) -> None:
    page = open_page()
    say(page, "Wer führte Regie bei »Alien«? 👽", "Ridley Scott.")
    page.fill("#question", OSCAR)
    page.get_by_role("button", name="Oscar", exact=True).click()
    page.locator("#strength").fill("0.7")
    page.click("#share")
    expect(page.locator(".toast")).to_have_text("Link copied")
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.startswith(f"{host.url}#s=")
    other = open_page(link)
    expect(other.locator(".bubble").first).to_have_value("Wer führte Regie bei »Alien«? 👽")
    expect(other.locator("#question")).to_have_value(OSCAR)
    expect(other.get_by_role("button", name="Oscar", exact=True)).to_have_attribute("aria-pressed", "true")
    expect(other.locator("#strength-value")).to_have_text("0.70")
    other.fill("#question", "Changed?")  # From here on the link no longer says what is on the page.
    expect(other).to_have_url(host.url)
    broken = open_page(f"{host.url}#s=%%%")
    expect(broken.locator(".toast")).to_contain_text("damaged")


def test_the_draft_survives_a_reload(open_page: Open) -> None:
    page = open_page()
    say(page, "Who directed Alien?")
    page.fill("#question", "When was Alien released?")
    page.reload()
    expect(page.locator(".bubble").first).to_have_value("Who directed Alien?")
    expect_answer(page, "When was it released?")


def test_a_dialogue_too_long_to_read_whole_says_so(open_page: Open) -> None:
    page = open_page()
    say(page, "Who directed Alien? " * 400)
    page.fill("#question", "When was Alien released?")
    expect_state(page, "done")
    expect(page.locator("#notice")).to_contain_text("Only part of this was read.")
