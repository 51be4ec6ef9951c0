"""What decides a training run; the same settings from a recipe, from flags and from Python."""

import dataclasses
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

from riseq.train.task import find_task
from riseq.types import Direction, InputError, suggest


@dataclass(frozen=True, slots=True)
class TrainSettings:
    """What every training run has; each field's comment is its help text."""

    system: str = "rise"  # what is trained: rise, trans++, qgdiv or querysim
    # The network
    backbone: str = "weights/gte"  # folder or hub id of a BERT or MPNet encoder; for querysim of a language model
    dropout: float = 0.1  # in encoder and decoder
    # The data
    train: tuple[str, ...] = ("canard/train.qonly",)  # files, or sets' names under RISEQ_DATA
    dev: tuple[str, ...] = ("canard/dev.qonly",)  # the first one chooses the checkpoint
    limit: int | None = None  # use only the first rows of each file
    direction: Direction = "simplify"  # resolve: every pair is learnt backwards
    drop_answers: float = 0.0  # share of examples with answers (files named .qa) that are also used without them
    borrow_answers: float = 0.0  # share of examples without answers that are also used with some from elsewhere
    swap: float = 0.0  # extra examples with entities of another kind, as a share of the training pairs
    everyday: tuple[str, ...] = ()  # files of everyday dialogues, or sets' names
    everyday_copies: int = 4  # how often an epoch has each everyday question, its forms in turn; resolve: each form
    everyday_forms: int | None = None  # how many forms of each everyday question are used, the best first; none: all
    unrelated: float = 0.0  # questions after unrelated dialogues, where they stay, as a share of the pairs
    foreign: float = 0.0  # pairs with a foreign dialogue before theirs, as a share of the pairs
    complete: float = 0.0  # resolve: self-contained questions in their dialogues, which stay, as a share of the pairs
    first_turns: float = 0.0  # questions with no dialogue, which stay, as a share of the pairs
    small_talk: tuple[str, ...] = ()  # files of what is no question or not English, which stays, or sets' names
    small_talk_share: float = 0.02  # how often it is said, as a share of the pairs
    utterance_pieces: int | None = 30  # the cut of each utterance; none: whole
    utterances: int | None = 6  # how many of the last are read; none: all
    context_pieces: int | None = None  # the most pieces of a dialogue that are read, the latest first
    # The optimiser
    epochs: int = 6  # frozen or copying ones counted
    batch: int = 256  # states a step; of a baseline, pairs
    lr: float = 1e-4  # peak rate of what is pretrained
    head_lr: float = 4e-4  # of what is new
    warmup_steps: int = 100  # steps of linear warm-up
    schedule: Literal["cosine", "constant"] = "cosine"  # after the warm-up; cosine ends at a twentieth
    weight_decay: float = 0.01  # of matrices; 0 is plain Adam
    clip: float = 1.0  # the largest norm of a step's gradient
    ema: float = 0.0  # decay of the averaged weights that are scored and kept; 0: none
    # The run
    seed: int = 1  # decides everything random
    device: str = "auto"  # auto, cpu, cuda, cuda:1 ...
    bfloat16: bool = False  # compute in bfloat16 on a CPU too: on one with such instructions much faster
    scored_from: int = 1  # the first epoch whose dev scores are taken
    resumable: bool = True  # keep the last finished epoch on disk, to go on from after a kill

    def __post_init__(self) -> None:
        if self.epochs < 1 or self.batch < 1:
            raise InputError("epochs and batch are 1 or more")
        if not self.train or not self.dev:
            raise InputError("train and dev name at least one data set each")
        if self.seed < 0:
            raise InputError("seed is 0 or more")
        if self.scored_from > self.epochs:
            raise InputError(f"scored_from: {self.scored_from}; expected up to epochs, {self.epochs}")
        if self.complete and self.direction != "resolve":
            raise InputError("complete: a question that says everything stays only where direction is resolve")
        if self.everyday_forms is not None and self.everyday_forms < 1:
            raise InputError("everyday_forms is 1 or more")
        for name in ("complete", "first_turns", "small_talk_share"):
            if getattr(self, name) < 0:
                raise InputError(f"{name} is 0 or more")


@dataclass(frozen=True, slots=True)
class RiseSettings(TrainSettings):
    """A training run of RISE; each field's comment is its help text."""

    system: Literal["rise"] = "rise"
    # The network
    start: str | None = None  # a model to go on from, with its shape and phrases: default, large or a folder
    low_rank: int = 0  # the start's matrices stay, and differences of this rank are learnt; 0: everything is learnt
    keep_layers: tuple[int, ...] | None = None  # cut the encoder to these layers
    keep_decoder: tuple[int, ...] | None = None  # cut a start's decoder to these layers
    decoder_layers: int = 2  # layers of the phrasing policy
    decoder_input: Literal["states", "tokens"] = "states"  # what the decoder reads of a span
    joint: bool = False  # an operation's probability depends on the operation before it
    beside: bool = False  # later passes are shown the question as it was asked beside what it has become
    stops: bool = False  # a head decides whether a pass is taken; it learns in the epochs of minimum risk
    copies: int = 0  # the longest phrase, in words, that can be copied from what is read; 0: none
    templates: int = 0  # how many templates, such as "of {}", a copied phrase can stand in; 0: none
    parts: bool = False  # a phrase that cannot be said is learnt in parts, the longest first, the rest in later passes
    phrases: int = 3461  # size of the phrase vocabulary
    min_count: int = 2  # a phrase must occur this often in the training pairs
    # The data
    grounded: bool = False  # the network is told whether only what the dialogue said goes
    with_truth: tuple[str, ...] = ()  # sets of which a quarter of the pairs is also used without being told that
    # The method
    method: Literal["rise", "mle", "epsilon"] = "rise"  # rise; mle is -MLD; epsilon is -DPS
    likelihood_epochs: int = 0  # first epochs of rise that learn one gold alignment, as mle does
    sampler: Literal["dps", "posterior"] = "dps"  # rise draws by the paper's expectation, or by the exact posterior
    epsilon: float = 0.2  # how often the epsilon method draws at random, per word and per phrase
    samples: int = 1  # draws a state, the paper's L
    above_nothing: bool = False  # epsilon's rewards count from that of leaving the question as it is
    reward_floor: float | None = 0.0  # rewards below are raised to it; none: Eq. 7 as it stands
    reward_scale: Literal["paper", "bounded"] = "paper"  # bounded: Eq. 7 over the best reward the pair can have
    own_share: float = 0.5  # states the policy reached itself, as a share of the pairs
    stop_share: float = 0.1  # finished states (y*, y*), as a share of the pairs
    passes: int = 3  # editing passes of the dev scores
    teachers: tuple[str, ...] = ()  # models whose mean soft labels are learnt too; named as start is
    distill: float = 0.0  # weight of the soft labels
    imitate: float = 0.0  # weight of the distance to the first teacher's states; it comes with distill
    risk_epochs: int = 0  # last epochs that also lower the expected distance of the policy's own outputs
    risk_samples: int = 8  # outputs a state that this is estimated by, its best and a guided one among them
    risk_passes: int = 1  # editing passes of an output whose risk is lowered; 1: the first alone
    risk_mix: float = 0.3  # weight of the ordinary objective in those epochs
    risk: Literal["expected", "baseline"] = "expected"  # by their odds, or each against the mean of the others
    # The optimiser
    frozen_epochs: int = 0  # first epochs with the pretrained encoder frozen
    frozen_layers: int = 0  # encoder layers, from the first, that stay as they are, with what is below them
    frozen_decoder: bool = False  # the decoder's layers stay as they are: its head alone learns
    micro_batches: int = 1  # parts of a step: one is sampled while the other is computed
    graphs: bool = True  # capture the encoder's passes on a GPU
    graphed_decoder: bool = False  # with graphs: the decoder's too, in the shapes that steps are met with
    half: bool = False  # passes are of a bfloat16 copy of the weights, made once a step, without autocast's casts
    layer_decay: float = 1.0  # each encoder layer below learns this much slower
    # The run
    workers: int = 0  # threads of the sampler; 0: all cores

    def __post_init__(self) -> None:
        TrainSettings.__post_init__(self)
        if self.micro_batches < 1 or self.workers < 0:
            raise InputError("micro_batches is 1 or more, workers 0 or more")
        if self.samples < 1 or self.risk_samples < 3 or self.risk_passes < 1:
            raise InputError("samples and risk_passes are 1 or more, risk_samples 3 or more")
        if self.imitate and not (self.teachers and self.distill):
            raise InputError("imitate: a teacher's states come with its soft labels; expected teachers and distill")
        if self.keep_decoder is not None and self.start is None:
            raise InputError("keep_decoder: it cuts a start's decoder, and there is none; expected decoder_layers")
        if self.stops and not self.risk_epochs:
            raise InputError("stops: a head that decides learns in risk_epochs; expected 1 or more of them")
        if self.copies < 0:
            raise InputError("copies is 0 or more")
        if self.low_rank < 0 or (self.low_rank and self.start is None):
            raise InputError("low_rank is 0 or more; its differences are to a start, and there is none")
        if self.templates < 0 or (self.templates and not self.copies and self.start is None):
            raise InputError("templates is 0 or more; they stand around what copies lets be copied")
        if self.copies and self.teachers:
            raise InputError("copies: teachers have no copied phrases to teach; expected one of the two")


def make_settings(values: Mapping[str, Any], source: str = "settings") -> TrainSettings:
    """Return the settings of a mapping as its ``system`` (else rise) has them, every name and type checked."""
    kind = find_task(values.get("system", "rise"), source).settings_class
    fields = {field.name: field for field in dataclasses.fields(kind)}
    hints = typing.get_type_hints(kind)
    unknown = sorted(set(values) - set(fields))
    if unknown:
        raise InputError(f"{source}: no setting is called {unknown[0]!r}; {suggest(unknown[0], sorted(fields))}")
    return kind(**{name: _cast(value, hints[name], f"{source}: {name}") for name, value in values.items()})


def read_recipe(path: str | Path, overrides: Mapping[str, Any] | None = None) -> TrainSettings:
    """Return the settings of a YAML recipe, with ``overrides`` on top."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: no such recipe")
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except yaml.YAMLError as error:
        mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
        line = f", line {mark.line + 1}" if mark else ""
        raise InputError(f"{path}{line}: not YAML") from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as text ({error})") from error
    if not isinstance(values, dict):
        raise InputError(f"{path}: expected names and values, got {type(values).__name__}")
    return make_settings({**values, **(overrides or {})}, str(path))


def parse_override(text: str) -> tuple[str, Any]:
    """Return the name and value of ``name=value`` as a flag gives it."""
    name, found, value = text.partition("=")
    if not found:
        raise InputError(f"--set {text!r}: expected name=value")
    try:
        return name.strip(), yaml.safe_load(value)
    except yaml.YAMLError as error:
        raise InputError(f"--set {text!r}: the value is not YAML") from error


def _cast(value: Any, kind: Any, where: str) -> Any:
    origin = typing.get_origin(kind)
    if origin in (types.UnionType, typing.Union):
        if value is None:
            return None
        return _cast(value, next(a for a in typing.get_args(kind) if a is not type(None)), where)
    if origin is Literal:
        if value not in typing.get_args(kind):
            raise InputError(f"{where}: {value!r}; expected one of {', '.join(map(str, typing.get_args(kind)))}")
        return value
    if origin is tuple:
        items = [value] if isinstance(value, str | int) else value
        if not isinstance(items, list | tuple):
            raise InputError(f"{where}: {value!r}; expected a list")
        return tuple(_cast(item, typing.get_args(kind)[0], where) for item in items)
    if kind is float and isinstance(value, int | float | str) and not isinstance(value, bool):
        try:
            return float(value)  # YAML reads 1e-4 as text
        except ValueError:
            pass
    elif (kind is bool and isinstance(value, bool)) or (
        kind in (int, str) and isinstance(value, kind) and not isinstance(value, bool)
    ):
        return value
    raise InputError(f"{where}: {value!r}; expected {getattr(kind, '__name__', kind)}")
