"""Work prepared ahead, in another thread, while the device computes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from queue import Queue
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Failed:
    error: BaseException


class _End:
    pass


def run_ahead(items: Iterator[T], depth: int = 4) -> Iterator[T]:
    """Yield ``items``, made in another thread up to ``depth`` ahead; what fails there is raised here."""
    queue: Queue[T | _Failed | _End] = Queue(maxsize=depth)
    stop = threading.Event()

    def produce() -> None:
        try:
            for item in items:
                if stop.is_set():
                    return
                queue.put(item)
            queue.put(_End())
        except BaseException as error:
            queue.put(_Failed(error))

    thread = threading.Thread(target=produce, daemon=True)
    thread.start()
    try:
        while not isinstance(item := queue.get(), _End):
            if isinstance(item, _Failed):
                raise item.error
            yield item
    finally:
        stop.set()
        while thread.is_alive():
            while not queue.empty():  # a producer that waits for room must see the stop
                queue.get_nowait()
            thread.join(0.01)
