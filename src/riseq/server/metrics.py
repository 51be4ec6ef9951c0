"""What Prometheus can know of the server."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

from riseq.server.batcher import Observer
from riseq.server.engine import About
from riseq.types import Simplification

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
_ITEMS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
_PASSES = (0, 1, 2, 3, 4, 5, 10)


class Metrics(Observer):
    """Counts of one server; several in a process don't mix."""

    def __init__(self, about: About, version: str) -> None:
        """Take what to say of the engine."""
        self.registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self.requests = Counter("riseq_requests", "Requests answered.", ["route", "status"], registry=registry)
        self.seconds = Histogram(
            "riseq_request_seconds",
            "From a request's head to its answer's end.",
            ["route"],
            registry=registry,
            buckets=_SECONDS,
        )
        self.items = Counter(
            "riseq_items",
            "Questions by what became of them: answered, failed, dropped.",
            ["outcome"],
            registry=registry,
        )
        self.waited = Histogram(
            "riseq_queue_seconds", "How long questions waited for a worker.", registry=registry, buckets=_SECONDS
        )
        self.batches = Histogram("riseq_batch_items", "Questions in a batch.", registry=registry, buckets=_ITEMS)
        self.batch_seconds = Histogram(
            "riseq_batch_seconds", "How long a batch was at work.", registry=registry, buckets=_SECONDS
        )
        self.passes = Histogram("riseq_passes", "Passes that edited a question.", registry=registry, buckets=_PASSES)
        self.truncations = Counter(
            "riseq_truncations", "Questions with dialogue or words out of the model's sight.", registry=registry
        )
        self.queue = Gauge("riseq_queue_items", "Questions that wait for a worker.", registry=registry)
        info = Gauge("riseq_info", "The server; always 1.", ["version", "model", "engine"], registry=registry)
        info.labels(version, about.name, about.engine).set(1)
        for outcome in ("answered", "failed", "dropped"):
            self.items.labels(outcome)

    def watch_queue(self, count: Callable[[], int]) -> None:
        """Read the queue's length from ``count``."""
        self.queue.set_function(lambda: float(count()))

    def request_done(self, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        self.requests.labels(route, str(status)).inc()
        self.seconds.labels(route).observe(seconds)

    def batch_done(self, asked: int, seconds: float) -> None:
        """Count a batch."""
        self.batches.observe(asked)
        self.batch_seconds.observe(seconds)

    def item_done(self, result: Simplification, waited: float) -> None:
        """Count an answer."""
        self.items.labels("answered").inc()
        self.waited.observe(waited)
        self.passes.observe(len(result.steps))
        if result.truncated:
            self.truncations.inc()

    def item_failed(self, error: BaseException) -> None:  # noqa: ARG002
        """Count a failure."""
        self.items.labels("failed").inc()

    def item_dropped(self) -> None:
        """Count a question that nobody waits for."""
        self.items.labels("dropped").inc()

    def write(self) -> bytes:
        """Return everything as Prometheus reads it."""
        return generate_latest(self.registry)
