"""Where models are, and are put: a folder, those that ship with riseq, or the Hugging Face hub."""

import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from riseq.extras import needs_extra
from riseq.types import InputError

_PACKAGE = Path(__file__).resolve().parent
_MODELS = Path("models")
_LARGE_PACKAGE = "riseq_large"
_LARGE = _MODELS / "large" / _LARGE_PACKAGE / "large"
"""The large model in a checkout; installed, it is a package of its own."""
_EXAMPLES = Path("examples")
MODEL_FOLDER = "the folder of a riseq model"
_NAMES = "'default', 'fast', 'large', 'resolve'"
_MODEL = f"{MODEL_FOLDER}, {_NAMES}, or the name of one on the Hugging Face hub (owner/name)"
_MODEL_FILES = ("*.json", "*.onnx", "*.onnx.data", "*.onnx.delta", "*.safetensors", "*.txt", "README.md")
"""What a model's folder may have, exported or not."""
_PRETRAINED = "a folder with an encoder, or a hub id such as 'thenlper/gte-small'"
_PRETRAINED_FILES = ("config.json", "model.safetensors", "tokenizer.json")
_LONGEST_SHOWN = 200
_HUB_NAME = re.compile(r"(?P<name>[\w.-]+/[\w.-]+)(@(?P<revision>[\w./-]+))?", re.ASCII)
_HUB_ID = re.compile(r"(?P<name>([\w.-]+/)?[\w.-]+)(@(?P<revision>[\w./-]+))?", re.ASCII)
_LOCAL = frozenset({"weights", "models", "runs", "checkpoints", "out", "tmp"})
"""Folders that recipes and people keep models in: no owner on the hub."""


def find_default_model() -> Path | None:
    """Return the folder of the packaged model, or of the checkout's; None where there is none."""
    return _find_shipped("default")


def find_fast_model() -> Path:
    """Return the folder of the smaller, faster model: the packaged one, or the checkout's."""
    found = _find_shipped("fast")
    if found is None:
        raise InputError("fast: no such model ships with this riseq; the stages of recipes/ship.yaml make it")
    return found


def find_resolve_model() -> Path:
    """Return the folder of the model that resolves questions: the packaged one, or the checkout's."""
    found = _find_shipped("resolve")
    if found is None:
        make = "riseq train recipes/resolve.yaml --out runs/resolve, then riseq export runs/resolve/best models/resolve"
        raise InputError(f"resolve: no model that resolves questions ships with this riseq; make one: {make}")
    return found


def _find_shipped(name: str) -> Path | None:
    packaged = _PACKAGE / _MODELS / name
    return packaged if packaged.is_dir() else find_in_checkout(_MODELS / name)


def find_large_model() -> Path:
    """Return the folder of the large model: the installed package's, or the checkout's."""
    spec = find_spec(_LARGE_PACKAGE)
    installed = Path(spec.origin).parent / _LARGE.name if spec is not None and spec.origin else None
    found = installed if installed is not None and installed.is_dir() else find_in_checkout(_LARGE)
    if found is None:
        raise InputError("large: this model is not installed; in a checkout of riseq: pip install ./models/large")
    return found


_FIND: dict[str, Callable[[], Path | None]] = {
    "default": find_default_model,
    "fast": find_fast_model,
    "large": find_large_model,
    "resolve": find_resolve_model,
}
"""What finds each model that has a name."""


def find_named_model(name: str) -> Path | None:
    """Return the folder of the shipped model called so; None where it is not there."""
    try:
        return _FIND[name]()
    except InputError:
        return None


def find_in_checkout(path: Path) -> Path | None:
    """Return a folder of the checkout that riseq runs from; None if there is none."""
    root = _PACKAGE.parent.parent
    return root / path if (root / "pyproject.toml").is_file() and (root / path).is_dir() else None


def find_examples() -> list[Path]:
    """Return the files of example dialogues: all of the checkout's, or the one in the package."""
    packaged = _PACKAGE / _EXAMPLES
    folder = packaged if packaged.is_dir() else find_in_checkout(_EXAMPLES)
    found = sorted(folder.glob("*.jsonl")) if folder is not None else []
    return [path for path in found if not path.name.endswith(".results.jsonl")]


def find_model(name: str | Path) -> Path:
    """Return the folder that ``name`` is, that of the shipped model called so, or where the hub's was fetched to."""
    if str(name) in _FIND and not Path(name, "config.json").is_file():
        found = _FIND[str(name)]()
        if found is None:
            raise InputError("default: no model ships with this riseq; name the folder of one")
        return found
    return _find(name, _HUB_NAME, _MODEL_FILES, _MODEL)


def find_pretrained(source: str | Path) -> Path:
    """Return the folder of a pretrained network: ``source`` itself, or what the hub has under that id."""
    folder = _find(source, _HUB_ID, _PRETRAINED_FILES, _PRETRAINED)
    check_files(folder, _PRETRAINED_FILES, "a folder with config, tokenizer and safetensors")
    return folder


def is_hub_name(name: str) -> bool:
    """Return whether ``name`` reads as owner/name on the Hugging Face hub, and not as a path."""
    found = _HUB_NAME.fullmatch(name)
    return found is not None and found["name"][0] != "." and found["name"].partition("/")[0] not in _LOCAL


def push_folder(
    folder: Path, name: str, *, private: bool | None, token: str | None, message: str, revision: str | None
) -> str:
    """Upload the files of a model's folder as ``name`` on the Hugging Face hub, made if need be; return the address."""
    if not is_hub_name(name) or "@" in name:
        raise InputError(f"{name}: no name on the Hugging Face hub, expected owner/name")
    with needs_extra("hub", f"{name}: a model on the Hugging Face hub"):
        import huggingface_hub as hub
    api = hub.HfApi(token=token)
    with _one_line(f"{name}: cannot be put on the Hugging Face hub"):
        where = api.create_repo(name, private=private, exist_ok=True)
        files = list(_MODEL_FILES)
        api.upload_folder(
            repo_id=name, folder_path=folder, allow_patterns=files, commit_message=message, revision=revision
        )
    return str(where)


@contextmanager
def _one_line(what: str) -> Iterator[None]:
    """Turn any error of the hub in the block into an ``InputError`` that begins with ``what``."""
    try:
        yield
    # The hub, its cache and the network have dozens of kinds of failure.
    except Exception as error:
        reason = next((line for line in map(str.strip, str(error).splitlines()) if line), type(error).__name__)
        raise InputError(f"{what}: {reason[:300]}") from error


def find_other_file(folder: Path) -> Path | None:
    """Return what is in ``folder`` beside files as a model has them; None where nothing is, or no folder."""
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    is_other = (path for path in found if not any(path.is_file() and path.match(one) for one in _MODEL_FILES))
    return next(is_other, None)


def find_shipped() -> dict[str, Path]:
    """Return the folders of the shipped models that the checkout has, by name."""
    found = {"default": find_in_checkout(_MODELS / "default"), "large": find_in_checkout(_LARGE)}
    return {name: folder for name, folder in found.items() if folder is not None}


def copy_model(source: Path, folder: Path) -> None:
    """Copy the files of a model's folder into ``folder``, which is there: links are followed, other files left out."""
    for pattern in _MODEL_FILES:
        for path in source.glob(pattern):
            shutil.copyfile(path, folder / path.name)


def _find(name: str | Path, hub_name: re.Pattern[str], files: Sequence[str], expected: str) -> Path:
    """Return the folder of this name, else the hub's; what looks like a path is never asked of the hub."""
    if not isinstance(name, str | Path):
        raise InputError(f"the model is a {type(name).__name__}, expected {expected}")
    text = str(name)
    shown = text if text.isprintable() and len(text) <= _LONGEST_SHOWN else repr(text[:_LONGEST_SHOWN])
    missing = InputError(f"{shown}: no such folder, expected {expected}")
    try:
        is_folder, exists = Path(name).is_dir(), Path(name).exists()
    except (OSError, ValueError):  # too long for a name, or with a null character in it
        raise missing from None
    if is_folder:
        return Path(name)
    if exists:
        raise InputError(f"{name}: is a file, expected {expected}")
    found = hub_name.fullmatch(name.as_posix() if isinstance(name, Path) else name)
    if found is None or found["name"].startswith("."):
        raise missing
    owner = found["name"].rpartition("/")[0]
    if owner and (owner in _LOCAL or Path(owner).is_dir()):
        raise InputError(f"{name}: no such folder; a path like this is not looked for on the Hugging Face hub")
    return _fetch(found["name"], found["revision"], files)


def _fetch(name: str, revision: str | None, files: Sequence[str]) -> Path:
    with needs_extra("hub", f"{name}: no such folder; a model from the Hugging Face hub"):
        import huggingface_hub as hub
    with _one_line(f"{name}: no such folder, and not to be had from the Hugging Face hub"):
        return Path(hub.snapshot_download(name, revision=revision, allow_patterns=list(files)))


def check_files(folder: Path, names: Iterable[str], expected: str) -> None:
    """Raise where one of the files is not in ``folder``, which was ``expected`` to be what it says."""
    for name in names:
        if not (folder / name).is_file():
            raise InputError(f"{folder}: no {name}; expected {expected}")
