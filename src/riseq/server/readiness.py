"""Whether work is welcome: a real simplification succeeded lately, and there is room in the queue."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from riseq.server.batcher import Batcher, DrainingError, FailedError, QueueFullError
from riseq.server.engine import Ask

PROBE = Ask("When was Alien released?", ("Who directed Alien?",))
TRIES = 3
"""A probe that shared a batch with nothing may fail by chance; one that fails so often does not."""


class Readiness:
    """Knows whether the batcher does its work; where nobody has asked lately it asks a question of its own."""

    def __init__(
        self,
        batcher: Batcher,
        fresh_s: float,
        timeout_s: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take the batcher, for how long a success counts, and how long a probe may take."""
        self._batcher, self._fresh_s, self._timeout_s, self._clock = batcher, fresh_s, timeout_s, clock
        self._probe: asyncio.Task[str | None] | None = None

    async def check(self) -> str | None:
        """Return why the server is not ready, None where it is."""
        if self._batcher.draining:
            return "shutting down"
        if self._batcher.full:
            return "the queue is full"
        last = self._batcher.last_success
        if last is not None and self._clock() - last <= self._fresh_s:
            return None
        if self._probe is None or self._probe.done():
            self._probe = asyncio.create_task(self._try())
        # Many may ask at once, and some go away: one probe serves them all.
        return await asyncio.shield(self._probe)

    async def _try(self) -> str | None:
        try:
            async with asyncio.timeout(self._timeout_s):
                for _ in range(TRIES):
                    try:
                        await self._batcher.simplify(PROBE)
                    except FailedError:
                        continue
                    return None
        except TimeoutError:
            return f"a question was not answered within {self._timeout_s:g} s"
        except (QueueFullError, DrainingError) as error:
            return str(error)
        return "questions fail"
