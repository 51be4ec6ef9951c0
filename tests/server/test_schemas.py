"""Every form of dialogue the library takes goes over the wire, and results come out as they are."""

from __future__ import annotations

from dataclasses import fields

import pytest
from pydantic import ValidationError

from riseq.controls import Controls
from riseq.core.edits import Op
from riseq.server.engines import Question
from riseq.server.schemas import Items, Result, SimplifyRequest, write_result
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
    body = {"question": "Q?", "context": context}
    assert SimplifyRequest.model_validate(body).root == Question("Q?", utterances)


def test_one_and_many_are_told_apart_by_their_fields() -> None:
    assert SimplifyRequest.model_validate({"question": "Q?"}).root == Question("Q?")
    many = SimplifyRequest.model_validate({"items": [{"question": "Q?"}]}).root
    assert isinstance(many, Items)
    assert many.items == [Question("Q?")]
    with pytest.raises(ValidationError, match=r"many.question"):
        SimplifyRequest.model_validate({"items": [{"question": "Q?"}], "question": "Q?"})


def test_every_control_is_a_field_with_its_default_and_help() -> None:
    properties = SimplifyRequest.model_json_schema()["$defs"]["Item"]["properties"]
    assert list(properties) == ["question", "context", "model", *(one.name for one in fields(Controls))]
    for one in fields(Controls):
        assert properties[one.name]["description"] == one.metadata["help"]
        assert properties[one.name].get("default", ()) == one.default
    given = {"strength": 1, "protect": ["Alien"], "max_passes": 2.0, "n_best": 3, "guard": False}
    asked = SimplifyRequest.model_validate({"question": "Q?", **given}).root
    assert isinstance(asked, Question)
    assert asked.controls.to_dict() == given


def test_a_result_has_each_pass_with_the_text_it_began_with() -> None:
    edit, unsure = TextEdit(Op.DELETE, 0, 1, "a", "", 0.5), TextEdit(Op.DELETE, 0, 1, "b", "")
    steps = (Step("b c", (edit,)), Step("c", (unsure,)))
    result = Simplification("a b c", "c", steps, True, 0.9, 0.8, (Simplification("a b c", "b c", steps[:1], True),))
    out = write_result(result)
    assert [(step["before"], step["text"]) for step in out["steps"]] == [("a b c", "b c"), ("b c", "c")]
    assert out["steps"][0]["edits"] == [
        {"op": "delete", "start": 0, "end": 1, "old": "a", "new": "", "probability": 0.5, "refers_to": None}
    ]
    assert out["steps"][1]["edits"][0]["probability"] is None
    assert (out["truncated"], out["confidence"], out["probability"], out["changed"]) == (True, 0.9, 0.8, True)
    (milder,) = out["alternatives"]
    assert (milder["text"], milder["changed"], milder["probability"], len(milder["steps"])) == ("b c", True, None, 1)
    # It is what the document says, no more and no less, and it is read back as it was.
    assert Result.model_validate(out, strict=True).model_dump() == out
    assert Simplification.from_dict(out) == result
