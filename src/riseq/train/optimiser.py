"""Adam with a rate for each parameter, the schedule of the rates, and averaged weights."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn


@dataclass(slots=True)
class Schedule:
    """How the learning rate runs over a whole run, whose epochs may differ in steps."""

    warmup_steps: int
    shape: Literal["cosine", "constant"]
    warmed_up: float = 0.0
    """The progress at which the warm-up ended; kept with a run's progress, to go on from."""

    def share(self, step: int, progress: float) -> float:
        """Return the share of the peak rate at ``step``, which brings the run to ``progress`` in (0, 1].

        A linear warm-up, then constant, or a cosine that is at a twentieth with the run's last step.
        """
        if step < self.warmup_steps:
            self.warmed_up = progress
            return (step + 1) / self.warmup_steps
        if self.shape == "constant" or self.warmed_up >= 1.0:
            return 1.0
        part = (progress - self.warmed_up) / (1.0 - self.warmed_up)
        return 0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * part))


def build_optimiser(network: nn.Module, peak_rate: Callable[[str], float], weight_decay: float) -> torch.optim.AdamW:
    """Return AdamW with each parameter's peak rate by its name; vectors do not decay."""
    groups: dict[tuple[float, float], list[nn.Parameter]] = {}
    for name, parameter in network.named_parameters():
        decay = weight_decay if parameter.dim() > 1 else 0.0
        groups.setdefault((peak_rate(name), decay), []).append(parameter)
    parts = [{"params": p, "lr": lr, "weight_decay": wd, "peak": lr} for (lr, wd), p in groups.items()]
    return torch.optim.AdamW(parts, betas=(0.9, 0.98), eps=1e-6, fused=next(network.parameters()).is_cuda)


def set_rates(optimiser: torch.optim.Optimizer, share: float) -> None:
    """Set every group to ``share`` of its peak rate."""
    for group in optimiser.param_groups:
        group["lr"] = group["peak"] * share


class Average:
    """An exponential average of a network's weights, which can take their place for a while."""

    def __init__(self, network: nn.Module, decay: float) -> None:
        self.decay = decay
        self.steps = 0
        self.parameters = list(network.parameters())
        self.kept = [p.detach().clone() for p in self.parameters]

    @torch.no_grad()
    def update(self) -> None:
        """Take in the weights as they are now; the first steps count fully, so that the start is soon forgotten."""
        self.steps += 1
        weight = max(1 - self.decay, 1 / (self.steps + 1))
        torch._foreach_lerp_(self.kept, [p.detach() for p in self.parameters], weight)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Let the averaged weights be the network's while the block runs."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    @torch.no_grad()
    def _swap(self) -> None:
        for kept, parameter in zip(self.kept, self.parameters, strict=True):
            held = parameter.detach().clone()
            parameter.copy_(kept)
            kept.copy_(held)


def optimiser_tensors(optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Return the optimiser's state as named tensors."""
    return {
        f"{number}.{name}": torch.as_tensor(value).detach().cpu().clone()
        for number, state in optimiser.state_dict()["state"].items()
        for name, value in state.items()
    }


def load_optimiser(optimiser: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    """Put back what ``optimiser_tensors`` gave."""
    states: dict[int, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        number, _, name = key.partition(".")
        states.setdefault(int(number), {})[name] = tensor
    optimiser.load_state_dict({"state": states, "param_groups": optimiser.state_dict()["param_groups"]})
