"""Two candidates in sight, case by case."""

from __future__ import annotations

import pytest

from riseq.core.edits import GONE, MARKER, Op, find_runs
from riseq.engine.dialogue import DialogueWords
from riseq.engine.rules.two_candidates import keep_candidates
from riseq.text.words import forms

PETS = "Are hamsters or gerbils easier to keep?"
LIST = "They differ:\n\n- **Fission** splits nuclei.\n- **Fusion** joins them."
TOWNS = ["Is Lyon or Marseille bigger?"]
ACTORS = ["Do Al Pacino and Robert De Niro meet in Heat?", "Yes, in a coffee shop."]
PEOPLE = ["Do Ada Lovelace and Charles Babbage rest in London?", "No, he does, and she rests in Hucknall."]
CASES = [
    ([PETS], "What do [gerbils|they] eat?", True, "hamsters are they too"),
    ([PETS, "Gerbils bite less."], "What do [gerbils|they] eat?", False, "the answer has picked one"),
    ([PETS, "Hamsters bite less."], "What do [gerbils|they] eat?", True, "the answer has picked the other"),
    ([PETS], "What do [hamsters and gerbils|they] eat?", False, "they are both"),
    ([PETS], "Do gerbils eat more than [hamsters]?", False, "the question names the other"),
    ([PETS, "Both.", "Why?", "They are small."], "What do [gerbils|they] eat?", False, "out of sight"),
    (["Fission or fusion?", LIST], "How hot is it [for fusion]?", True, "an item of a list"),
    ([LIST], "How hot is [nuclear fusion|it]?", True, "the item is the noun itself"),
    (TOWNS, "How old is [Lyon|it]?", True, "Marseille is it too"),
    (TOWNS, "How old is [the bridge|it]?", False, "not one of the two"),
    (ACTORS, "Where was [Pacino|he] born?", True, "a part of a name is the name"),
    (ACTORS, "Where was [Al] Pacino born?", False, "the rest of the name stays"),
    (ACTORS, "When was [Heat|it] made?", False, "no other film"),
    (["Who are Jobs, Wozniak and Wayne?"], "Where was [Jobs|he] born?", True, "a list in a sentence"),
    (["Is it in Wellington, New Zealand?"], "How big is [New Zealand|it]?", False, "a comma alone is no list"),
    (["Wash it with soap and water."], "How much [soap|of it] is needed?", False, "and joins what is no pair"),
    (["What divides soap and water?"], "Is [soap|it] old?", False, "only between makes them two"),
    (["What is between soap and water?"], "Is [soap|it] old?", True, "between makes them two"),
    (PEOPLE, "Where was [Ada Lovelace|she] born?", False, "he and she were told apart"),
    (["My son and daughter sing."], "How old is [my son|he]?", False, "a son is he, a daughter she"),
    (["Orville and Wilbur Wright flew."], "How did [Wilbur] Wright die?", True, "both are Wright"),
    (["Orville Wright?", "And Wilbur Wright?"], "How did [Wilbur] Wright die?", True, "the same in two utterances"),
    (["Frank Lloyd Wright built it."], "How did [Frank] Wright die?", False, "one man"),
    ([], "Is [soap|it] old?", False, "nothing was said"),
]


@pytest.mark.parametrize(("context", "marked", "stays", "why"), CASES, ids=[case[3] for case in CASES])
def test_cases(context: list[str], marked: str, stays: bool, why: str) -> None:
    before, inside, after = marked.replace("[", "]").split("]")
    old, _, new = inside.partition("|")
    words = [MARKER, *forms(before), *forms(old), *forms(after)]
    first, op = 1 + len(forms(before)), Op.SUBSTITUTE if new else Op.DELETE
    ops: list[int] = [Op.KEEP] * len(words)
    ops[first : first + len(forms(old))] = [op] * len(forms(old))
    phrases = [tuple(forms(new)) if index == first else () for index in range(len(words))]
    keep_candidates(ops, words, phrases, DialogueWords(context))
    assert (not find_runs(ops, GONE)) == stays, why
