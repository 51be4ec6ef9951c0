"""Several processes, each with its part of every batch, and batches prepared ahead in a thread."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar, cast

import torch
from accelerate import PartialState
from torch import Tensor, distributed, nn

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
        if self.count > 1:
            distributed.barrier()

    def gather(self, part: T) -> list[T]:
        """Return every process's part, in the processes' order."""
        if self.count == 1:
            return [part]
        parts: list[T | None] = [None] * self.count
        distributed.all_gather_object(parts, part)
        return [found for found in parts if found is not None]

    def sum(self, numbers: Tensor) -> Tensor:
        """Return the sum of every process's numbers."""
        if self.count > 1:
            distributed.all_reduce(numbers)
        return numbers

    def sum_gradients(self, network: nn.Module) -> None:
        """Add up every process's gradients, so that all take the same step."""
        if self.count == 1:
            return
        parameters = [p for p in network.parameters() if p.requires_grad]
        # A part without rows has no gradients; a parameter that nobody used stays without, for zeros would decay it.
        used = torch.tensor([p.grad is not None for p in parameters], dtype=torch.float32, device=parameters[0].device)
        distributed.all_reduce(used)
        gradients = []
        for parameter, count in zip(parameters, used.tolist(), strict=True):
            if count:
                if parameter.grad is None:
                    parameter.grad = torch.zeros_like(parameter)
                gradients.append(parameter.grad)
        whole = torch.cat([gradient.flatten() for gradient in gradients])
        distributed.all_reduce(whole)
        for gradient, summed in zip(gradients, torch.split(whole, [g.numel() for g in gradients]), strict=True):
            gradient.copy_(summed.view_as(gradient))


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
