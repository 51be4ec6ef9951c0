"""A name such as "file.txt" is copied whole, and stays whole where the question has it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riseq.core.edits import DELETE, KEEP, MARKER, Edit, Op
from riseq.engine.rules.whole_names import copy_whole_names, keep_whole_names
from riseq.text.realise import Copied, realise
from riseq.text.words import forms, split

NAMES = ["file.txt", "3.12.1", "C++", ".NET", "$5.99", "help@shop-24.com", "https://a-b.io/c_d", "--amend", "AC/DC"]


@given(st.sampled_from(NAMES), st.sampled_from(["Run {} now.", "is {} good?", "{} is old"]), st.data())
def test_no_part_of_a_name_is_copied(name: str, sentence: str, data: st.DataObject) -> None:
    said = sentence.format(name)
    words, start = split(said), said.index(name)
    inside = [k for k, word in enumerate(words) if start <= word.start < start + len(name)]
    first = data.draw(st.integers(0, inside[-1]))
    stop = data.draw(st.integers(max(first, inside[0]) + 1, len(words)))
    before = data.draw(st.sampled_from([(), ("of",)]))
    phrase = (*before, *(word.form for word in words[first:stop]), "'", "s")
    edits = [KEEP, KEEP, KEEP, Edit(Op.SUBSTITUTE, phrase), KEEP, KEEP]
    found, known = copy_whole_names(edits, {3: Copied(0, first, stop, len(before))}, [said])
    step = realise("What is its age?", found, [said], None, known)
    assert name in step.text
    assert found[3].phrase[: len(before)] == before
    assert found[3].phrase[-2:] == ("'", "s")


@pytest.mark.parametrize(
    ("changes", "kept", "why"),
    [
        ({4: Edit(Op.INSERT, ("now",))}, True, "nothing comes into it"),
        ({6: Edit(Op.INSERT, ("now",))}, False, "behind it something may come"),
        ({6: DELETE}, True, "no part goes"),
        ({3: DELETE, 4: DELETE}, True, "nor with what stands before it"),
        ({4: DELETE, 5: DELETE, 6: DELETE}, False, "all of it may"),
    ],
)
def test_a_name_of_the_question_stays_whole(changes: dict[int, Edit], kept: bool, why: str) -> None:
    text = "Does it change file.txt?".replace("change ", "")
    words = [MARKER, *forms(text)]
    edits = [changes.get(at + 1, KEEP) if at else KEEP for at in range(len(words))]
    assert (keep_whole_names(text, edits) == [KEEP] * len(words)) == kept, why
