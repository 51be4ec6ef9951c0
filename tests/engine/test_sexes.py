"""What the dialogue tells of somebody's sex: he and she are told apart."""

import pytest

from riseq.core.edits import KEEP, MARKER, Edit, Op, apply
from riseq.engine.dialogue import DialogueWords
from riseq.engine.drafts import Draft
from riseq.model.inputs import Condition
from riseq.text.words import read_forms

CASES = [
    (["Who won the women's cup?", "Smriti Mandhana."], "she", "a word for women says nothing of he"),
    (["Who won the cup?", "He did."], "he", "he is told"),
    (["Who won the cup?", "Smriti Mandhana."], "she", "nothing is told, the name is certain"),
]


@pytest.mark.parametrize(("context", "expected", "why"), CASES, ids=[why for *_, why in CASES])
def test_a_certain_name_against_what_the_dialogue_tells(context: list[str], expected: str, why: str) -> None:
    question = "Does Smriti Mandhana bat?"
    words = [MARKER, *read_forms(question)]
    edits = [KEEP, KEEP, Edit(Op.SUBSTITUTE, ("he",)), Edit(Op.SUBSTITUTE), KEEP, KEEP]
    draft = Draft(
        question, DialogueWords(context), [], False, 99, question, words, [()] * 6, condition=Condition.GROUNDED
    )
    assert apply(words, draft._mend(edits))[2] == expected, why
