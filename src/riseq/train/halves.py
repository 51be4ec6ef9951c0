"""A network's passes in bfloat16 without a cast at every use: one copy of its weights a step."""

from copy import deepcopy

import torch
from torch import Tensor

from riseq.model.network import RiseNetwork


class HalfCopy:
    """A bfloat16 copy of a network, which computes, beside the float32 weights that the optimiser changes.

    Under autocast every matrix is cast where it is used and so is its gradient: hundreds of small kernels a step. Here
    all of them are cast at once, and what lies between the matrices is bfloat16 too.
    """

    def __init__(self, network: RiseNetwork) -> None:
        self.network = deepcopy(network)
        for parameter in self.network.parameters():
            parameter.data = parameter.data.to(torch.bfloat16)  # buffers, which hold masks, stay as they are
        self._masters = list(network.parameters())
        self._copies = list(self.network.parameters())
        self._buffers: dict[int, Tensor] = {}

    def follow(self) -> None:
        """Let the copy learn what the network learns, from what it is now."""
        for master, copy in zip(self._masters, self._copies, strict=True):
            copy.requires_grad_(master.requires_grad)
        self._buffers.clear()
        self.read_weights()

    @torch.no_grad()
    def read_weights(self) -> None:
        """Give the copy the network's weights."""
        torch._foreach_copy_([copy.detach() for copy in self._copies], [master.detach() for master in self._masters])

    @torch.no_grad()
    def give_gradients(self) -> None:
        """Move the copy's gradients to the network, in float32; what has none there has none here."""
        numbers, gradients = list[int](), list[Tensor]()
        for number, copy in enumerate(self._copies):
            if copy.grad is not None:
                numbers.append(number)
                gradients.append(copy.grad)
                copy.grad = None
        if not gradients:
            return
        for number in numbers:
            if number not in self._buffers:
                self._buffers[number] = torch.empty_like(self._masters[number])
            self._masters[number].grad = self._buffers[number]
        torch._foreach_copy_([self._buffers[number] for number in numbers], gradients)
