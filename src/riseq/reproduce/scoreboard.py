"""What the report is made from: the sets, and every system's saved outputs on them, each read and scored once."""

# ruff: noqa: B019 - a board is cached as long as the process lives, which is as long as its report is made
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from riseq.data.dataset import load_dataset
from riseq.metrics.first_turns import FirstTurns, has_first_turns, keep_first_turns
from riseq.metrics.passes import text_after
from riseq.metrics.scores import ExampleScores, score_examples
from riseq.reproduce.plan import BY_NAME, PLAN, PREDICTIONS, Group, PlannedSystem, split_form
from riseq.systems.saved import Store, trim
from riseq.text.pieces import scoring_form
from riseq.types import Example, InputError

_BASELINES = frozenset(planned.system for planned in PLAN if planned.group == "baseline")


class Scoreboard:
    """The saved outputs of a store, joined with the sets they are of."""

    def __init__(
        self,
        store: Store,
        limit: int | None = None,
        load: Callable[[str], Sequence[Example]] = lambda name: load_dataset(name, need_target=True),
        shown_as: str = PREDICTIONS,
    ) -> None:
        """Read a ``store``, of each set the first ``limit`` rows alone; ``shown_as`` is its name in commands."""
        self.store, self.limit, self._load, self._shown_as = store, limit, load, shown_as
        self.manifests = {name: found for name in store.names() if (found := store.read_manifest(name))}

    def systems(self, *groups: Group) -> list[PlannedSystem]:
        """Return the systems of the tables, run or not: the paper's, then those that only the store has.

        One of the latter is a baseline where it is another model of one, and else compared with them, as RISE is.
        """
        own = (
            PlannedSystem(name, found.title, found.system, "baseline" if found.system in _BASELINES else "rise")
            for name, found in self.manifests.items()
            if name not in BY_NAME
        )
        titles = {name: found.title for name, found in self.manifests.items()}
        planned = (replace(one, title=titles.get(one.name, one.title)) for one in PLAN)
        return [one for one in (*planned, *own) if one.group in groups]

    def seeds(self, variant: str) -> list[PlannedSystem]:
        """Return the seeds of an ablation's row, run or not."""
        return [one for one in self.systems("ablation") if one.paper == variant]

    def repeats(self, planned: PlannedSystem) -> list[PlannedSystem]:
        """Return a system and, of a baseline, its further seeds, run or not."""
        more = self.systems("repeat") if planned.group == "baseline" and planned.paper else []
        return [planned, *(one for one in more if one.paper == planned.paper)]

    def main_system(self) -> PlannedSystem | None:
        """Return the system whose passes and cases are looked at: the default model where it was run, else another."""
        ran = [one for one in self.systems("rise") if one.name in self.manifests]
        return min(ran, key=lambda one: ("rise-small", "rise-large", one.name).index(one.name), default=None)

    @cache
    def examples(self, dataset: str) -> list[Example]:
        """Return the examples of a set."""
        return list(self._load(split_form(dataset)[0]))[: self.limit]

    @cache
    def questions(self, dataset: str) -> list[str]:
        """Return the questions of a set in the scoring form."""
        return [scoring_form(one.question) for one in self.examples(dataset)]

    @cache
    def targets(self, dataset: str) -> list[str]:
        """Return the targets of a set in the scoring form."""
        return [scoring_form(one.target or "") for one in self.examples(dataset)]

    @cache
    def passes(self, name: str, dataset: str) -> list[list[str]] | None:
        """Return the texts after each pass that changed something, an example a row; None where none are saved."""
        outputs = self.store.read(name, dataset) if name in self.manifests else None
        if outputs is None:
            return None
        examples = self.examples(dataset)
        lost = [one.id for one in examples if one.id not in outputs]
        if lost:
            raise InputError(
                f"{self.store.find(name, dataset)}: has no output for {len(lost):,} of {len(examples):,} examples of "
                f"{dataset}, the first of them {lost[0]!r}; --limit N takes the first N of each set"
            )
        return [trim(one.question, outputs[one.id]) for one in examples]

    def counted(self, name: str) -> int | None:
        """Return how many passes make the system's output."""
        return self.manifests[name].counted_passes

    def texts(
        self, name: str, dataset: str, limit: int | None = None, first_turns: FirstTurns = "kept"
    ) -> list[str] | None:
        """Return the outputs as people read them, after the passes that count, or after at most ``limit``.

        Questions without a dialogue are as they were asked, for every system alike, or as each system ``asked`` them
        has them; None where its saved outputs do not say that.
        """
        passes = self.passes(name, dataset)
        if passes is None:
            return None
        after = self.counted(name) if limit is None else limit
        examples = self.examples(dataset)
        texts = [text_after(one.question, made, after) for one, made in zip(examples, passes, strict=True)]
        if first_turns == "kept":
            return keep_first_turns(examples, texts)
        return texts if self.manifests[name].asks(dataset) or not has_first_turns(examples) else None

    @cache
    def scores(
        self, name: str, dataset: str, limit: int | None = None, first_turns: FirstTurns = "kept"
    ) -> ExampleScores | None:
        """Return the metrics of a system's outputs; None where none are saved."""
        texts = self.texts(name, dataset, limit, first_turns)
        return None if texts is None else score_examples([*map(scoring_form, texts)], self.targets(dataset))

    def rescore_command(self, name: str, dataset: str, first_turns: FirstTurns = "kept") -> str:
        """Return the command that prints a system's scores on a set from its saved outputs."""
        path = self.store.find(name, dataset) or self.store.path(name, dataset)
        model = f"{self._shown_as}/{name}/{path.name}"
        name, _ = split_form(dataset)
        form = ["--first-turns", first_turns] if has_first_turns(self.examples(dataset)) else []
        return shlex.join(["riseq", "evaluate", "--system", "saved", "--model", model, "--data", name, *form])

    def made_by(self, name: str, dataset: str) -> str | None:
        """Return the command that made a system's outputs on a set."""
        manifest = self.manifests.get(name)
        facts = manifest.sets.get(dataset) if manifest else None
        return facts.command if facts else None

    def joined_rows(self, name: str, dataset: str) -> list[dict[str, Any]]:
        """Return the saved outputs beside question and target, for anyone who wants to score them by other means."""
        outputs = self.passes(name, dataset) or [], self.texts(name, dataset) or []
        return [
            {"id": one.id, "turn": find_turn(one), "question": one.question, "target": one.target}
            | {"passes": made, "prediction": text}
            for one, made, text in zip(self.examples(dataset), *outputs, strict=True)
        ]


def find_turn(example: Example) -> int:
    """Return the number of a question in its dialogue, whose earlier turns are its context; the first is 1."""
    return len(example.context) + 1


def shown_path(path: Path) -> str:
    """Return a folder as commands show it: relative to where riseq was called, where it is below."""
    whole = path.resolve()
    return whole.relative_to(Path.cwd()).as_posix() if whole.is_relative_to(Path.cwd()) else str(path)
