"""A training run that is killed at the start of an epoch."""

from __future__ import annotations

from riseq.train.tracking import Tracker


class Killed(Exception):
    """What a killed run ends with."""


class Killer(Tracker):
    """Ends a run before its third epoch."""

    def start_epoch(self, epoch: int, epochs: int, steps: int) -> None:
        if epoch == 2:
            raise Killed
        super().start_epoch(epoch, epochs, steps)
