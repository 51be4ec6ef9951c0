"""Adam with layer-wise rates, the schedule, and averaged weights."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from riseq.model.network import RiseNetwork
from riseq.train.settings import TrainSettings


class Schedule(Protocol):
    """The settings that decide how the rate runs."""

    @property
    def warmup_steps(self) -> int:
        """Steps of linear warm-up."""
        ...

    @property
    def schedule(self) -> str:
        """What comes after the warm-up: cosine or constant."""
        ...


def build_optimiser(network: RiseNetwork, settings: TrainSettings) -> torch.optim.AdamW:
    """Return AdamW with one group a layer: deeper layers learn faster where ``layer_decay`` is below 1."""
    depth = len(network.encoder.layers)
    groups: dict[tuple[float, float], list[nn.Parameter]] = {}
    for name, parameter in network.named_parameters():
        rate = settings.head_lr
        if name.startswith("encoder."):
            rate = settings.lr
            if name.startswith("encoder.layers."):
                rate *= settings.layer_decay ** (depth - 1 - int(name.split(".")[2]))
            else:
                rate *= settings.layer_decay**depth
        elif name.startswith("decoder."):
            rate = settings.lr
        decay = settings.weight_decay if parameter.dim() > 1 else 0.0
        groups.setdefault((rate, decay), []).append(parameter)
    fused = next(network.parameters()).is_cuda
    return torch.optim.AdamW(
        [{"params": p, "lr": lr, "weight_decay": wd, "peak": lr} for (lr, wd), p in groups.items()],
        betas=(0.9, 0.98),
        eps=1e-6,
        fused=fused,
    )


def rate_at(step: int, steps: int, settings: Schedule) -> float:
    """Return the share of the peak rate at ``step``: a linear warm-up, then a cosine to a twentieth, or constant."""
    if step < settings.warmup_steps:
        return (step + 1) / settings.warmup_steps
    if settings.schedule == "constant":
        return 1.0
    part = (step - settings.warmup_steps) / max(1, steps - settings.warmup_steps)
    return 0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * min(1.0, part)))


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

    @torch.no_grad()
    def swap(self) -> None:
        """Exchange the averaged weights and the network's own; a second call undoes the first."""
        for kept, parameter in zip(self.kept, self.parameters, strict=True):
            held = parameter.detach().clone()
            parameter.copy_(kept)
            kept.copy_(held)


def optimiser_tensors(optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Return the optimiser's state as named tensors."""
    found: dict[str, Tensor] = {}
    for number, parameter in enumerate(_parameters(optimiser)):
        for name, value in optimiser.state.get(parameter, {}).items():
            found[f"{number}.{name}"] = torch.as_tensor(value).detach().cpu().clone()
    return found


def load_optimiser(optimiser: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    """Put back what ``optimiser_tensors`` gave."""
    parameters = list(_parameters(optimiser))
    states: dict[int, dict[str, Any]] = {}
    for key, tensor in tensors.items():
        number, _, name = key.partition(".")
        states.setdefault(int(number), {})[name] = tensor
    for place, state in states.items():
        parameter = parameters[place]
        optimiser.state[parameter] = {
            name: value.to(parameter.device) if name != "step" or parameter.is_cuda else value
            for name, value in state.items()
        }


def _parameters(optimiser: torch.optim.Optimizer) -> Iterable[Tensor]:
    for group in optimiser.param_groups:
        yield from group["params"]
