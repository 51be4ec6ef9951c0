"""The pairs that RISE learns from: what the network is told of each, on made-up pairs and on the everyday dialogues."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from riseq.data.corpora import read_everyday
from riseq.model.inputs import Condition
from riseq.text.words import find_stems
from riseq.train.mixture import choose_forms, find_condition, gather_pairs, mix_foreign, mix_unrelated
from riseq.train.settings import RiseSettings
from riseq.types import Example, InputError

ALIEN = Example("1", ("Who directed Alien?", "Ridley Scott."), "When was Alien released?", "When was it released?")
NAIROBI = Example("2", ("Is Nairobi large?", "Very."), "How hot is Nairobi in July?", "How hot is it?")


@pytest.fixture(scope="module")
def everyday(root: Path) -> list[Example]:
    return list(read_everyday(root / "data" / "everyday" / "dialogues.jsonl.gz"))


def test_a_pair_is_grounded_where_the_dialogue_said_all_that_goes() -> None:
    assert find_condition(ALIEN) is Condition.GROUNDED
    assert find_condition(NAIROBI) is Condition.UNGROUNDED, "nobody said July"


def test_nearly_all_everyday_pairs_are_grounded(everyday: list[Example]) -> None:
    told = [find_condition(example) is Condition.GROUNDED for example in everyday]
    assert sum(told) / len(told) > 0.97


def test_unrelated_dialogues_leave_the_question_as_it_is(everyday: list[Example]) -> None:
    made = mix_unrelated(everyday, 0.02, np.random.default_rng(1))
    assert len(made) > 100
    for example, condition in made:
        assert condition is Condition.GROUNDED
        assert example.target == example.question
        assert not find_stems([example.question]) & find_stems(example.context)


def test_a_foreign_dialogue_stands_before_or_after(everyday: list[Example]) -> None:
    by_id = {example.id: example for example in everyday}
    made = mix_foreign(everyday, 0.02, np.random.default_rng(1))
    kinds = {"before": 0, "after": 0}
    for example, condition in made:
        name, _, kind = example.id.rpartition("/")
        own = by_id[name]
        kinds[kind] += 1
        if kind == "before":
            assert example.context[-len(own.context) :] == own.context
            assert condition is find_condition(example)
        else:
            assert example.target == example.question == own.question, "another subject has come between"
            assert condition is Condition.GROUNDED
    assert kinds["before"] > 2 * kinds["after"] > 0


def test_every_other_copy_has_the_best_form(everyday: list[Example]) -> None:
    rng = np.random.default_rng(1)
    copies = [choose_forms(everyday[:300], copy, rng) for copy in range(4)]
    best: dict[str, str | None] = {}
    for example in everyday[:300]:
        best.setdefault(example.id, example.target)
    assert all([one.id for one in copy] == list(best) for copy in copies)
    assert all(one.target == best[one.id] for copy in copies[::2] for one in copy)
    assert any(one.target != best[one.id] for one in copies[1])
    assert any(not one.context[1:] or len(one.context) % 2 for one in copies[0]), "some come without their answers"


def test_the_mixture_tells_the_truth_once_and_nothing_once(
    make_settings: Callable[..., RiseSettings], root: Path
) -> None:
    plain, _ = gather_pairs(make_settings(), np.random.default_rng(1))
    assert {condition for _, condition in plain} == {Condition.UNKNOWN}
    everyday = (str(root / "data" / "everyday" / "dialogues.jsonl.gz"),)
    settings = make_settings(grounded=True, everyday=everyday, everyday_copies=2, limit=40)
    pairs, came = gather_pairs(settings, np.random.default_rng(1))
    told = [(example, condition) for example, condition in pairs if condition is not Condition.UNKNOWN]
    untold = [example for example, condition in pairs if condition is Condition.UNKNOWN]
    assert [example for example, _ in told[: len(untold)]] == untold
    assert all(condition is find_condition(example) for example, condition in told[: len(untold)])
    assert {condition for _, condition in told[len(untold) :]} == {Condition.GROUNDED}
    assert any("it" in (example.target or "") for example in came)


def test_the_way_back_turns_every_pair_round(make_settings: Callable[..., RiseSettings], root: Path) -> None:
    folder = root / "data" / "everyday"
    shares = {"complete": 0.5, "first_turns": 0.5, "unrelated": 0.5, "small_talk_share": 0.5, "everyday_copies": 1}
    files = {"everyday": (str(folder / "dialogues.jsonl.gz"),), "small_talk": (str(folder / "small_talk.jsonl"),)}
    settings = make_settings(direction="resolve", limit=40, **shares, **files)
    pairs, came = gather_pairs(settings, np.random.default_rng(1))
    forwards, _ = gather_pairs(make_settings(limit=40), np.random.default_rng(1))
    turned = [(one.context, one.target, one.question) for one, _ in forwards]
    assert [(one.context, one.question, one.target) for one, _ in pairs[:40]] == turned
    everyday = list(read_everyday(folder / "dialogues.jsonl.gz"))[:40]
    said = {(one.target, one.question) for one in everyday}
    assert said <= {(one.question, one.target) for one, _ in pairs}, "every form is a source"
    assert {(one.question, one.target) for one in came[40:]} == said
    kinds = {kind: [one for one, _ in pairs if kind in one.id] for kind in ("/complete", "/first", "small-talk")}
    for kind, found in kinds.items():
        assert len(found) == 40, kind
        assert all(one.question == one.target for one in found)
    assert all(one.context for one in kinds["/complete"])
    assert not any(one.context for one in kinds["/first"])
    assert len({one.question for one in kinds["small-talk"]}) == 40, "none twice before all were said"
    assert any(not one.context for one in kinds["small-talk"])


def test_what_stays_is_a_share_only_where_it_makes_sense(make_settings: Callable[..., RiseSettings]) -> None:
    with pytest.raises(InputError, match="complete"):
        make_settings(complete=0.1)
    with pytest.raises(InputError, match="first_turns is 0 or more"):
        make_settings(first_turns=-1.0)


def test_of_each_everyday_question_only_the_first_forms_are_used(
    make_settings: Callable[..., RiseSettings], root: Path
) -> None:
    path = root / "data" / "everyday" / "dialogues.jsonl.gz"
    settings = make_settings(direction="resolve", everyday=(str(path),), everyday_copies=1, everyday_forms=1, limit=40)
    _, came = gather_pairs(settings, np.random.default_rng(1))
    best: dict[str, Example] = {}
    for one in read_everyday(path):
        best.setdefault(one.id, one)
    wanted = [(one.target, one.question) for one in list(best.values())[:40]]
    assert [(one.question, one.target) for one in came][-40:] == wanted
    with pytest.raises(InputError, match="everyday_forms is 1 or more"):
        make_settings(everyday_forms=0)
