"""Several processes, each with its part of every batch, and batches prepared ahead in a thread."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar, cast

import torch
from accelerate import PartialState
from accelerate.utils import gather_object, reduce
from torch import Tensor, nn

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Processes:
    """Which of how many processes this is."""

    index: int = 0
    count: int = 1

    @classmethod
    def current(cls) -> Processes:
        """Return what ``accelerate launch`` (or nothing) started."""
        state = PartialState()
        return cls(state.process_index, state.num_processes)

    @property
    def is_main(self) -> bool:
        """Whether this process writes files and shows progress."""
        return self.index == 0

    def share(self, rows: int) -> slice:
        """Return this process's part of a batch of ``rows``."""
        return slice(rows * self.index // self.count, rows * (self.index + 1) // self.count)

    def wait(self) -> None:
        """Return once every process has come here."""
        PartialState().wait_for_everyone()

    def gather(self, part: T) -> list[T]:
        """Return every process's part, in the processes' order."""
        parts: list[T] = gather_object([part])
        return parts

    def sum(self, numbers: Tensor) -> Tensor:
        """Return the sum of every process's numbers."""
        total: Tensor = reduce(numbers, "sum")
        return total

    def sum_gradients(self, network: nn.Module) -> None:
        """Add up every process's gradients, so that all take the same step."""
        if self.count == 1:
            return
        parameters = [p for p in network.parameters() if p.requires_grad]
        # A part without rows has no gradients; a parameter that nobody used stays without, for zeros would decay it.
        used = torch.tensor([p.grad is not None for p in parameters], dtype=torch.float32, device=parameters[0].device)
        trained = [p for p, count in zip(parameters, self.sum(used).tolist(), strict=True) if count]
        gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in trained]
        summed = self.sum(torch.cat([gradient.flatten() for gradient in gradients]))
        for parameter, part in zip(trained, torch.split(summed, [p.numel() for p in trained]), strict=True):
            parameter.grad = part.view_as(parameter)


def leave_processes() -> None:
    """End what ``Processes.current`` began, before the interpreter does."""
    PartialState().destroy_process_group()


def prefetch(items: Iterator[T], depth: int = 4) -> Iterator[T]:
    """Yield ``items``, made in another thread up to ``depth`` ahead; what fails there is raised here."""
    end = object()
    thread = ThreadPoolExecutor(1)
    try:
        ahead = deque(thread.submit(next, items, end) for _ in range(depth))
        while (item := ahead.popleft().result()) is not end:
            ahead.append(thread.submit(next, items, end))
            yield cast(T, item)
    finally:
        thread.shutdown(cancel_futures=True)
