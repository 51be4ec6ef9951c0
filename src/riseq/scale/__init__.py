"""Folders of questions on a Ray cluster; here, the options of ``riseq simplify --engine ray``."""

from dataclasses import asdict, dataclass

from riseq.controls import described
from riseq.types import InputError

FORMATS = ("parquet", "jsonl")


@dataclass(frozen=True, slots=True)
class Spread:
    """How the work is spread over a cluster; None is the default."""

    address: str | None = described(None, "The Ray cluster (default a new one on this machine).", metavar="HOST:PORT")
    workers: int | None = described(
        None, "The number of engines, each in a process (default 1; with ray as many as fit).", metavar="N"
    )
    gpus: float | None = described(None, "With ray, the share of a GPU for each worker: 1, 0.25.", metavar="SHARE")
    block_rows: int | None = described(None, "With ray, rows of each file of results (default 2048).", metavar="N")
    format: str | None = described(None, "With ray, parquet or jsonl (default parquet).", metavar="NAME")

    def check(self, threads: int | None) -> None:
        """Raise what is wrong with the values."""
        for name, value in (("workers", self.workers), ("block-rows", self.block_rows), ("threads", threads)):
            if value is not None and value < 1:
                raise InputError(f"--{name}: got {value}, expected 1 or more")
        if self.gpus and (self.gpus < 0 or (self.gpus > 1 and self.gpus != int(self.gpus))):
            raise InputError(f"--gpus: got {self.gpus:g}, expected a share of one GPU, or a whole number of them")
        if self.format is not None and self.format not in FORMATS:
            raise InputError(f"--format: got {self.format!r}, expected {' or '.join(FORMATS)}")

    def check_unset(self) -> None:
        """Raise where anything is set that goes with a cluster alone."""
        for name, value in asdict(self).items():
            if value is not None and name != "workers":
                raise InputError(f"--{name.replace('_', '-')} goes with --engine ray")
