"""What the training loop asks of a task: a network with its data, which learns a batch at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from enum import IntEnum
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from riseq.types import Example, InputError

if TYPE_CHECKING:
    from riseq.train.processes import Processes
    from riseq.train.settings import TrainSettings

TASKS = {
    "rise": "riseq.train.rise:RiseTask",
    "trans++": "riseq.baselines.tasks:EncoderDecoderTask",
    "qgdiv": "riseq.baselines.tasks:EncoderDecoderTask",
    "querysim": "riseq.baselines.tasks:LanguageModelTask",
}
"""Where the task of each system is; a room above this one is found by its name."""


def find_task(system: object, source: str = "settings") -> type[Task]:
    """Return the class of a system's task; ``source`` names the recipe in the error for one that there is not."""
    if not isinstance(system, str) or system not in TASKS:
        raise InputError(f"{source}: system: {system!r}; expected one of {', '.join(TASKS)}")
    found: type[Task] = resolve_name(TASKS[system])
    return found


class Task(Protocol):
    """A network and its training pairs in the form that it reads."""

    settings_class: ClassVar[type[TrainSettings]]
    network: nn.Module
    device: torch.device
    dev: Mapping[str, Sequence[Example]]
    """The dev sets by name, with targets."""
    fingerprint: str
    """Changes with the data and the settings: progress with another one is not resumed."""
    log: StepLog
    title: str
    about: str
    made_from: str
    """What the model card says: a heading, what the model does, and what it began as."""

    def __init__(self, settings: Any, processes: Processes) -> None:
        """Load the data and the network, the same for the same settings."""

    def running(self) -> AbstractContextManager[None]:
        """Return the context that the run happens in; by default one that asks for nothing."""
        return nullcontext()

    def peak_rate(self, name: str) -> float:
        """Return the peak learning rate of the parameter ``name``."""

    def start_epoch(self, epoch: int, rng: np.random.Generator) -> tuple[int, Iterator[Any]]:
        """Return how many batches the epoch has, and those, made ahead in a thread; make the network ready."""

    def learn(self, batch: Any) -> None:
        """Add the gradients of a batch's loss to the network's, and add the batch to the log."""

    def predict(self, name: str) -> list[str]:
        """Return the network's question for each example of the dev set ``name``."""

    def save(self, folder: Path, facts: Mapping[str, Any], card: str) -> None:
        """Write the model's folder whole."""


@dataclass(slots=True)
class StepLog:
    """Sums over the steps since the last reading; losses stay on the device until they are read."""

    losses: list[Tensor] = field(default_factory=list)
    weight: float = 0.0  # what the sum of the losses is divided by: states, or batches where each loss is a mean
    states: int = 0
    rewards: float = 0.0
    edits: int = 0
    words: int = 0  # those that edits were sampled for; 0 where a method samples none
    sampling_s: float = 0.0

    def read(self, processes: Processes, device: torch.device) -> StepMeans:
        """Return what the steps were like on all processes together."""
        loss = torch.stack(self.losses).sum().item() if self.losses else 0.0
        numbers = [loss, self.weight, self.states, self.rewards, self.edits, self.words, self.sampling_s]
        sums = processes.sum(torch.tensor(numbers, dtype=torch.float64, device=device)).tolist()
        loss, weight, states, rewards, edits, words, sampling_s = sums
        means = StepMeans(loss / max(1.0, weight), int(states))
        if not words:
            return means
        return replace(means, reward=rewards / states, edited=edits / words, sampling_s=sampling_s / processes.count)


@dataclass(frozen=True, slots=True)
class StepMeans:
    """Loss and reward a state, the share of words edited, how many states, and a process's seconds of sampling."""

    loss: float
    states: int
    reward: float | None = None
    edited: float | None = None
    sampling_s: float | None = None


class Stream(IntEnum):
    """What is random in a run; streams of one seed are independent of each other."""

    DATA = 1  # the extra training pairs; no position
    EPOCH = 2  # an epoch's states, the cut and order of its batches, a seed for each state's sampler; at the epoch
    NETWORK = 3  # torch's own: dropout and the phrases that risk is estimated by; at the epoch and the process


def make_rng(seed: int, stream: Stream, *position: int) -> np.random.Generator:
    """Return the generator of a stream at a position, so that a resumed run repeats the epochs it never finished."""
    return np.random.default_rng([seed, int(stream), *position])


def derive_seed(seed: int, stream: Stream, *position: int) -> int:
    """Return a 32-bit seed for another library's generator; numpy's seed sequence mixes it, alike on every machine."""
    return int(np.random.SeedSequence([seed, int(stream), *position]).generate_state(1)[0])


def autocast(device: torch.device, bfloat16: bool = False) -> AbstractContextManager[object]:
    """Return the context that networks run in: bfloat16 on a GPU and where it is asked for, else float32."""
    half = bfloat16 or device.type == "cuda"
    return torch.autocast(device.type, dtype=torch.bfloat16) if half else nullcontext()
