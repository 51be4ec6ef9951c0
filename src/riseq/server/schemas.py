"""What a request has: the models that it is checked by, and that the OpenAPI document is made from."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import partial
from typing import Annotated, Any, Literal, Union, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, RootModel, TypeAdapter, ValidationError, create_model
from pydantic.functional_validators import AfterValidator, BeforeValidator, model_validator
from pydantic.json_schema import WithJsonSchema
from pydantic.types import Discriminator, GetPydanticSchema, Tag
from pydantic_core.core_schema import no_info_after_validator_function

from riseq.controls import Controls
from riseq.data.dialogue import EXPECTED, read_context, split_messages
from riseq.server.engines import Question
from riseq.types import Direction, InputError

MAX_QUESTION = 4_000  # characters; the model reads some 500 word pieces
MAX_UTTERANCES = 1_000
MAX_UTTERANCE = 100_000  # characters; the last few hundred words count
MAX_PROTECTED = 100
MAX_PHRASE = 200
MAX_N_BEST = 20
MAX_NAME = 100
MOST_PASSES = 10
_ASKED: Mapping[Direction, tuple[str, str]] = {
    "simplify": ("When was Alien released?", "How long is Alien?"),
    "resolve": ("When was it released?", "How long is it?"),
}
"""The questions of the examples, after one dialogue about a film."""


class TextPart(BaseModel):
    """A part of a chat message that says something."""

    type: Literal["text"] = "text"
    text: str


def _check_other(kind: str) -> str:
    if kind == "text":
        raise ValueError("a text part needs its text")
    return kind


class OtherPart(BaseModel):
    """A part of a chat message that is not read, such as an image."""

    type: Annotated[str, AfterValidator(_check_other), WithJsonSchema({"type": "string", "not": {"const": "text"}})]


class Message(BaseModel):
    """A chat message; a system's or a tool's is not part of the dialogue."""

    role: str
    content: str | list[TextPart | OtherPart] | None


class Utterance(BaseModel):
    """What one speaker said."""

    speaker: str
    text: str


class Turn(BaseModel):
    """An earlier question and its answer, where there was one."""

    question: str
    answer: str | None = None


Pair = Annotated[list[str], Field(min_length=2, max_length=2)]
# A bound is what makes pydantic look into a string at all: halves of characters end here.
Utterances = tuple[Annotated[str, Field(max_length=MAX_UTTERANCE)], ...]
ContextItems = Annotated[list[str | Message | Utterance | Turn | Pair], Field(max_length=MAX_UTTERANCES)]
_FORMS: TypeAdapter[object] = TypeAdapter(ContextItems, config=ConfigDict(strict=True))


def _read_utterances(context: object) -> tuple[str, ...]:
    """Return the utterances; what the library refuses is told in its words."""
    utterances = read_context(context)
    try:
        _FORMS.validate_python([] if context is None or isinstance(context, str) else context)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if first["type"] == "too_long":
            raise InputError(f"it has more than {MAX_UTTERANCES:,} utterances") from None
        raise InputError(f"context[{first['loc'][0]}] has a part of the wrong type, expected {EXPECTED}") from None
    return utterances


# In JSON 2.0 and 2 are the same number.
_WHOLE = BeforeValidator(lambda value: int(value) if isinstance(value, float) and value.is_integer() else value)
CONTROL_TYPES: Mapping[str, Any] = {
    **dict.fromkeys(("strength", "min_confidence"), Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]),
    "protect": Annotated[
        list[Annotated[str, Field(min_length=1, max_length=MAX_PHRASE)]], Field(max_length=MAX_PROTECTED)
    ],
    "max_passes": Annotated[int, Field(ge=1, le=MOST_PASSES), _WHOLE] | None,
    "n_best": Annotated[int, Field(ge=1, le=MAX_N_BEST), _WHOLE],
    "pronouns": Annotated[dict[str, Literal["he", "she", "they", "it"]] | list[str], Field(max_length=MAX_PROTECTED)],
}
"""The controls whose values the server limits, or JSON writes in another type; all others are as in ``Controls``."""


def _check_control(name: str, value: object) -> object:
    return getattr(Controls.from_dict({name: value}), name)


def _make_field(name: str, default: Any, help: str) -> tuple[Any, Any]:
    """Return the type of a control in a request, and its field."""
    kind = CONTROL_TYPES.get(name, get_type_hints(Controls)[name])
    given: dict[str, Any] = {"default_factory": tuple} if default == () else {"default": default}
    return Annotated[kind, AfterValidator(partial(_check_control, name))], Field(**given, description=help)


class _Named(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    model: Annotated[str, Field(min_length=1, max_length=MAX_NAME)] | None = Field(
        default=None,
        description="What is to answer, by its name in GET /v1/models; without it the model at work.",
    )


class _Dialogue(_Named):
    context: Annotated[
        Utterances, BeforeValidator(_read_utterances, json_schema_input_type=ContextItems | str | None)
    ] = Field(
        default=(),
        description="The dialogue before the question, oldest first: strings, chat messages (role, content), "
        "utterances (speaker, text), turns (question, answer), or pairs of strings. A string is one utterance.",
    )
    messages: Annotated[list[Message], Field(max_length=MAX_UTTERANCES)] = Field(
        default=[],
        description="Instead of a context: the dialogue as chat models take it.",
    )

    @model_validator(mode="before")
    @classmethod
    def _take_messages(cls, values: Any) -> Any:
        if not isinstance(values, Mapping) or values.get("messages") is None:
            return values
        if values.get("context") is not None:
            raise InputError("messages and context are both there, expected one of them")
        return {"context" if name == "messages" else name: values[name] for name in values if name != "context"}


_Asked = Annotated[str, Field(min_length=1, max_length=MAX_QUESTION)]


class _InDialogue(_Dialogue):
    question: _Asked


def _read_item(item: Any, direction: Direction) -> Question:
    return Question(item.question, item.context, _read_controls(item), item.model, direction)


def _read_chat(chat: Any, direction: Direction) -> Question:
    row = split_messages(chat.model_dump(include={"messages"}))
    try:
        item = _InDialogue.model_validate({name: row[name] for name in ("question", "context")})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise InputError(f"the last message, the question: {first['msg']}") from None
    return Question(item.question, item.context, _read_controls(chat), chat.model, direction)


def _read_candidates(many: Any, direction: Direction) -> "SharedItems":
    """Return the questions with the one dialogue, which the engine then reads once."""
    controls = _read_controls(many)
    asked = [Question(question, many.context, controls, many.model, direction) for question in many.questions]
    return SharedItems.model_construct(items=asked)


def _read_controls(item: BaseModel) -> Controls:
    """Return the controls; those of the other direction, which a request cannot have, are the defaults."""
    return Controls(
        **{one.name: getattr(item, one.name) for one in fields(Controls) if one.name in type(item).model_fields}
    )


class Items(BaseModel):
    """Many questions at once; each is answered at its place."""

    model_config = ConfigDict(extra="forbid", strict=True)

    items: list[Question] = Field(min_length=1)


class SharedItems(Items):
    """Many questions after one dialogue: what they have in common stands once, beside them."""


def _find_item_form(body: object) -> str:
    return "chat" if isinstance(body, Mapping) and "messages" in body and "question" not in body else "one"


def _find_form(body: object) -> str:
    fields = body if isinstance(body, Mapping) else ()
    return "many" if "items" in fields else "candidates" if "questions" in fields else "single"


def _read_by(read: Callable[[Any], object], model: type[BaseModel]) -> GetPydanticSchema:
    """Return what makes a field's schema that of ``model``, and its value what ``read`` makes of one."""
    return GetPydanticSchema(lambda _, handler: no_info_after_validator_function(read, handler.generate_schema(model)))


def _one_of(forms: Mapping[str, Any], find: Callable[[object], str]) -> Any:
    """Return the type of what has one of ``forms``, by the name that ``find`` gives it."""
    return Annotated[Union[tuple(Annotated[kind, Tag(name)] for name, kind in forms.items())], Discriminator(find)]  # noqa: UP007


def _make_forms(direction: Direction) -> Any:
    """Return the type of a request's body, which is read as a ``Question`` or as ``Items``.

    It is one question, many, or many after one dialogue, each with the controls that make sense in this direction.
    """
    prefix = "" if direction == "simplify" else direction.capitalize()
    kind = "self-contained question" if direction == "simplify" else "conversational question"
    fitting = (one for one in fields(Controls) if one.metadata.get("only", direction) == direction)
    controls: dict[str, Any] = {
        one.name: _make_field(one.name, one.default, one.metadata.get(f"{direction}_help", one.metadata["help"]))
        for one in fitting
    }

    def make(name: str, base: type[BaseModel], about: str, example: object, **own: Any) -> type[BaseModel]:
        about, shown = f"{about}, and how far to go.", {"json_schema_extra": {"examples": [example]}}
        return create_model(f"{prefix}{name}", __base__=base, __doc__=about, __cls_kwargs__=shown, **own, **controls)

    def read(by: Callable[[Any, Direction], object], model: type[BaseModel]) -> Any:
        return Annotated[Question, _read_by(lambda body: by(body, direction), model)]

    asked, said = _ASKED[direction], "Who directed Alien?"
    messages = [{"role": "user", "content": said}, {"role": "assistant", "content": "Ridley Scott."}]
    item = make(
        *("Item", _Dialogue, f"A {kind}, the dialogue before it"),
        {"question": asked[0], "context": [said], "n_best": 3},
        question=(_Asked, Field(description=f"The {kind}.")),
    )
    chat = make(
        *("Chat", _Named, f"A chat whose last message is a {kind}"),
        {"messages": [*messages, {"role": "user", "content": asked[0]}]},
        messages=(
            Annotated[list[Message], Field(min_length=1, max_length=MAX_UTTERANCES)],
            Field(description="The dialogue as chat models take it; the last message, the user's, is the question."),
        ),
    )
    candidates = make(
        *("Candidates", _Dialogue, f"Several {kind}s after one dialogue"),
        {"questions": [*asked], "context": [said]},
        questions=(list[_Asked], Field(min_length=1, description=f"The {kind}s, each after the dialogue.")),
    )
    single = _one_of({"one": read(_read_item, item), "chat": read(_read_chat, chat)}, _find_item_form)
    many = create_model(
        f"{prefix}Items",
        __base__=Items,
        __doc__=Items.__doc__,
        items=(list[single], Field(min_length=1)),  # type: ignore[valid-type]
    )
    forms = {"single": single, "many": many, "candidates": read(_read_candidates, candidates)}
    return _one_of(forms, _find_form)


def _take_forms(direction: Direction) -> GetPydanticSchema:
    """Return what makes a field's schema that of the forms of a request."""
    return GetPydanticSchema(lambda _, handler: handler.generate_schema(_make_forms(direction)))


class SimplifyRequest(RootModel[Any]):
    """One question, many under ``items``, or many after one dialogue under ``questions``."""

    root: Annotated[Any, _take_forms("simplify")]


class ResolveRequest(RootModel[Any]):
    """One question to resolve, many under ``items``, or many after one dialogue under ``questions``."""

    root: Annotated[Any, _take_forms("resolve")]
