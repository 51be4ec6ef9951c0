"""What goes over the wire: the models of every request and response, which the OpenAPI document is made from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    RootModel,
    Tag,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
    field_validator,
)

from riseq.controls import MAX_PASSES, NEUTRAL, Controls
from riseq.core.edits import Op
from riseq.data.dialogue import EXPECTED, read_context
from riseq.types import InputError, Simplification, Step, TextEdit

MAX_QUESTION = 4_000
"""Characters; the model reads some 500 word pieces."""
MAX_UTTERANCES = 1_000
MAX_UTTERANCE = 100_000
"""Characters; the last few hundred words count."""
MAX_PROTECTED = 100
MAX_PHRASE = 200
MAX_N_BEST = 20
MOST_PASSES = 10


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
ContextForms = Annotated[list[str | Message | Utterance | Turn | Pair], Field(max_length=MAX_UTTERANCES)]


_FORMS: TypeAdapter[object] = TypeAdapter(ContextForms, config=ConfigDict(strict=True))


def _read(context: object) -> tuple[str, ...]:
    """Return the utterances; the library's own words say what is wrong where it minds, and the document's where not."""
    utterances = read_context(context)
    try:
        _FORMS.validate_python(context)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if first["type"] == "too_long":
            raise InputError(f"it has more than {MAX_UTTERANCES:,} utterances") from None
        raise InputError(f"context[{first['loc'][0]}] has a part of the wrong type, expected {EXPECTED}") from None
    return utterances


class Item(BaseModel):
    """A self-contained question, the dialogue before it, and how far to go."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={
            "examples": [{"question": "When was Alien released?", "context": ["Who directed Alien?"], "n_best": 3}]
        },
    )

    question: str = Field(min_length=1, max_length=MAX_QUESTION, description="The self-contained question.")
    context: Annotated[Utterances, BeforeValidator(_read, json_schema_input_type=ContextForms)] = Field(
        default=(),
        description="The dialogue before the question, oldest first: strings, chat messages (role, content), "
        "utterances (speaker, text), turns (question, answer), or pairs of strings.",
    )
    strength: float = Field(
        default=NEUTRAL,
        ge=0,
        le=1,
        allow_inf_nan=False,
        description="0 keeps the question, 0.5 is the model's own choice, 1 gives the shortest form.",
    )
    protect: list[Annotated[str, Field(min_length=1, max_length=MAX_PHRASE)]] = Field(
        default_factory=list, max_length=MAX_PROTECTED, description="Words that are left as they are."
    )
    n_best: int = Field(
        default=1, ge=1, le=MAX_N_BEST, description="Above 1 the result has up to so many alternatives."
    )
    max_passes: int | None = Field(
        default=None,
        ge=1,
        le=MOST_PASSES,
        description=f"Edit in at most so many passes; the model's own number, mostly {MAX_PASSES}, where it is null.",
    )

    guard: bool = Field(
        default=True,
        description="Keep what only the question says, unless the model is sure that it may go.",
    )

    @field_validator("n_best", "max_passes", mode="before")
    @classmethod
    def _round(cls, value: object) -> object:
        # In JSON 2.0 and 2 are the same number.
        return int(value) if isinstance(value, float) and value.is_integer() else value

    @field_validator("protect")
    @classmethod
    def _check_protect(cls, phrases: list[str]) -> list[str]:
        Controls(protect=tuple(phrases))
        return phrases


class Items(BaseModel):
    """Many questions at once; each is answered at its place."""

    model_config = ConfigDict(extra="forbid", strict=True)

    items: list[Item] = Field(min_length=1)


def _count(body: object) -> str:
    return "many" if isinstance(body, Items) or (isinstance(body, Mapping) and "items" in body) else "one"


OneOrMany = Annotated[Annotated[Item, Tag("one")] | Annotated[Items, Tag("many")], Discriminator(_count)]


class SimplifyRequest(RootModel[OneOrMany]):
    """One question, or many under ``items``."""


class EditOut(BaseModel):
    """One change of words: ``before[start:end]``, which was ``old``, became ``new``."""

    op: Literal["delete", "insert", "substitute"]
    start: int = Field(description="Where it begins in the text before this pass, in Unicode code points.")
    end: int = Field(description="Where it ends; equal to start for an insertion.")
    old: str
    new: str
    probability: float | None = Field(description="How probable the model holds this edit.")


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
        description="How sure the model is that the text is right, calibrated, if it says."
    )
    probability: float | None = Field(description="The model's probability of all edits together; not calibrated.")


class Result(Form):
    """What became of a question."""

    question: str
    truncated: bool = Field(description="Whether some of the context or question was not looked at for want of room.")
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


class ItemFailure(BaseModel):
    """An item that could not be simplified, among others that could."""

    error: ErrorDetail


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
    max_pieces: int | None = Field(description="How many word pieces of dialogue and question it reads.")
    default_strength: float = NEUTRAL
    default_max_passes: int = MAX_PASSES
    riseq: str = Field(description="The version of riseq.")
    limits: Limits


class Health(BaseModel):
    """The process answers."""

    status: Literal["ok"] = "ok"


class ReadinessOut(BaseModel):
    """Whether work is welcome."""

    status: Literal["ready", "not ready"]
    reason: str | None = None
    queued: int


_OPS: dict[Op, Literal["delete", "insert", "substitute"]] = {
    Op.DELETE: "delete",
    Op.INSERT: "insert",
    Op.SUBSTITUTE: "substitute",
}


def tell(result: Simplification) -> Result:
    """Return the result as it goes over the wire."""
    form = _tell_form(result)
    return Result(
        question=result.question,
        text=form.text,
        changed=form.changed,
        steps=form.steps,
        truncated=result.truncated,
        confidence=form.confidence,
        probability=form.probability,
        alternatives=[_tell_form(one) for one in result.alternatives],
    )


def _tell_form(form: Simplification) -> Form:
    befores = [form.question, *(step.text for step in form.steps)]
    return Form(
        text=form.text,
        changed=form.changed,
        steps=[_tell_step(before, step) for before, step in zip(befores, form.steps, strict=False)],
        confidence=form.confidence,
        probability=form.probability,
    )


def _tell_step(before: str, step: Step) -> StepOut:
    return StepOut(before=before, text=step.text, edits=[_tell_edit(edit) for edit in step.edits])


def _tell_edit(edit: TextEdit) -> EditOut:
    return EditOut(
        op=_OPS[edit.op],
        start=edit.start,
        end=edit.end,
        old=edit.old,
        new=edit.new,
        probability=edit.probability,
    )
