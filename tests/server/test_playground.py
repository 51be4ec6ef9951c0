"""The playground in a real browser: what a person does, and what the page shows for it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import pytest
import uvicorn
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Page,
    Request,
    Route,
    expect,
    sync_playwright,
)

from chromium import ensure_chromium
from riseq.server.app import create_app
from riseq.server.engines import DummyEngine, Engine, SimplifierEngine
from riseq.server.run import listen
from riseq.server.settings import Settings

FILMS = ["Which films did Christopher Nolan direct?", "Many; his latest is Oppenheimer."]
OSCAR = "Did Christopher Nolan win an Oscar for Oppenheimer?"
WAIT_MS = 10_000
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
Open = Callable[..., Page]


class Host:
    """A server in a thread, that can go away and come back at the same address."""

    def __init__(self, engine: Engine, **settings: Any) -> None:
        self._engine, self._settings = engine, Settings(**settings)
        self._port = 0
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/"

    def start(self) -> None:
        listener = listen("127.0.0.1", self._port)
        self._port = listener.getsockname()[1]
        app = create_app(self._settings, self._engine)
        self._server = uvicorn.Server(
            uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=1)
        )
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [listener]}, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(10)
        assert not self._thread.is_alive()


@pytest.fixture(scope="module")
def engine() -> Engine:
    return SimplifierEngine.load(None, 1)


@pytest.fixture(scope="module")
def host(engine: Engine) -> Iterator[Host]:
    running = Host(engine)
    yield running
    running.stop()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = ensure_chromium()
    if chromium is None:
        pytest.skip("no chromium here, and none could be installed; RISEQ_CHROMIUM names one")
    with sync_playwright() as started:
        launched = started.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        yield launched
        launched.close()


def make_context(browser: Browser, **options: Any) -> BrowserContext:
    usual = {"viewport": {"width": 1280, "height": 860}, "reduced_motion": "reduce"}
    context = browser.new_context(**{**usual, **options})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    context.set_default_timeout(WAIT_MS)
    return context


@pytest.fixture(scope="module")
def usual_context(browser: Browser) -> Iterator[BrowserContext]:
    """What most pages share, the files they loaded among it; what is written is each tab's own."""
    context = make_context(browser)
    yield context
    context.close()


@pytest.fixture
def open_page(browser: Browser, usual_context: BrowserContext, host: Host) -> Iterator[Open]:
    """A function that opens the playground; at the end no page may have failed, or asked another host for anything."""
    opened: list[Page | BrowserContext] = []
    complaints: list[str] = []

    def listen_to(message: ConsoleMessage) -> None:
        # The browser itself notes each answer that is not a 2xx; the page's own word on it is tested.
        if message.type in ("error", "warning") and not message.text.startswith("Failed to load resource"):
            complaints.append(message.text)

    def watch(request: Request, home: str) -> None:
        if not request.url.startswith((home, "data:", "blob:")):
            complaints.append(f"asked for {request.url}")

    def make(url: str | None = None, script: str = "", route: tuple[str, Any] | None = None, **options: Any) -> Page:
        context = make_context(browser, **options) if options else usual_context
        page = context.new_page()
        opened.append(context if options else page)
        page.on("console", listen_to)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        address = url or host.url
        page.on("request", lambda request: watch(request, address.partition("#")[0]))
        if script:
            page.add_init_script(script)
        if route:
            page.route(*route)
        page.goto(address)
        return page

    expect.set_options(timeout=WAIT_MS)
    yield make
    for one in opened:
        one.close()
    assert complaints == []


@pytest.fixture
def keep_picture(root: Path) -> Callable[[Page, str], None]:
    """A function that keeps a screenshot under runs/playground, which git ignores."""
    folder = root / "runs" / "playground"
    folder.mkdir(parents=True, exist_ok=True)
    return lambda page, name: (page.screenshot(path=folder / f"{name}.png"), None)[1]


def say(page: Page, *turns: str) -> None:
    """Clear the page and type ``turns``, one after the other."""
    page.click("#clear")
    for turn in turns:
        page.fill("#draft-text", turn)
        page.press("#draft-text", "Enter")
    expect(page.locator(".turn")).to_have_count(len(turns))


def expect_state(page: Page, name: str) -> None:
    page.locator(f"#outcome[data-state={name}]").wait_for()


def expect_answer(page: Page, text: str) -> None:
    expect_state(page, "done")
    # Waited for as the page is drawn; ``expect`` looks only now and then, but tells better what it saw instead.
    with suppress(Error):
        page.locator("#answer").filter(has_text=re.compile(f"^{re.escape(text)}$")).wait_for()
    expect(page.locator("#answer")).to_have_text(text)
    expect_state(page, "done")


def last_request(page: Page, action: Callable[[], object]) -> dict[str, Any]:
    """Return the body of the request that ``action`` leads to."""
    with page.expect_request("**/v1/simplify") as found:
        action()
    body = found.value.post_data_json
    assert isinstance(body, dict)
    return body


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
        re.compile("^Replaced “Christopher Nolan” with “he”, probability [1-9][0-9]?%, refers to turn 1$")
    )
    tip = page.locator("#tip")
    expect(tip).to_be_hidden()
    edits.nth(0).hover()
    expect(tip).to_contain_text(re.compile(r"Replaced: Christopher Nolan → he\s*[1-9][0-9]?% probable"))
    page.mouse.move(0, 0)
    expect(tip).to_be_hidden()
    edits.nth(1).focus()
    expect(tip).to_contain_text(re.compile(r"Replaced: Oppenheimer → it\s*[1-9][0-9]?% probable"))
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
    without_new = "line => { line.querySelectorAll('ins').forEach(word => word.remove()); return line.textContent; }"
    assert line.evaluate(without_new) == f"😀👩‍🚀 {OSCAR}"


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
        times.append(time.monotonic())
        if len(times) > 1:
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
        if held:
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
    assert len(called_off) == aborts


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
    for scheme, width in zip(SCHEMES, (1280, 360), strict=True):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 860})
        found = Axe().run(page).response["violations"]
        assert [(one["id"], [node["target"] for node in one["nodes"]]) for one in found] == []


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
