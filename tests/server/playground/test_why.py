"""The playground tells why: mentions, kept words, confidence in words, every strength; and what can be taken away."""

from __future__ import annotations

import re

from playwright.sync_api import Page, Route, expect

from server.playground.visit import FILMS, OSCAR, Open, count_items, expect_answer, expect_state, last_request, say

STILL = "Did he win an Oscar for it?"


def read_clipboard(page: Page) -> str:
    return str(page.evaluate("navigator.clipboard.readText()"))


def paste(page: Page, field: str, text: str) -> None:
    page.evaluate("text => navigator.clipboard.writeText(text)", text)
    page.focus(field)
    page.keyboard.press("Control+V")


ENDS_IN_AN_ANSWER = "User: Who directed Alien?\nAssistant: Ridley Scott, in 1979."


def test_pasted_an_assistants_turn_is_never_the_question_and_nothing_runs_together(open_page: Open) -> None:
    page = open_page()
    say(page)
    paste(page, "#question", ENDS_IN_AN_ANSWER)
    expect(page.locator(".bubble")).to_have_count(2)
    expect(page.locator("#question")).to_have_value("")
    expect(page.locator("#question")).to_be_focused()
    page.keyboard.type("When was Alien released?")
    expect_answer(page, "When was it released?")
    # What is written stays, and the dialogue that is pasted into it goes where dialogues go, with all its turns.
    paste(page, "#question", ENDS_IN_AN_ANSWER + "\nUser: How long is Alien?")
    expect(page.locator(".bubble")).to_have_count(3)
    expect(page.locator("#question")).to_have_value("When was Alien released?")
    page.click("#paste")
    page.fill("#paste-text", ENDS_IN_AN_ANSWER)
    expect(page.locator("#paste-found")).to_have_text("2 turns found; the last one is an answer")
    page.click("#paste-use")
    expect(page.locator(".bubble")).to_have_count(2)
    expect(page.locator("#question")).to_have_value("When was Alien released?")
    # What is typed does not run into what was pasted.
    say(page)
    paste(page, "#question", ENDS_IN_AN_ANSWER + "\nUser: How long is Alien?")
    expect(page.locator("#question")).to_have_value("How long is Alien?")
    page.keyboard.type("Who wrote")  # In place of the question that came with the dialogue.
    expect(page.locator("#question")).to_have_value("Who wrote")
    paste(page, "#question", "Alien and\nAliens?")
    expect(page.locator("#question")).to_have_value("Who wrote Alien and Aliens?")
    page.fill("#draft-text", "Typed before.")
    paste(page, "#draft-text", "Pasted first.\nPasted second.")
    texts = page.locator(".bubble").evaluate_all("bubbles => bubbles.slice(2).map(bubble => bubble.value)")
    assert texts == ["Typed before.", "Pasted first.", "Pasted second."]
    expect(page.locator("#draft-text")).to_have_value("")


def test_words_that_nobody_said_are_told_and_the_confidence_is_put_in_words(open_page: Open) -> None:
    page = open_page()
    expect_answer(page, STILL)
    expect(page.locator("#kept")).to_have_text("Kept because only the question says it: “win”, “Oscar”")
    expect(page.locator("#facts .grade")).to_have_text("a person would very likely say this")
    find = """async (cases) => {
        const { findKept } = await import("/static/kept.js");
        return cases.map(([question, text, said]) => findKept(question, text, said));
    }"""
    cases = [
        # in another form, or with an ending, it was said all the same
        ["Which films were directed by Ridley Scott's brothers?", "Which films were?", ["His brother directs a film."]],
        ["Is Zürich's lake deep? Deep enough?", "Is its lake deep? Deep enough?", ["ZURICH is a city."]],
        ["Who stopped the parties?", "Who stopped the parties?", ["We are stopping a party."]],
    ]
    assert page.evaluate(find, cases) == [[], ["lake", "Deep", "enough"], []]
    grade = """async (values) => {
        const { gradeConfidence } = await import("/static/confidence.js");
        return values.map(gradeConfidence);
    }"""
    grades = page.evaluate(grade, [1, 0.9, 0.89, 0.7, 0.5, 0.3, 0.29, 0])
    assert [grades.index(one) for one in grades] == [0, 0, 2, 2, 4, 5, 6, 6]
    say(page)
    page.fill("#question", OSCAR)
    expect(page.locator("#answer-note")).to_contain_text("No dialogue")
    expect(page.locator("#kept")).to_be_hidden()


def test_every_strength_is_shown_side_by_side_from_one_request(open_page: Open) -> None:
    page = open_page()
    with page.expect_request(lambda request: count_items(request) > 0) as found:
        expect_answer(page, STILL)
    items = (found.value.post_data_json or {})["items"]
    assert [one["strength"] for one in items] == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]
    assert {one["question"] for one in items} == {OSCAR}
    rows = page.locator("#compare .form")
    texts = rows.locator(".form-text > span:first-child")
    expect(texts).to_have_text([OSCAR, "Did he win an Oscar for Oppenheimer?", STILL])
    expect(rows.first).to_contain_text("the question itself")
    expect(rows.nth(2)).to_have_attribute("aria-pressed", "true")
    # The marks and the words under the slider are made from the same answers.
    stops = [row.split()[0] for row in page.locator(".compared-stops").evaluate_all(READ_STOPS)]
    changes = page.locator(".tick").evaluate_all("ticks => ticks.map(tick => tick.dataset.changes === 'true')")
    strong = [place for place, does in enumerate(changes) if does]
    assert [f"{place / 10:g}" for place in strong] == stops[1:]
    says = page.locator("#strength-says")
    expect(says).to_have_text(f"The text changes at {stops[1]} and {stops[2]}. From {stops[2]} to 1 it is the same.")
    expect(page.locator("#strength")).to_have_accessible_description(re.compile("^The text changes at"))
    assert last_request(page, rows.nth(1).click)["strength"] < 0.5
    expect_answer(page, "Did he win an Oscar for Oppenheimer?")
    expect(rows.nth(1)).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="A new topic").click()
    expect(says).to_have_text("The text is the same at every strength.")
    expect(rows).to_have_count(1)


READ_STOPS = "stops => stops.map(stop => stop.lastChild.textContent)"


def test_a_copied_diff_reads_right_as_plain_text(open_page: Open) -> None:
    def answer(route: Route) -> None:
        edits = [
            {"op": "substitute", "start": 22, "end": 51, "old": "Ira Hayes revealing the truth", "new": "him"},
            {"op": "insert", "start": 3, "end": 3, "old": "", "new": "then"},
            {"op": "delete", "start": 4, "end": 10, "old": "anyone", "new": ""},
        ]
        question = "Was anyone opposed to Ira Hayes revealing the truth?"
        step = {"before": question, "text": "Was then opposed to him?", "edits": edits}
        one = {"text": step["text"], "changed": True, "steps": [step], "confidence": None, "probability": None}
        route.fulfill(json={**one, "question": question, "truncated": False, "alternatives": []})

    expected = "Was [-> then] [anyone ->] opposed to [Ira Hayes revealing the truth -> him]?"
    page = open_page(route=("**/v1/simplify", answer))
    expect_state(page, "done")
    page.click("#passes-copy")
    expect(page.locator(".toast")).to_have_text("Edits copied")
    assert read_clipboard(page) == expected
    page.evaluate("getSelection().selectAllChildren(document.querySelector('.pass[data-kind=edit] .pass-text'))")
    page.keyboard.press("Control+C")
    assert read_clipboard(page) == expected
    page.evaluate("getSelection().selectAllChildren(document.querySelector('#passes'))")
    page.keyboard.press("Control+C")
    assert read_clipboard(page).splitlines()[2:4] == ["Pass 1 · 3 edits", expected]


def test_this_is_wrong_copies_the_text_of_an_issue(open_page: Open) -> None:
    page = open_page()
    say(page, *FILMS, "It has ``` in it.")
    page.fill("#question", OSCAR)
    expect_answer(page, STILL)
    page.get_by_role("button", name="This is wrong").click()
    expect(page.locator(".toast")).to_have_text("Issue text copied; mind private data")
    issue = read_clipboard(page)
    assert f"Person: {FILMS[0]}\nAssistant: {FILMS[1]}\nPerson: It has ``` in it.\n````\n" in issue
    assert f"```text\n{OSCAR}\n```" in issue
    assert f"What riseq returned:\n```text\n{STILL}\n```" in issue
    assert re.search(r"Version and model: riseq [0-9.a-z]+, default · int8\nSettings: strength 0\.5$", issue)


def test_the_last_answers_are_listed_and_brought_back(open_page: Open) -> None:
    page = open_page()
    past = page.locator("#history .past")
    expect(past).to_have_count(1)
    page.get_by_role("button", name="A medicine").click()
    expect(past).to_have_count(2)
    expect(past.nth(0)).to_contain_text("Can I take it with alcohol?")
    page.evaluate(ADD_OLDER)
    page.reload()
    expect(past).to_have_count(20)
    past.nth(1).focus()
    page.keyboard.press("Enter")
    expect_answer(page, STILL)
    expect(page.locator(".bubble").first).to_have_value(FILMS[0])
    expect(past.nth(0)).to_contain_text(STILL)  # Asked again, it is the newest, and not there twice.
    expect(past.filter(has_text=STILL)).to_have_count(1)
    page.get_by_role("button", name="Clear history").click()
    expect(page.locator("#history")).to_be_hidden()
    assert page.evaluate("sessionStorage.getItem('riseq-history')") == "[]"


ADD_OLDER = """() => {
    const older = Array.from({ length: 25 }, (_, place) => ({ turns: [], question: `Who is ${place}?`, text: "Who?" }));
    const all = [...JSON.parse(sessionStorage.getItem("riseq-history")), ...older];
    sessionStorage.setItem("riseq-history", JSON.stringify(all));
}"""
