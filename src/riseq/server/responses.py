"""What a response has: the models of every answer, which the OpenAPI document is made from."""

from typing import Any, Literal

from pydantic import BaseModel, Field

from riseq.controls import MAX_PASSES, NEUTRAL
from riseq.server.schemas import (
    MAX_N_BEST,
    MAX_PROTECTED,
    MAX_QUESTION,
    MAX_UTTERANCE,
    MAX_UTTERANCES,
    MOST_PASSES,
)
from riseq.types import Direction, Simplification


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
        description="The mention because of which the old words are not needed, if known; of a resolved question the "
        "one that the new words were copied from."
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
    truncated: bool = Field(description="Whether some of the context or question was not read.")
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
    """An item that the engine failed on, among others that it answered."""


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
    direction: Direction = Field(description="Whether it answers POST /v1/simplify or POST /v1/resolve.")
    at_work: bool = Field(description="Whether it answers where a request names nothing.")
    loaded: bool = Field(description="Whether it is in memory; if not, the first request that names it loads it.")


class ModelsOut(BaseModel):
    """What a request may name as its ``model``: the one at work first, what resolves last."""

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
