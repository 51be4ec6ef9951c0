"""What every test may ask for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# A busy machine is slow now and then, and that is no failure.
settings.register_profile("riseq", deadline=None)
settings.load_profile("riseq")

ROOT = Path(__file__).resolve().parent.parent


def pytest_configure() -> None:
    """Name the paper's data sets beside the checkout for the session, where nobody named a folder."""
    # Tiny networks only wait for each other's threads, the more the busier the machine.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    beside = ROOT.parent / "shared" / "data"
    if not os.environ.get("RISEQ_DATA") and beside.is_dir():
        os.environ["RISEQ_DATA"] = str(beside)


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's root."""
    return ROOT


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of the paper's data sets: RISEQ_DATA, or ../shared/data beside the checkout."""
    folder = os.environ.get("RISEQ_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("the paper's data sets are not there; set RISEQ_DATA to their folder")
    return Path(folder)
