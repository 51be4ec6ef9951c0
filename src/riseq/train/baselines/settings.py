"""What decides a baseline's training run; the same settings from a recipe, from flags and from Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from riseq.train.settings import cast_settings, read_values
from riseq.types import InputError


@dataclass(frozen=True, slots=True)
class BaselineSettings:
    """A baseline's training run; each field's comment is its help text."""

    system: Literal["trans++", "qgdiv", "querysim"]  # whose network and decoding
    # The network
    backbone: str = "weights/gte"  # folder or hub id: an encoder, or for querysim a language model
    decoder_layers: int = 6  # of trans++ and qgdiv, started from the encoder's last ones
    dropout: float = 0.1  # of trans++ and qgdiv
    beams: int = 5  # of qgdiv's beam search; the others decode greedily
    # The data
    train: tuple[str, ...] = ("canard/train.qonly",)  # files, or sets' names under RISEQ_DATA
    dev: tuple[str, ...] = ("canard/dev.qonly",)  # the first one chooses the checkpoint
    limit: int | None = None  # use only the first rows of each file
    # The optimiser
    epochs: int = 6  # copying ones counted
    copy_epochs: int = 0  # first epochs in which the target is the question: for a decoder that is not pretrained
    batch: int = 128  # pairs a step
    lr: float = 1e-4  # peak rate of what is pretrained
    head_lr: float = 4e-4  # of the decoder and what is new
    warmup_steps: int = 100  # steps of linear warm-up
    schedule: Literal["cosine", "constant"] = "cosine"  # after the warm-up; cosine falls to a twentieth
    weight_decay: float = 0.01  # of matrices
    smoothing: float = 0.0  # share of the probability that the target's piece gives to all pieces
    clip: float = 1.0  # the largest norm of a step's gradient
    ema: float = 0.0  # decay of the averaged weights that are scored and kept; 0: none
    # The run
    seed: int = 1  # decides everything random
    device: str = "auto"  # auto, cpu, cuda, cuda:1 ...
    scored_from: int = 1  # the first epoch whose dev scores are taken
    resumable: bool = True  # keep the last finished epoch on disk, to go on from after a kill
    half: bool = False  # store the best model in float16

    def __post_init__(self) -> None:
        if self.epochs < 1 or self.batch < 1 or self.decoder_layers < 1 or self.beams < 1:
            raise InputError("epochs, batch, decoder_layers and beams are 1 or more")
        if not 0 <= self.copy_epochs < self.epochs:
            raise InputError(f"copy_epochs: {self.copy_epochs}; expected 0 or more, and fewer than epochs")
        if not self.copy_epochs < self.scored_from <= self.epochs:
            raise InputError(f"scored_from: {self.scored_from}; expected after copy_epochs, up to epochs")
        if not self.train or not self.dev:
            raise InputError("train and dev name at least one data set each")
        if self.seed < 0:
            raise InputError("seed is 0 or more")


def baseline_settings(values: Mapping[str, Any], source: str = "settings") -> BaselineSettings:
    """Return the settings of a mapping, every name and type checked."""
    return cast_settings(BaselineSettings, values, source)


def read_baseline_recipe(path: str | Path, overrides: Mapping[str, Any] | None = None) -> BaselineSettings:
    """Return the settings of a baseline's YAML recipe, with ``overrides`` on top."""
    return baseline_settings({**read_values(path), **(overrides or {})}, str(path))
