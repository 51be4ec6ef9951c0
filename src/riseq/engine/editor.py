"""The engine: a question in, edited in passes until nothing changes, what they make of it out."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, Self, TypeVar, Unpack

from riseq.controls import MAX_PASSES, NEUTRAL, ControlOptions, Controls, check_count
from riseq.core.edits import Op
from riseq.core.phrases import PhraseVocabulary
from riseq.data.dialogue import Asked, Context, Item, check_items, read_item, read_many
from riseq.engine.backends import Backend, ParallelBackend, QueuedBackend
from riseq.engine.confidence import Calibration, read_calibration
from riseq.engine.decisions import choose_phrases, decide, find_shift, start_phrases
from riseq.engine.dialogue import DialogueWords
from riseq.engine.drafts import NO_DIALOGUE, Choice, Draft, gather, split_batches, start
from riseq.engine.phrasing import Phrasing
from riseq.engine.publishing import Publishable
from riseq.engine.reading import Reader
from riseq.engine.turns import Task, finish, run_in_turns, run_side_by_side, run_together
from riseq.engine.variants import add_variants, fall_back, pick_n_best
from riseq.extras import needs_extra
from riseq.hub import find_model, is_hub_name
from riseq.model.folder import (
    is_exported,
    load_exported,
    read_direction,
    read_window,
)
from riseq.model.inputs import PAPER_WINDOW, Condition, ContextWindow
from riseq.text.pieces import Pieces
from riseq.types import Device, InputError, Simplification

WINDOW = 1_024
"""How many examples are held at once: enough that neighbours by length need hardly any padding."""
STRENGTH_0 = "strength 0 keeps every question"
MANY = 8
"""From how many questions on they are read side by side, where the backend can: a few are faster one by one."""
PART = 16
"""How many questions a thread takes at a time, at most, where they are read side by side."""
_Made = TypeVar("_Made")


class Editor(Publishable):
    """Edits questions with a trained model: what ``Simplifier`` and ``Resolver`` share.

    One may be called from several threads at a time, and pickled to other processes: there an exported model is opened
    again from its folder.
    """

    asks_first_turns = False
    """Whether the network also edits a question with no dialogue before it; for evaluations alone, by default not."""

    def __init__(
        self,
        backend: Backend,
        pieces: Pieces,
        phrasing: Phrasing,
        max_passes: int = MAX_PASSES,
        calibration: Calibration | None = None,
        model: Path | None = None,
        window: ContextWindow = PAPER_WINDOW,
    ) -> None:
        """Put an engine together: what runs the network, its pieces and phrases, and the folder they come from."""
        self.backend, self.pieces, self.phrasing, self.calibration = backend, pieces, phrasing, calibration
        self.model, self.window = model, window
        self.max_passes = check_count("max_passes", max_passes)

    @property
    def phrases(self) -> PhraseVocabulary:
        """The phrases that it knows, beside what it copies."""
        return self.phrasing.vocabulary

    @classmethod
    def find_default(cls) -> Path:
        """Return the folder of the model that is taken where none is named."""
        raise NotImplementedError

    @classmethod
    def read_window(cls, facts: Mapping[str, Any]) -> ContextWindow:
        """Return how much of a dialogue a model reads here, by what is known of its making."""
        return read_window(facts)

    @classmethod
    def load(
        cls,
        model: str | Path | None = None,
        *,
        threads: int | None = None,
        max_passes: int = MAX_PASSES,
        calibrated: bool = True,
        device: Device | None = None,
    ) -> Self:
        """Return the engine for ``model``, the folder of an exported one or of a checkpoint; else for what ships.

        ``model`` may also be ``"default"``, ``"fast"``, ``"large"``, ``"resolve"`` or the name of one on the hub.
        ``threads`` is how many cores one call may use, all of them where it is None. Without ``calibrated`` the model's
        calibration is left aside: every pass is taken, there is no guard, and no result has a confidence. ``device`` is
        "cpu" or "cuda"; where it is None, a GPU is used if there is one that can run the model. An exported model that
        onnxruntime cannot run on the GPU is read by torch there, as the floats that its weights stand for.
        """
        found = cls.find_default() if model is None else find_model(model)
        if threads is not None:
            check_count("threads", threads)
        given = is_exported(found) or not any(found.glob("*.safetensors"))
        exported = load_exported(found) if given else None
        if exported is not None:
            from riseq.engine.backends.onnx_runtime import OnnxBackend, runs_on_gpu
        if exported is not None and (device != "cuda" or runs_on_gpu(exported.precision)):
            window = cls._check(found, exported.config)
            calibration = read_calibration(found, exported.config["checksums"]) if calibrated else None
            phrasing = Phrasing(exported.phrases, exported.copies, exported.templates)
            return cls(
                OnnxBackend(exported, found, threads, device),
                exported.pieces,
                phrasing,
                max_passes,
                calibration,
                found,
                window,
            )
        why = "a checkpoint (riseq export makes a model that needs less)" if exported is None else "on a GPU"
        with needs_extra("train", f"{found}: {why}"):
            import torch

            from riseq.engine.backends.pytorch import TorchBackend
            from riseq.model.checkpoint import load_trained
            from riseq.model.network import pick_device
        place = pick_device(device or "auto")
        if threads is not None:
            torch.set_num_threads(threads)
        checkpoint = load_trained(found)
        window, network = cls._check(found, checkpoint.facts), checkpoint.network
        checksums = None if exported is None else exported.config["checksums"]
        calibration = read_calibration(found, checksums) if calibrated else None
        phrasing = Phrasing(checkpoint.phrases, network.config.copies, checkpoint.templates)
        return cls(
            TorchBackend(network, place),
            checkpoint.pieces,
            phrasing,
            max_passes,
            calibration,
            found,
            window,
        )

    @classmethod
    def _check(cls, found: Path, facts: Mapping[str, Any]) -> ContextWindow:
        """Return the window of a model, which has to be of this direction."""
        if (direction := read_direction(facts)) != cls.direction:
            raise InputError(f"{found}: a model to {direction} questions; expected one to {cls.direction} them")
        return cls.read_window(facts)

    @classmethod
    def from_pretrained(
        cls,
        name_or_path: str | Path,
        *,
        revision: str | None = None,
        threads: int | None = None,
        max_passes: int = MAX_PASSES,
        calibrated: bool = True,
    ) -> Self:
        """Return the engine for a model, as ``load`` does, by the name that users of Hugging Face's libraries know.

        ``revision`` is a branch, a tag or a commit of a model on the hub.
        """
        if revision is not None:
            if not is_hub_name(str(name_or_path)) or Path(name_or_path).exists():
                raise InputError(f"{name_or_path}: revision goes with a model on the Hugging Face hub (owner/name)")
            name_or_path = f"{name_or_path}@{revision}"
        return cls.load(name_or_path, threads=threads, max_passes=max_passes, calibrated=calibrated)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(model={str(self.model) if self.model else None!r}, backend={self.backend!r})"

    def __call__(
        self,
        question: str,
        context: Context = (),
        *,
        controls: Controls | None = None,
        **options: Unpack[ControlOptions],
    ) -> Simplification:
        """Return what becomes of ``question`` after the dialogue in ``context``, oldest utterance first.

        ``context`` has strings, messages with role and content, (speaker, text) or (question, answer) pairs; see
        ``riseq.data.dialogue``. The options are the fields of ``riseq.Controls``, which says what each does.
        """
        return self._edit([read_item((question, context))], self._read_controls(controls, options))[0]

    async def acall(
        self,
        question: str,
        context: Context = (),
        *,
        controls: Controls | None = None,
        **options: Unpack[ControlOptions],
    ) -> Simplification:
        """Return what a call returns, worked out in another thread, so that the event loop goes on meanwhile."""
        return await asyncio.to_thread(self, question, context, controls=controls, **options)

    def many(
        self,
        context: Context,
        questions: Sequence[str],
        *,
        controls: Controls | None = None,
        **options: Unpack[ControlOptions],
    ) -> list[Simplification]:
        """Return what becomes of each of ``questions`` after one dialogue, in order.

        The dialogue is read once, and the questions are answered in one batch.
        """
        return self._edit(read_many(context, questions), self._read_controls(controls, options))

    def batch(
        self, items: Iterable[Item], *, controls: Controls | None = None, **options: Unpack[ControlOptions]
    ) -> Iterator[Simplification]:
        """Yield one result an item, in order, holding no more than a window of them in memory.

        An item is an ``Example``, a dict with a ``question`` and a ``context``, or a (question, context) pair.
        """
        # Checked here, for a mistake should not wait for the first result.
        check_items(items)
        asked = self._read_controls(controls, options)
        return self._run(_read_windows(items), lambda part, backend: self._edit_in_turns(part, asked, backend))

    def follow(self, items: Iterable[Item], controls: Controls) -> Iterator[Draft]:
        """Yield the draft of each item after its last pass, in order: its steps, and how sure each pass was."""
        return self._run(_read_windows(items), lambda part, backend: self._draft_in_turns(part, controls, backend))

    def _read_controls(self, controls: Controls | None, options: ControlOptions) -> Controls:
        """Return ``controls`` with ``options``, all of which have to be of this direction."""
        chosen = Controls.of(controls, **options)
        chosen.check(self.direction, options)
        return chosen

    def _edit(self, asked: Sequence[Asked], controls: Controls) -> list[Simplification]:
        return list(self._run(iter([asked]), lambda part, backend: self._edit_in_turns(part, controls, backend)))

    def _run(
        self, windows: Iterator[Sequence[Asked]], work: Callable[[Sequence[Asked], Backend], Task[list[_Made]]]
    ) -> Iterator[_Made]:
        """Yield what ``work`` makes of each question, in order; many in parts side by side, where that is faster.

        A part is worked on by one thread from its words to its results, so that no core waits for another between
        passes, nor while somebody else tokenises and writes.
        """
        backend, first = self.backend, next(windows, ())
        windows = chain([first], windows)
        if len(first) >= MANY and isinstance(backend, ParallelBackend) and backend.workers > 1:
            single, size = backend.single_threaded(), min(PART, math.ceil(len(first) / (2 * backend.workers)))
            parts = (window[start : start + size] for window in windows for start in range(0, len(window), size))
            made: Iterator[list[_Made]] = run_side_by_side(
                (partial(finish, work(part, single)) for part in parts), backend.workers
            )
        else:
            at_once = backend.in_flight if isinstance(backend, QueuedBackend) else 1
            made = run_in_turns((work(window, backend) for window in windows), at_once)
        yield from chain.from_iterable(made)

    def _edit_in_turns(
        self, asked: Sequence[Asked], controls: Controls, backend: Backend
    ) -> Task[list[Simplification]]:
        drafts = yield from self._draft_in_turns(asked, controls, backend)
        return [self._finish(draft, controls) for draft in drafts]

    def _finish(self, draft: Draft, controls: Controls) -> Simplification:
        own = draft.finish(self.calibration)
        result = fall_back(own, draft.variants, controls.min_confidence) if controls.min_confidence else own
        if controls.n_best == 1:
            return result
        return replace(result, alternatives=pick_n_best(result, (*draft.variants, own), controls.n_best))

    def _draft_in_turns(self, asked: Sequence[Asked], controls: Controls, backend: Backend) -> Task[list[Draft]]:
        """Return the drafts of a window after their last pass; a turn ends where the backend has got work to do."""
        room = backend.max_pieces
        protect, pronouns = controls.protected_words(), controls.pronoun_words()
        condition = Condition.GROUNDED if controls.grounded else Condition.UNKNOWN
        # Equal dialogues are read once, whether or not they are one object.
        readers = {said: Reader(DialogueWords(said), self.pieces) for said in dict.fromkeys(said for _, said in asked)}
        settings, relevant = (protect, self.window, condition, pronouns), controls.reads_relevant
        ways = relevant, self.direction
        drafts = [start(one, said, self.pieces, room, *settings, readers[said], *ways) for one, said in asked]
        if self.asks_first_turns:
            for draft in drafts:
                draft.reason = None if draft.reason == NO_DIALOGUE else draft.reason
        if controls.strength == 0:
            for draft in drafts:
                draft.reason = draft.reason or STRENGTH_0
        active = [draft for draft in drafts if draft.editable]
        for number in range(controls.max_passes or self.max_passes):
            if not active:
                break
            # What a pass left as it was would be left so by the next: it leaves the batch.
            batches = split_batches(active, backend.batch_pieces)
            moved = yield from self._advance_all(list(batches), controls, number, backend)
            active = [draft for batch in moved for draft in batch if draft.editable]
            if (fitted := self.calibration) is not None:
                active = [draft for draft in active if draft.wants_another(fitted)]
        return drafts

    def _advance_all(
        self, batches: Sequence[list[Draft]], controls: Controls, number: int, backend: Backend
    ) -> Task[list[list[Draft]]]:
        """Make pass ``number`` over all ``batches``, together where the backend works on; return what it changed."""
        advancing = [self._advance(batch, controls, number, backend) for batch in batches]
        if isinstance(backend, QueuedBackend) and backend.in_flight > 1:
            return (yield from run_together(advancing))
        return [finish(one) for one in advancing]

    def _advance(self, drafts: Sequence[Draft], controls: Controls, number: int, backend: Backend) -> Task[list[Draft]]:
        """Make pass ``number`` over ``drafts`` and return those it changed."""
        batch = gather(drafts, self.pieces, self.phrasing.copies)
        scores = backend.score(batch)
        yield
        shift, sureness, fitted = find_shift(controls.strength), 0.0, self.calibration
        if fitted is not None:
            # An edit that only a later pass wants has to be surer; one that is not leaves the milder form.
            shift += fitted.margin + (fitted.later if number else 0.0)
            sureness = fitted.sureness if controls.guard else 0.0
        layers = [decide(scores.edits_BWE, drafts, shift, sureness)]
        if doubts := not number and fitted is not None and fitted.needs is not None and controls.strength <= NEUTRAL:
            layers.append([[Op.KEEP] * len(ops) for ops in layers[0]])
        wanted = start_phrases(batch, scores, layers)
        if wanted.places:
            yield
        choices, *kept = choose_phrases(batch, scores, self.phrasing, layers, drafts, wanted)
        ops = layers[0]
        if doubts:
            needed = [_needs(draft, choice, fitted) for draft, choice in zip(drafts, choices, strict=True)]
            choices = [
                one if is_needed else stays for one, stays, is_needed in zip(choices, kept[0], needed, strict=True)
            ]
            ops = [one if is_needed else stays for one, stays, is_needed in zip(*layers, needed, strict=True)]
        if controls.n_best > 1 or controls.min_confidence:
            add_variants(batch, scores, self.phrasing, drafts, ops, self.pieces, self.calibration)
        return [draft for draft, choice in zip(drafts, choices, strict=True) if draft.advance(choice, self.pieces)]


def _needs(draft: Draft, choice: Choice, fitted: Calibration | None) -> bool:
    """Return whether a question that may be complete is edited all the same."""
    if fitted is None or choice.features is None or draft.points_back or not any(edit.op for edit in choice.edits):
        return True
    return fitted.needs_edits(choice.features, draft.features)


def _read_windows(items: Iterable[Item]) -> Iterator[list[Asked]]:
    """Yield the items as they were asked, at most ``WINDOW`` at a time."""
    remaining = (read_item(item, f"item {number}: ") for number, item in enumerate(items))
    while window := list(islice(remaining, WINDOW)):
        yield window
