"""Names that are several words to an editor and one to people: file.txt, 3.12.1, help@example.org, C++, .NET, $5.99."""

import re
from bisect import bisect_left, bisect_right

from riseq.text.words import read_words, remember

_WHOLE = re.compile(
    r"""
    (?<!\w)https?://[^\s<>()"'`\]]*[\w/]        # addresses
    | (?<![\w.])[\w.+-]+@[\w-]+(?:\.[\w-]+)+    # of mail
    | (?<![\w.])(?:[^\W\d_]\.){2,}              # U.S.
    | (?<!\S)(?:~|\.{1,2})?(?:/[\w.-]*\w)+      # /etc/hosts
    | (?<![\w.*])\w(?:\*\w)+(?![\w*])           # M*A*S*H
    | [$€£]\d+(?:[.,]\d+)*                      # $5.99
    | (?<!\w)\d+(?:[.,:]\d+)+%?                 # 3.12.1, 10:30
    | \d+%
    | (?<!\w)[A-Z]{1,4}(?:/[A-Z]{1,4})+(?!\w)   # AC/DC
    | (?<!\S)--?[^\W\d]\w*(?:-\w+)*        # --amend
    | (?<!\S)[@#]\w+
    | (?<![\w.])\.[A-Z]\w+                      # .NET
    | (?<!\w)[\w-]*\w(?:(?:[._\\]|::)(?<![a-z\d]\.(?=[A-Z][a-z]))[\w-]*\w)+   # file.txt, but no end.Then
    | (?<!\w)\w+(?:\+\+?|\#)(?!\w)              # C++, C#, Disney+
    """,
    re.VERBOSE,
)


@remember
def find_whole_names(text: str) -> tuple[tuple[int, int], ...]:
    """Return where in the words of ``text`` the names of several words begin and stop, in order.

    >>> find_whole_names("Does sed change file.txt?")
    ((3, 6),)
    """
    found = [match.span() for match in _WHOLE.finditer(text)]
    if not found:
        return ()
    starts, ends = zip(*((word.start, word.end) for word in read_words(text)), strict=True)
    spans = ((bisect_right(ends, start), bisect_left(starts, end)) for start, end in found)
    return tuple((first, stop) for first, stop in spans if stop - first > 1)
