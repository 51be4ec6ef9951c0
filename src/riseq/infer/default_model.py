"""Where the model that ships with riseq is; light, for the command line asks it before anything else."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent
_NAME = Path("models", "default")


def find_default_model() -> Path | None:
    """Return the folder of the packaged model, or of the checkout's; None where there is none."""
    if (_PACKAGE / _NAME).is_dir():
        return _PACKAGE / _NAME
    root = _PACKAGE.parent.parent
    if (root / "pyproject.toml").is_file() and (root / _NAME).is_dir():
        return root / _NAME
    return None
