"""Several networks as one: the mean of their probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from riseq.model.network import Inputs, RiseNetwork, Spans


class Ensemble(nn.Module):
    """Networks with the same phrases; ``maps[k]`` turns piece ids into those of network k's vocabulary."""

    def __init__(self, networks: Sequence[RiseNetwork], maps: Sequence[Tensor]) -> None:
        super().__init__()
        if not networks or len(networks) != len(maps):
            raise ValueError(f"{len(maps)} maps for {len(networks)} networks, expected one each and at least one")
        self.networks = nn.ModuleList(networks)
        for number, ids in enumerate(maps):
            self.register_buffer(f"map{number}", ids, persistent=False)

    def _members(self, inputs: Inputs) -> list[tuple[RiseNetwork, Inputs]]:
        found = []
        for number, network in enumerate(self.networks):
            assert isinstance(network, RiseNetwork)
            found.append((network, inputs._replace(ids_BL=self.get_buffer(f"map{number}")[inputs.ids_BL])))
        return found

    @torch.no_grad()
    def teach(self, inputs: Inputs, spans: Spans) -> tuple[Tensor, Tensor]:
        """Return the mean probabilities of edits [B, W, 4] and of the spans' phrases [N, P]."""
        edits, phrases = [], []
        for network, seen in self._members(inputs):
            encoded = network.encode(seen)
            edits.append(network.score_edits(encoded, seen.firsts_BW).exp())
            phrases.append(network.score_phrases(seen, encoded, spans).exp())
        return torch.stack(edits).mean(0), torch.stack(phrases).mean(0)

    def encode(self, inputs: Inputs) -> list[Tensor]:
        """Return each network's states."""
        return [network.encode(seen) for network, seen in self._members(inputs)]

    def score_edits(self, states: list[Tensor], firsts_BW: Tensor) -> Tensor:
        """Return the log of the mean probabilities of edits."""
        members = [network for network in self.networks if isinstance(network, RiseNetwork)]
        return _log_mean([network.score_edits(s, firsts_BW) for network, s in zip(members, states, strict=True)])

    def score_phrases(self, inputs: Inputs, states: list[Tensor], spans: Spans) -> Tensor:
        """Return the log of the mean probabilities of phrases."""
        members = zip(self._members(inputs), states, strict=True)
        return _log_mean([network.score_phrases(seen, s, spans) for (network, seen), s in members])


def _log_mean(scores: list[Tensor]) -> Tensor:
    """Return the log of the mean of probabilities given by their logs, finite where one of those is."""
    return torch.stack(scores).logsumexp(0) - math.log(len(scores))
