"""What goes over the wire: the models of every request and response, which the OpenAPI document is made from."""

from collections.abc import Mapping
from dataclasses import fields
from functools import partial
from typing import Annotated, Any, Literal, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, RootModel, TypeAdapter, ValidationError, create_model
from pydantic.functional_validators import AfterValidator, BeforeValidator, model_validator
from pydantic.json_schema import WithJsonSchema
from pydantic.types import Discriminator, GetPydanticSchema, Tag
from pydantic_core.core_schema import no_info_after_validator_function

from riseq.controls import MAX_PASSES, NEUTRAL, Controls
from riseq.data.dialogue import EXPECTED, read_context, split_messages
from riseq.server.engines import Question
from riseq.types import InputError, Simplification

MAX_QUESTION = 4_000  # characters; the model reads some 500 word pieces
MAX_UTTERANCES = 1_000
MAX_UTTERANCE = 100_000  # characters; the last few hundred words count
MAX_PROTECTED = 100
MAX_PHRASE = 200
MAX_N_BEST = 20
MAX_NAME = 100
MOST_PASSES = 10
_EXAMPLE: Any = {"question": "When was Alien released?", "context": ["Who directed Alien?"], "n_best": 3}


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


class _InDialogue(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, json_schema_extra={"examples": [_EXAMPLE]})

    question: str = Field(min_length=1, max_length=MAX_QUESTION, description="The self-contained question.")
    context: Annotated[
        Utterances, BeforeValidator(_read_utterances, json_schema_input_type=ContextItems | str | None)
    ] = Field(
        default=(),
        description="The dialogue before the question, oldest first: strings, chat messages (role, content), "
        "utterances (speaker, text), turns (question, answer), or pairs of strings. A string is one utterance.",
    )
    model: Annotated[str, Field(min_length=1, max_length=MAX_NAME)] | None = Field(
        default=None,
        description="What is to answer, by its name in GET /v1/models; without it the model at work.",
    )

    @model_validator(mode="before")
    @classmethod
    def _take_messages(cls, values: Any) -> Any:
        row = split_messages(values) if isinstance(values, Mapping) else values
        return values if row is values else {name: row[name] for name in row if name != "messages"}


_CONTROLS: dict[str, Any] = {
    one.name: _make_field(one.name, one.default, one.metadata["help"]) for one in fields(Controls)
}
_ABOUT = "A self-contained question, the dialogue before it, and how far to go."
_Item = create_model("Item", __base__=_InDialogue, __doc__=_ABOUT, **_CONTROLS)


def _read_item(item: _InDialogue) -> Question:
    controls = Controls(**{name: getattr(item, name) for name in _CONTROLS})
    return Question(item.question, item.context, controls, item.model)


Item = Annotated[
    Question,
    GetPydanticSchema(lambda _, handler: no_info_after_validator_function(_read_item, handler.generate_schema(_Item))),
]
"""A question as a request has it."""


class Items(BaseModel):
    """Many questions at once; each is answered at its place."""

    model_config = ConfigDict(extra="forbid", strict=True)

    items: list[Item] = Field(min_length=1)


def _count(body: object) -> str:
    return "many" if isinstance(body, Items) or (isinstance(body, Mapping) and "items" in body) else "one"


OneOrMany = Annotated[Annotated[Item, Tag("one")] | Annotated[Items, Tag("many")], Discriminator(_count)]


class SimplifyRequest(RootModel[OneOrMany]):
    """One question, or many under ``items``."""


class MentionOut(BaseModel):
    """A place in the dialogue: the characters from start to end of one of its utterances."""

    utterance: int = Field(description="The index of the utterance, oldest first, from 0; a turn with its answer is 2.")
    start: int
    end: int


class EditOut(BaseModel):
    """One change of words: ``before[start:end]``, which was ``old``, became ``new``."""

    op: Literal["delete", "insert", "substitute"]
    start: int = Field(description="Where it begins in the text before this pass, in Unicode code points.")
    end: int = Field(description="Where it ends; equal to start for an insertion.")
    old: str
    new: str
    probability: float | None = Field(description="How probable the model holds this edit.")
    refers_to: MentionOut | None = Field(
        description="The mention because of which the old words are not needed, if known."
    )


class StepOut(BaseModel):
    """One editing pass."""

    before: str = Field(description="The text the pass began with, which its edits' places are in.")
    text: str = Field(description="The text the pass left behind.")
    edits: list[EditOut]


class Form(BaseModel):
    """One form of a question."""

    text: str
    changed: bool = Field(description="Whether the text differs from the question.")
    steps: list[StepOut] = Field(description="The passes that led there; none where nothing was edited.")
    confidence: float | None = Field(
        description="The probability that a person would accept the text, calibrated, if the model says."
    )
    probability: float | None = Field(description="The model's probability of all edits together; not calibrated.")


class Result(Form):
    """What became of a question."""

    question: str
    truncated: bool = Field(description="Whether some of the context or question was too long to be read.")
    reason: str | None = Field(
        description="Why the question was left alone or a milder form taken, where the model's edits did not decide it."
    )
    alternatives: list[Form] = Field(
        description="With n_best above 1: forms from milder to stronger, this one among them."
    )


class ErrorDetail(BaseModel):
    """What went wrong, in a word for programs and a line for people."""

    code: str
    message: str
    request_id: str = Field(description="The same as in the header X-Request-Id and in the server's log.")


class ErrorOut(BaseModel):
    """The body of every answer that is not 2xx."""

    error: ErrorDetail


class ItemFailure(ErrorOut):
    """An item that could not be simplified, among others that could."""


class Results(BaseModel):
    """One result or failure an item, in the order of the items."""

    results: list[Result | ItemFailure]


class Limits(BaseModel):
    """How much one request may ask for."""

    max_items: int
    max_body_bytes: int
    max_question_characters: int = MAX_QUESTION
    max_utterances: int = MAX_UTTERANCES
    max_utterance_characters: int = MAX_UTTERANCE
    max_protect: int = MAX_PROTECTED
    max_n_best: int = MAX_N_BEST
    max_passes: int = MOST_PASSES
    timeout_seconds: float


class ModelOut(BaseModel):
    """The model at work, and what it takes."""

    name: str
    engine: str
    precision: str | None
    phrases: int | None = Field(description="How many phrases it can put in.")
    max_pieces: int | None = Field(
        description="How many word pieces of dialogue and question it reads: the latest utterances first, and the end "
        "of the one that does not fit. A result is ``truncated`` where anything was left out."
    )
    utterance_pieces: int | None = Field(description="How many word pieces of each utterance it reads; null: all.")
    utterances: int | None = Field(description="How many of the last utterances it reads; null: all that fit.")
    default_strength: float = NEUTRAL
    default_max_passes: int = MAX_PASSES
    riseq: str = Field(description="The version of riseq.")
    links: dict[str, str] = Field(description="The project's addresses by name, as its package has them; often none.")
    limits: Limits


class ChoiceOut(BaseModel):
    """Something that a request may name as its ``model``."""

    name: str
    kind: Literal["model", "system"] = Field(description="A system takes no controls, such as strength.")
    about: str
    at_work: bool = Field(description="Whether it answers where a request names nothing.")
    loaded: bool = Field(description="Whether it is in memory; if not, the first request that names it loads it.")


class ModelsOut(BaseModel):
    """What a request may name as its ``model``: the one at work first."""

    models: list[ChoiceOut]


class Health(BaseModel):
    """The process answers."""

    status: Literal["ok"] = "ok"


class ReadinessOut(BaseModel):
    """Whether work is welcome."""

    status: Literal["ready", "not ready"]
    reason: str | None = None
    queued: int


def write_result(result: Simplification) -> dict[str, Any]:
    """Return the result as it goes over the wire: ``to_dict``, what follows from it, and what is not known."""
    values = result.to_dict()
    for form in (values, *values["alternatives"]):
        form["changed"] = form["text"] != result.question
        before = result.question
        for step in form["steps"]:
            step["before"], before = before, step["text"]
            step["edits"] = [{"probability": None, "refers_to": None, **edit} for edit in step["edits"]]
    return values
