"""The engine: a question in, edited in passes until nothing changes, the conversational question out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from riseq.core.phrases import PhraseVocabulary
from riseq.infer.alternatives import branch_off, pick
from riseq.infer.backend import Backend
from riseq.infer.choices import choose, decide
from riseq.infer.controls import MAX_PASSES, NEUTRAL, Controls, check_controls, check_count
from riseq.infer.default_model import find_default_model
from riseq.infer.dialogue import Asked, Context, Item, read_item
from riseq.infer.drafts import Draft, gather, split_batches, start
from riseq.text.pieces import Pieces
from riseq.types import InputError, Simplification

WINDOW = 1_024
"""How many examples are held at once: enough that neighbours by length need hardly any padding."""


class Simplifier:
    """Makes questions conversational with a trained model.

    One may be called from several threads at a time, and pickled to other processes: there an exported model is opened
    again from its folder.
    """

    def __init__(
        self, backend: Backend, pieces: Pieces, phrases: PhraseVocabulary, max_passes: int = MAX_PASSES
    ) -> None:
        """Take what runs the network, and the pieces it reads and the phrases it says."""
        self.backend, self.pieces, self.phrases = backend, pieces, phrases
        self.max_passes = check_count("max_passes", max_passes)

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
        if threads is not None:
            check_count("threads", threads)
        return cls(*_open(place, threads), max_passes)

    def __call__(
        self,
        question: str,
        context: Context = (),
        *,
        strength: float = NEUTRAL,
        protect: Iterable[str] = (),
        n_best: int = 1,
        max_passes: int | None = None,
    ) -> Simplification:
        """Return the conversational form of ``question`` after the dialogue in ``context``, oldest utterance first.

        ``context`` has strings, messages with role and content, (speaker, text) or (question, answer) pairs; see
        ``riseq.infer.dialogue``. ``strength`` shifts the log-probability of keeping a word against the other edits: 0
        returns the question unchanged, 0.5 takes the network's own choices, 1 gives the shortest form; a higher one
        never keeps more words in the first pass. ``protect`` names words that are left as they are wherever they
        stand. ``n_best`` above 1 fills the result's ``alternatives``. ``max_passes`` is the engine's where it is None.
        """
        controls = self._check(strength, protect, n_best, max_passes)
        return self._edit([read_item((question, context))], controls)[0]

    def batch(
        self,
        items: Iterable[Item],
        *,
        strength: float = NEUTRAL,
        protect: Iterable[str] = (),
        n_best: int = 1,
        max_passes: int | None = None,
    ) -> Iterator[Simplification]:
        """Yield one result an item, in order, holding no more than a window of them in memory.

        An item is an ``Example``, a dict with a ``question`` and a ``context``, or a (question, context) pair.
        """
        # Checked here, for a mistake should not wait for the first result.
        return self._batch(items, self._check(strength, protect, n_best, max_passes))

    def _batch(self, items: Iterable[Item], controls: Controls) -> Iterator[Simplification]:
        remaining = (read_item(item, f"item {place}: ") for place, item in enumerate(items))
        while window := list(islice(remaining, WINDOW)):
            yield from self._edit(window, controls)

    def _check(self, strength: float, protect: Iterable[str], n_best: int, max_passes: int | None) -> Controls:
        return check_controls(strength, protect, self.max_passes if max_passes is None else max_passes, n_best)

    def _edit(self, asked: Sequence[Asked], controls: Controls) -> list[Simplification]:
        room = self.backend.max_pieces
        drafts = [start(question, context, self.pieces, room, controls.protect) for question, context in asked]
        active = [draft for draft in drafts if draft.editable]
        for _ in range(controls.passes):
            # What a pass left as it was would be left so by the next: it leaves the batch.
            moved = (self._advance(batch, controls) for batch in split_batches(active, self.backend.batch_pieces))
            active = [draft for batch in moved for draft in batch if draft.editable]
        results = [draft.finish() for draft in drafts]
        if controls.n_best == 1:
            return results
        return [
            replace(result, alternatives=pick(result, draft.branches, controls.n_best))
            for result, draft in zip(results, drafts, strict=True)
        ]

    def _advance(self, drafts: Sequence[Draft], controls: Controls) -> list[Draft]:
        """Make one pass over ``drafts`` and return those it changed."""
        batch = gather(drafts, self.pieces)
        reading = self.backend.read(batch)
        ops = decide(reading.edits_BWE, drafts, controls.shift)
        (choices,) = choose(batch, reading, self.phrases, [ops])
        if controls.n_best > 1:
            branch_off(batch, reading, self.phrases, drafts, ops, self.pieces)
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
