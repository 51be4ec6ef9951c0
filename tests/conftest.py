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


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's root."""
    return ROOT


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of the paper's data sets: RISEQ_DATA, or ../shared/data beside the checkout."""
    named = os.environ.get("RISEQ_DATA")
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"the paper's data sets are not at {folder}; set RISEQ_DATA to their folder")
    return folder
