"""A file of questions in the playground: read, sent in chunks, cancelled, continued and taken away."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from riseq.server.engines import DummyEngine
from server.playground.visit import Host, Open, count_items, make_file


@pytest.fixture(scope="module")
def plain_host() -> Iterator[Host]:
    running = Host(DummyEngine())
    yield running
    running.stop()


def choose(page: Page, name: str, text: str | bytes) -> None:
    page.get_by_role("tab", name="A file").click()
    page.get_by_label("Choose a file").set_input_files(make_file(name, text))


def download(page: Page, kind: str) -> str:
    with page.expect_download() as found:
        page.get_by_role("button", name=f"Download {kind}").click()
    assert found.value.suggested_filename == f"asked.riseq.{kind.lower()}"
    return Path(found.value.path()).read_text(encoding="utf-8")


CSV = """id,question,context,note,text
a,When was Alien released?,"[""Who directed Alien?"", ""Ridley Scott.""]","one, ""quoted""
over two lines",own
b,,"[]",no question,
c,"Where was Casablanca
filmed?",Who directed Casablanca?,plain context,
d,too,few
e,Who?,"[""cut",broken list,
f,Who?,"[1]",no utterance,
g,"Who?" he said,[],quotes,
h,Where do cats sleep?,[],last,
"""


def test_a_csv_becomes_a_table_and_bad_rows_are_told_by_line(open_page: Open, plain_host: Host) -> None:
    page = open_page(plain_host.url)
    choose(page, "asked.csv", CSV)
    expect(page.locator("#file-status")).to_have_text("asked.csv: 3 of 3 questions done, at strength 0.5.")
    expect(page.locator("#file-bad-list li")).to_have_text(
        [
            "Line 4: question: empty, expected some text",
            "Line 7: got 3 cells, expected 5",
            "Line 8: context: broken JSON, expected a JSON list",
            "Line 9: context[0]: expected an utterance or a chat message",
            "Line 10: broken quotes",
        ]
    )
    table = page.get_by_role("table", name="Results")
    expect(table.get_by_role("rowheader")).to_have_text(["2", "5", "11"])
    expect(table.locator("tbody td:nth-child(3)")).to_have_text(
        ["When was it released?", "Where was it filmed?", "Where do cats sleep?"]
    )
    expect(page.locator("#file-csv")).to_be_focused()
    rows = list(csv.DictReader(io.StringIO(download(page, "CSV"))))
    assert [row["id"] for row in rows] == ["a", "c", "h"]
    assert rows[0]["note"] == 'one, "quoted"\nover two lines'
    assert (rows[0]["input_text"], rows[0]["text"]) == ("own", "When was it released?")
    assert json.loads(rows[0]["context"]) == ["Who directed Alien?", "Ridley Scott."]
    objects = [json.loads(line) for line in download(page, "JSONL").splitlines()]
    assert objects[0]["context"] == ["Who directed Alien?", "Ridley Scott."]
    assert objects[1]["context"] == ["Who directed Casablanca?"]
    assert objects[0]["steps"][0]["edits"][0]["old"] == "Alien"


def test_jsonl_and_dropped_files_are_read_and_a_row_the_server_refuses_is_found(
    open_page: Open, plain_host: Host
) -> None:
    asked: list[dict[str, Any]] = [{"question": f"When was Alien {n} made?", "context": ["Alien?"]} for n in range(5)]
    asked[3]["question"] = "Why? " * 1_000
    del asked[4]["context"]
    asked[1] |= {"extra": {"deep": [1, None]}, "context": [{"role": "user", "content": "What is Alien?"}]}
    page = open_page(plain_host.url)
    lines = [json.dumps(one) for one in asked]
    choose(page, "asked.jsonl", "\n".join([lines[0], "", lines[1], "{oops", "[1]", '{"question": 3}', *lines[2:]]))
    expect(page.locator("#file-status")).to_contain_text("4 of 5 questions done")
    expect(page.locator("#file-bad-list li").nth(0)).to_have_text("Line 4: not JSON")
    expect(page.locator("#file-bad-list li").nth(1)).to_have_text("Line 5: not a JSON object")
    number = "Line 6: question: got the number 3, expected a string"
    expect(page.locator("#file-bad-list li").nth(2)).to_have_text(number)
    expect(page.locator("#file-bad-list li").nth(3)).to_contain_text("Line 8: ")
    expect(page.locator("#file-bad-list li").nth(3)).to_contain_text("4000")
    found = [json.loads(line) for line in download(page, "JSONL").splitlines()]
    assert [one["question"] for one in found] == [one["question"] for one in asked if len(one["question"]) < 100]
    assert found[1]["extra"] == {"deep": [1, None]}
    assert (found[3]["question"], found[3]["context"]) == ("When was Alien 4 made?", [])
    rows = list(csv.DictReader(io.StringIO(download(page, "CSV"))))
    assert json.loads(rows[1]["extra"]) == {"deep": [1, None]}
    assert rows[0]["extra"] == ""
    for name, text, reason in (
        ("a.csv", "question,words\nWho?,x\n", "No column “context”; the columns are question, words."),
        ("a.csv", b"question,context\n\xff\xfe,x\n", "It is not UTF-8 text."),
        ("a.jsonl", "\n", "The file has no rows."),
    ):
        choose(page, name, text)
        expect(page.locator("#file-status")).to_have_text(f"{name} cannot be used. {reason}")
        expect(page.locator("#file-table")).to_be_hidden()
    page.get_by_role("tab", name="One question").click()
    page.evaluate(DROP)  # A file dropped anywhere is taken.
    expect(page.locator("#file-rows td:nth-child(3)")).to_have_text(["Who made it?"])
    expect(page.get_by_role("tab", name="A file")).to_have_attribute("aria-selected", "true")


DROP = """() => {
    const data = new DataTransfer();
    data.items.add(new File(["question\\tcontext\\nWho made Alien?\\tWhat is Alien?\\n"], "asked.tsv"));
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}"""


def test_a_long_file_goes_in_chunks_and_is_cancelled_and_continued(open_page: Open, plain_host: Host) -> None:
    page = open_page(plain_host.url)
    sizes: list[int] = []
    held: list[Route] = []

    def hold_the_second(route: Route) -> None:
        count = count_items(route.request)
        if count in (0, 10):  # the question's own, not the file's
            route.continue_()
            return
        sizes.append(count)
        if len(sizes) == 2:
            held.append(route)
        elif len(sizes) == 3:
            error = {"error": {"code": "queue_full", "message": "the queue is full", "request_id": "1"}}
            route.fulfill(status=429, headers={"retry-after": "0"}, json=error)
        else:
            route.continue_()

    page.route("**/v1/simplify", hold_the_second)
    choose(page, "asked.csv", "question,context\n" + "When was Alien made?,What is Alien?\n" * 75)
    progress = page.get_by_role("progressbar", name="Questions done")
    expect(progress).to_have_js_property("value", 32)
    expect(progress).to_have_js_property("max", 75)
    expect(page.locator("#file-csv")).to_be_hidden()
    expect(page.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#file-status")).to_have_text("Cancelled. asked.csv: 32 of 75 questions done, at strength 0.5.")
    assert len(download(page, "JSONL").splitlines()) == 32
    page.get_by_role("button", name="Go on").click()
    expect(page.locator("#file-status")).to_have_text("asked.csv: 75 of 75 questions done, at strength 0.5.")
    assert sizes == [32, 32, 32, 32, 11]  # the second was cancelled, the third came to a busy server
    expect(page.locator("#file-rows tr")).to_have_count(75)
