"""The engine: a question in, edited in passes until nothing changes, the conversational question out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from riseq.core.phrases import PhraseVocabulary
from riseq.infer.backend import Backend
from riseq.infer.choices import choose_best
from riseq.infer.default_model import find_default_model
from riseq.infer.drafts import Draft, gather, split_batches, start
from riseq.text.pieces import Pieces
from riseq.types import Example, InputError, Simplification

MAX_PASSES = 3
WINDOW = 1_024
"""How many examples are held at once: enough that neighbours by length need hardly any padding."""


class Simplifier:
    """Makes questions conversational with a trained model."""

    def __init__(
        self, backend: Backend, pieces: Pieces, phrases: PhraseVocabulary, max_passes: int = MAX_PASSES
    ) -> None:
        """Take what runs the network, and the pieces it reads and the phrases it says."""
        if max_passes < 1:
            raise InputError(f"max_passes is {max_passes}, expected 1 or more")
        self.backend, self.pieces, self.phrases, self.max_passes = backend, pieces, phrases, max_passes

    @classmethod
    def load(
        cls, folder: str | Path | None = None, *, threads: int | None = None, max_passes: int = MAX_PASSES
    ) -> Simplifier:
        """Return the engine for the model in ``folder``, an exported one or a checkpoint; else for the one that ships.

        ``threads`` is how many cores one call may use, all of them where it is None.
        """
        place = find_default_model() if folder is None else Path(folder)
        if place is None:
            raise InputError("no model ships with this riseq; name the folder of one")
        if not place.is_dir():
            raise InputError(f"{place}: no such folder, expected the folder of a riseq model")
        if threads is not None and threads < 1:
            raise InputError(f"threads is {threads}, expected 1 or more")
        return cls(*_open(place, threads), max_passes)

    def __call__(self, question: str, context: Sequence[str] = ()) -> Simplification:
        """Return the conversational form of ``question`` after the utterances of ``context``, oldest first."""
        if not isinstance(question, str):
            raise InputError(f"the question is a {type(question).__name__}, expected a string")
        if isinstance(context, str) or not all(isinstance(utterance, str) for utterance in context):
            raise InputError("the context is expected to be a list of strings, one for each utterance, oldest first")
        return self._edit([Example("", tuple(context), question)])[0]

    def batch(self, examples: Iterable[Example]) -> Iterator[Simplification]:
        """Yield one result an example, in order, holding no more than a window of them in memory."""
        remaining = iter(examples)
        while window := list(islice(remaining, WINDOW)):
            yield from self._edit(window)

    def _edit(self, examples: Sequence[Example]) -> list[Simplification]:
        drafts = [start(one.question, one.context, self.pieces, self.backend.max_pieces) for one in examples]
        active = [draft for draft in drafts if draft.editable]
        for _ in range(self.max_passes):
            # What a pass left as it was would be left so by the next: it leaves the batch.
            moved = (self._advance(batch) for batch in split_batches(active, self.backend.batch_pieces))
            active = [draft for batch in moved for draft in batch if draft.editable]
        return [draft.finish() for draft in drafts]

    def _advance(self, drafts: Sequence[Draft]) -> list[Draft]:
        """Make one pass over ``drafts`` and return those it changed."""
        batch = gather(drafts, self.pieces)
        choices = choose_best(batch, self.backend.read(batch), self.phrases)
        return [draft for draft, choice in zip(drafts, choices, strict=True) if draft.advance(choice, self.pieces)]


def _open(folder: Path, threads: int | None) -> tuple[Backend, Pieces, PhraseVocabulary]:
    from riseq.model.exported import is_exported, read_exported

    if is_exported(folder) or not any(folder.glob("*.safetensors")):
        from riseq.infer.onnx_backend import OnnxBackend

        exported = read_exported(folder)
        return OnnxBackend(exported, folder, threads), exported.pieces, exported.phrases
    try:
        import torch

        from riseq.infer.torch_backend import TorchBackend
        from riseq.model.checkpoint import load_checkpoint
    except ModuleNotFoundError as error:
        raise InputError(
            f"{folder}: a checkpoint needs the package {error.name!r}; install it with: pip install 'riseq[train]', "
            "or turn the checkpoint into a model that needs less with: riseq export"
        ) from error
    if threads is not None:
        torch.set_num_threads(threads)
    checkpoint = load_checkpoint(folder)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return TorchBackend(checkpoint.network, device), checkpoint.pieces, checkpoint.phrases
