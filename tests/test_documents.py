"""The snippets of README and docs run, in order and in one folder a page, and print what is said."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from documents import LANGUAGES, Snippet, find_snippets, run_snippet
from riseq import Simplifier
from riseq.hub import find_default_model

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md"))]

TEXT = """
```python
print(1)
```
```text
1
```

<!-- not run: needs a GPU -->
```sh
riseq train
```

```text
not an output
```

<!-- run by: tests/x.py -->
```bash
pip install riseq
echo a
```

```json
{}
```

```bash
make test
```
"""


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def snippets_of(page: Path) -> list[Snippet]:
    return find_snippets(page.read_text(encoding="utf-8"))


def runnable(page: Path) -> list[Snippet]:
    return [snippet for snippet in snippets_of(page) if snippet.not_run is None and snippet.run_by is None]


def test_snippets_are_found_with_their_outputs_and_marks() -> None:
    assert find_snippets(TEXT) == [
        Snippet(3, "python", "print(1)\n", output="1\n"),
        Snippet(11, "sh", "riseq train\n", not_run="needs a GPU"),
        Snippet(20, "bash", "echo a\n", run_by="tests/x.py"),
    ]


def test_a_snippet_that_fails_or_prints_something_else_is_told(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"line 7: .*no-such-file"):
        run_snippet(Snippet(7, "bash", "cat no-such-file\n"), tmp_path)
    with pytest.raises(AssertionError, match="line 8"):
        run_snippet(Snippet(8, "python", "print(2)\n", output="1\n"), tmp_path)
    run_snippet(Snippet(9, "python", "print(1)\n", output="1\n"), tmp_path)


def test_the_readme_has_snippets_of_both_kinds_and_says_what_they_print() -> None:
    snippets = snippets_of(PAGES[0])
    assert {snippet.language for snippet in snippets} == {"python", "bash"}
    assert sum(snippet.output is not None for snippet in snippets) >= 4


def test_what_is_run_elsewhere_names_a_test_that_reads_the_page() -> None:
    named = {(page, snippet.run_by) for page in PAGES for snippet in snippets_of(page) if snippet.run_by}
    assert len(named) > 2
    for page, test in named:
        assert page.name in (ROOT / test).read_text(encoding="utf-8"), f"{name(page)}: {test}"


@pytest.mark.parametrize("page", [page for page in PAGES if runnable(page)], ids=name)
def test_snippets_run_and_print_what_is_said(page: Path, tmp_path: Path) -> None:
    if find_default_model() is None:
        pytest.skip("no model ships with this checkout")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (tmp_path / "data").symlink_to(ROOT / "data")
    for snippet in runnable(page):
        run_snippet(snippet, tmp_path)


def test_the_readmes_first_table_is_what_the_model_says() -> None:
    if find_default_model() is None:
        pytest.skip("no model ships with this checkout")
    text = PAGES[0].read_text(encoding="utf-8")
    table = text.partition("| you build |")[2].partition("\n\n")[0].splitlines()[2:]
    rows = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in table]
    assert len(rows) == 4
    results = Simplifier.load(threads=1).batch([(question, [said]) for _, said, question, _ in rows])
    assert [one.text for one in results] == [row[3] for row in rows]


def test_shell_and_python_go_by_these_names() -> None:
    """A fence in another spelling would be left out silently."""
    for page in PAGES:
        for line in page.read_text(encoding="utf-8").splitlines():
            if line.startswith("```") and line != "```":
                assert line[3:] in (*LANGUAGES, "text", "json", "js", "toml", "yaml", "bibtex"), f"{name(page)}: {line}"
