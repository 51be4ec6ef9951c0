"""The playground from phone to wide screen, by keyboard: nothing is cut off, covered or out of reach."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from server.playground.visit import Host, Open, expect_answer, make_file

STILL = "Did he win an Oscar for it?"
CONTROLS = "button, a[href], textarea, input, summary, [role=tab], #answer"

# What a person sees of the controls: those of no size or in a closed dialog are not there.
FIND = """(selector) => [...document.querySelectorAll(selector)].filter((one) =>
    one.checkVisibility({ visibilityProperty: true }) && !one.matches(".peek, .skip, .hidden, .hidden *"))"""
OVERLAPS = f"""(selector) => {{
    const boxes = ({FIND})(selector).map((one) => [one, one.getBoundingClientRect()]);
    const beside = (a, b) => a.right <= b.left + 1 || b.right <= a.left + 1;
    const apart = (a, b) => beside(a, b) || a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
    const name = (one) => one.id || one.className || one.textContent;
    return boxes.flatMap(([one, box], place) => boxes.slice(place + 1)
        .filter(([other, its]) => !one.contains(other) && !other.contains(one) && !apart(box, its))
        .map(([other]) => `${{name(one)}} and ${{name(other)}}`));
}}"""
# At the top of the page only: further down, what has scrolled out lies under the top bar.
TO_TOP = "scrollTo(0, 0)"


def test_from_390_to_1600_pixels_nothing_scrolls_sideways_or_overlaps(open_page: Open) -> None:
    page = open_page(viewport={"width": 1600, "height": 900})
    expect_answer(page, STILL)
    expect(page.locator("#compare-block")).to_be_visible()
    expect(page.locator("#history")).to_be_visible()
    rows = '{"question": "When was Alien released?", "context": ["Who directed Alien?"]}\n{"question": ""}'
    page.set_input_files("#file-field", make_file(f"{'long' * 30}.jsonl", rows))
    expect(page.locator("#file")).to_have_attribute("data-state", "done")
    for width in (1600, 901, 800, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.get_by_role("tab", name="A file").click()
        page.click("#share")
        expect(page.locator(".toast")).to_have_text("Link copied")
        _check_layout(page, width)
        page.get_by_role("tab", name="One question").click()
        page.click("#wrong")
        expect(page.locator(".toast")).to_contain_text("Issue text copied")
        _check_layout(page, width)
    page.click("#clear")
    expect(page.locator(".toast")).to_have_text("All clearedUndo")
    _check_layout(page, 390)


def _check_layout(page: Page, width: int) -> None:
    """Check that nothing is wider than the screen or its card, and that no control or message lies over another."""
    page.evaluate(TO_TOP)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.locator(".top").evaluate("bar => bar.clientHeight") == 60  # A message pushes nothing away, either.
    assert page.evaluate(OVERLAPS, f"{CONTROLS}, .toast") == [], width
    cut = "cards => cards.filter(card => card.scrollWidth > card.clientWidth).map(card => card.className)"
    assert page.locator(".card, .form, .top, .toast, .past").evaluate_all(cut) == [], width


REACH = f"""(selector) => {{
    const bars = [document.querySelector(".top"), document.querySelector(".peek")];
    const hidden = [];
    for (const one of ({FIND})(selector + ", [tabindex='0']")) {{
        if (bars[0].contains(one)) continue;
        one.focus();
        const box = one.getBoundingClientRect();
        for (const bar of bars.filter((bar) => bar.checkVisibility())) {{
            const its = bar.getBoundingClientRect();
            const meets = box.bottom > its.top + 1 && box.top < its.bottom - 1;
            if (meets) hidden.push(`${{one.id || one.className}} under ${{bar.className}}`);
        }}
    }}
    return hidden;
}}"""


def test_on_a_phone_the_answer_at_the_foot_hides_nothing_and_a_tap_lights_the_mention(open_page: Open) -> None:
    page = open_page(viewport={"width": 390, "height": 740}, has_touch=True, is_mobile=True)
    expect_answer(page, STILL)
    expect(page.locator("#peek")).to_have_text(STILL)
    expect(page.locator("#history")).to_be_visible()
    assert page.evaluate(REACH, "button, a[href], textarea, input") == []
    page.evaluate(TO_TOP)
    expect(page.locator("#peek")).to_be_visible()
    page.locator("#passes .edit").nth(1).tap()  # The dialogue is out of sight: what is lit there is told here, too.
    expect(page.locator("#turns .mention mark")).to_have_text("Oppenheimer")
    expect(page.locator("#tip")).to_contain_text("turn 2 says “Oppenheimer”")
    page.evaluate(TO_TOP)
    page.get_by_role("tab", name="A file").click()
    expect(page.locator("#peek")).to_be_hidden()


def focused(page: Page) -> str:
    one = "document.activeElement"
    return str(page.evaluate(f"{one}.id || {one}.className || {one}.tagName"))


def test_the_tabs_and_what_is_new_are_reached_by_keyboard_alone(open_page: Open) -> None:
    page = open_page()
    expect_answer(page, STILL)
    expect(page.locator("#compare-block")).to_be_visible()
    expect(page.locator("#history")).to_be_visible()
    page.focus("#mode-one")
    page.keyboard.press("ArrowRight")
    tab = page.get_by_role("tab", name="A file")
    expect(tab).to_be_focused()
    expect(page.get_by_role("tabpanel", name="A file")).to_be_visible()
    expect(page.locator("#one")).to_be_hidden()
    page.keyboard.press("Tab")
    assert focused(page) == "file-field"
    page.focus(".skip")
    page.keyboard.press("Enter")
    expect(page.locator("#question")).to_be_focused()
    page.get_by_role("tab", name="A file").click()
    page.keyboard.press("Alt+s")  # Keys that work anywhere bring the question's side back.
    expect(page.locator("#strength")).to_be_focused()
    compared, forms = page.locator("#compare .form").count(), page.locator("#forms .form").count()
    picks = ["pick"] * page.locator("#models-picks button").count()
    expected = ["passes-copy", "edit", "edit", *["form compared"] * compared, *picks, *["form"] * forms]
    expected += ["tab-curl", "code-copy", "PRE", "history-clear", "past"]
    passed = []
    for _ in expected:
        page.keyboard.press("Tab")
        passed.append(focused(page))
    assert passed == expected


def test_the_reference_sends_requests_to_try(open_page: Open, host: Host) -> None:
    page = open_page()
    page.goto(f"{host.url}docs")
    operation = page.locator("section", has=page.get_by_role("heading", name="POST /v1/simplify"))
    operation.get_by_text("Try it").click()
    operation.get_by_role("button", name="Send POST /v1/simplify").click()
    answer = operation.get_by_label("Answer to POST /v1/simplify")
    expect(answer).to_contain_text('"text": "When was it released?"')
    expect(operation.get_by_role("status")).to_have_text("200 OK")
    operation.get_by_role("textbox").fill("{")
    operation.get_by_role("button", name="Send POST /v1/simplify").click()
    expect(operation.get_by_role("status")).to_contain_text("400")
    expect(answer).to_contain_text("not_json")
