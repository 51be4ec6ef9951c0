"""Where the model that ships with riseq is; light, for the command line asks it before anything else."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent
_NAME = Path("models", "default")


_EXAMPLES = Path("examples")


def find_default_model() -> Path | None:
    """Return the folder of the packaged model, or of the checkout's; None where there is none."""
    if (_PACKAGE / _NAME).is_dir():
        return _PACKAGE / _NAME
    root = _find_checkout()
    return root / _NAME if root is not None and (root / _NAME).is_dir() else None


def find_examples() -> list[Path]:
    """Return the checkout's files of example dialogues; none where riseq is installed without its checkout."""
    root = _find_checkout()
    if root is None:
        return []
    return [path for path in sorted((root / _EXAMPLES).glob("*.jsonl")) if not path.name.endswith(".results.jsonl")]


def _find_checkout() -> Path | None:
    root = _PACKAGE.parent.parent
    return root if (root / "pyproject.toml").is_file() else None
