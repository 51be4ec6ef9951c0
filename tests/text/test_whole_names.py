"""Names of several words are found as people write them."""

from __future__ import annotations

import pytest

from riseq.text.whole_names import find_whole_names
from riseq.text.words import split

CASES = [
    ("Run `sed -i 's/a/b/' file.txt` now.", ["-i", "file.txt"]),
    ("Python 3.12.1 is $5.99, or 50% of 1,000, at 10:30.", ["3.12.1", "$5.99", "50%", "1,000", "10:30"]),
    ("Ask help@shop-24.com or see https://a-b.io/c_d?", ["help@shop-24.com", "https://a-b.io/c_d"]),
    ("The U.S. is big. It is old.He left in 1980.Then", ["U.S."]),
    ("C++ and C# on Disney+?", ["C++", "C#", "Disney+"]),
    ("Is __init__ in my_file.tar.gz, package-lock.json?", ["__init__", "my_file.tar.gz", "package-lock.json"]),
    ("AC/DC saw M*A*S*H and *bold* **React.js**", ["AC/DC", "M*A*S*H", "React.js"]),
    ("Is .NET ASP.NET? It is 'std::vector'.", [".NET", "ASP.NET", "std::vector"]),
    ("See /etc/hosts, ~/x.py and [docs](https://x.io/a_b).", ["/etc/hosts", "~/x.py", "https://x.io/a_b"]),
    ("A well-known man and/or woman, 5 - 3, isn't it?", []),
]


@pytest.mark.parametrize(("text", "wanted"), CASES, ids=[case[0] for case in CASES])
def test_names_of_several_words_are_found(text: str, wanted: list[str]) -> None:
    words = split(text)
    assert [text[words[first].start : words[stop - 1].end] for first, stop in find_whole_names(text)] == wanted
