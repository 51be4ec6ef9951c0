"""Every form of dialogue the library takes goes over the wire, and results come out as they are."""

from __future__ import annotations

from dataclasses import fields

import pytest
from pydantic import ValidationError

from riseq.controls import Controls
from riseq.core.edits import Op
from riseq.server.engines import Question
from riseq.server.responses import Result, write_result
from riseq.server.schemas import Items, SimplifyRequest
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


def test_messages_are_the_dialogue_and_the_question_where_there_is_none() -> None:
    messages = [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": "Me."}]
    last = {"role": "user", "content": "Q?"}
    for body in ({"messages": messages, "question": "Q?"}, {"messages": [*messages, last]}):
        assert SimplifyRequest.model_validate(body).root == Question("Q?", ("Who?", "Me."))
        many = SimplifyRequest.model_validate({"items": [body, {**body, "strength": 0}]}).root
        assert isinstance(many, Items)
        assert [one.controls.strength for one in many.items] == [0.5, 0]
    schemas = SimplifyRequest.model_json_schema()["$defs"]
    for name, required in (("Item", ["question"]), ("Chat", ["messages"]), ("Candidates", ["questions"])):
        assert schemas[name]["properties"]["messages"]["items"] == {"$ref": "#/$defs/Message"}
        assert schemas[name]["required"] == required


@pytest.mark.parametrize("form", ["context", "messages"])
def test_questions_after_one_dialogue_share_it_and_the_controls(form: str) -> None:
    said = ["Who?"] if form == "context" else [{"role": "user", "content": "Who?"}]
    many = SimplifyRequest.model_validate({form: said, "questions": ["Q?", "R?"], "strength": 1}).root
    assert isinstance(many, Items)
    first, second = many.items
    assert (first, second) == tuple(Question(one, ("Who?",), Controls(strength=1)) for one in ("Q?", "R?"))
    assert first.context is second.context
    assert first.controls is second.controls


def test_every_form_of_request_may_name_a_model() -> None:
    chat = {"messages": [{"role": "user", "content": "Q?"}]}
    for body in ({"question": "Q?"}, chat):
        assert SimplifyRequest.model_validate({**body, "model": "large"}).root == Question("Q?", model="large")
    many = SimplifyRequest.model_validate({"questions": ["Q?", "R?"], "model": "large"}).root
    assert isinstance(many, Items)
    assert many.items == [Question(one, model="large") for one in ("Q?", "R?")]


def test_every_control_is_a_field_with_its_default_and_help() -> None:
    properties = SimplifyRequest.model_json_schema()["$defs"]["Item"]["properties"]
    assert list(properties) == ["model", "context", "messages", "question", *(one.name for one in fields(Controls))]
    many = SimplifyRequest.model_json_schema()["$defs"]["Candidates"]["properties"]
    assert list(many) == ["model", "context", "messages", "questions", *(one.name for one in fields(Controls))]
    chat = SimplifyRequest.model_json_schema()["$defs"]["Chat"]["properties"]
    assert list(chat) == ["model", "messages", *(one.name for one in fields(Controls))]
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
