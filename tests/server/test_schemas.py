"""Every form of dialogue the library takes goes over the wire, and results come out as they are."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from riseq.core.edits import Op
from riseq.server.schemas import Item, Items, SimplifyRequest, tell
from riseq.types import Simplification, Step, TextEdit


@pytest.mark.parametrize(
    ("context", "utterances"),
    [
        ([], ()),
        (["Who?", "Me."], ("Who?", "Me.")),
        ([{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Who?"}], ("Who?",)),
        ([{"role": "user", "content": [{"type": "text", "text": "Who?"}, {"type": "image_url"}]}], ("Who?",)),
        ([{"speaker": "Ada", "text": "Who?"}], ("Who?",)),
        ([{"question": "Who?", "answer": "Me."}, {"question": "Why?"}], ("Who?", "Me.", "Why?")),
        ([["Ada", "Who?"], ["Bob", "Me."]], ("Who?", "Me.")),
        ([["Who is there?", "Only me."]], ("Who is there?", "Only me.")),
    ],
)
def test_a_dialogue_in_any_form_becomes_utterances(context: list[object], utterances: tuple[str, ...]) -> None:
    assert Item.model_validate({"question": "Q?", "context": context}).context == utterances


def test_one_and_many_are_told_apart_by_their_fields() -> None:
    assert isinstance(SimplifyRequest.model_validate({"question": "Q?"}).root, Item)
    assert isinstance(SimplifyRequest.model_validate({"items": [{"question": "Q?"}]}).root, Items)
    with pytest.raises(ValidationError, match=r"many.question"):
        SimplifyRequest.model_validate({"items": [{"question": "Q?"}], "question": "Q?"})


def test_a_result_tells_each_pass_with_the_text_it_began_with() -> None:
    edit = TextEdit(Op.DELETE, 0, 1, "a", "", 0.5)
    steps = (Step("b c", (edit,)), Step("c", (edit,)))
    out = tell(Simplification("a b c", "c", steps, True, 0.9, 0.8, (Simplification("a b c", "b c", steps[:1]),)))
    assert [(step.before, step.text) for step in out.steps] == [("a b c", "b c"), ("b c", "c")]
    assert out.steps[0].edits[0].model_dump() == {
        "op": "delete",
        "start": 0,
        "end": 1,
        "old": "a",
        "new": "",
        "probability": 0.5,
    }
    assert (out.truncated, out.confidence, out.probability, out.changed) == (True, 0.9, 0.8, True)
    assert [(one.text, one.probability, len(one.steps)) for one in out.alternatives] == [("b c", None, 1)]
