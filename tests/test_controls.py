"""What may be asked of the engine, and which words a protected phrase holds."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import pytest

from riseq.controls import ControlOptions, Controls
from riseq.core.edits import MARKER, Op
from riseq.engine.decisions import find_shift
from riseq.engine.drafts import find_protected
from riseq.types import InputError


def test_strength_is_a_falling_shift() -> None:
    shifts = [find_shift(step / 20) for step in range(21)]
    assert shifts == sorted(shifts, reverse=True)
    assert len(set(shifts)) == len(shifts)
    assert find_shift(0.5) == 0


def test_protected_words_may_be_kept_and_followed() -> None:
    words = [MARKER, "did", "ira", "hayes", "know", "ira", "?"]
    barred = find_protected(words, [("ira", "hayes"), ("?",)])
    assert {place: [Op(op) for op in range(4) if row[op]] for place, row in enumerate(barred) if row.any()} == {
        2: [Op.DELETE, Op.INSERT, Op.SUBSTITUTE],
        3: [Op.DELETE, Op.SUBSTITUTE],
        6: [Op.DELETE, Op.SUBSTITUTE],
    }


def test_every_occurrence_is_protected() -> None:
    barred = find_protected([MARKER, "a", "a", "a"], [("a", "a")])
    assert barred[1:, Op.DELETE].all()
    assert barred[:, Op.INSERT].tolist() == [False, True, True, False]
    assert not find_protected([MARKER, "a"], [(MARKER,)]).any()


def test_protected_phrases_go_by_their_words() -> None:
    assert Controls.of(protect=["Ira HAYES's", "Café"]).protected_words() == (("ira", "hayes", "'", "s"), ("cafe",))


def test_pronouns_are_a_mapping_or_pairs_of_words() -> None:
    pairs = Controls.of(pronouns=["Alex Morgan=she", "A=B=they"])
    assert pairs == Controls.of(pronouns={"Alex Morgan": "she", "A=B": "they"}) == Controls.from_dict(pairs.to_dict())
    assert pairs.pronoun_words() == ((("alex", "morgan"), "she"), (("a", "=", "b"), "they"))
    assert hash(pairs)


MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"strength": 1.01}, "strength is 1.01, expected a number from 0 to 1"),
    ({"strength": -1}, "strength is -1, expected"),
    ({"strength": float("nan")}, "strength is nan, expected"),
    ({"strength": "high"}, "strength is 'high', expected"),
    ({"strength": True}, "strength is True, expected"),
    ({"min_confidence": 1.5}, "min_confidence is 1.5, expected a number from 0 to 1"),
    ({"protect": "Ira"}, "protect is a str, expected a list of strings"),
    ({"protect": 3}, "protect is a int"),
    ({"protect": ["Ira", None]}, "protect[1] is a NoneType"),
    ({"protect": [" "]}, "protect[0] is ' ', expected at least one word"),
    ({"max_passes": 0}, "max_passes is 0, expected 1 or more"),
    ({"max_passes": 1.5}, "max_passes is 1.5, expected 1 or more"),
    ({"n_best": 0}, "n_best is 0, expected 1 or more"),
    ({"pronouns": "Ira=he"}, "pronouns is a str, expected names with their pronouns"),
    ({"pronouns": ["Ira"]}, "pronouns has 'Ira', expected NAME=PRONOUN, with he, she, they or it"),
    ({"pronouns": {"Ira": "xe"}}, "pronouns has 'Ira=xe'"),
    ({"pronouns": [3]}, "pronouns has 3, expected"),
    ({"guard": 1}, "guard is 1, expected True or False"),
    ({"read": "some"}, "read is 'some', expected all or relevant"),
    ({"read": True}, "read is True, expected all or relevant"),
    ({"power": 1}, "'power' is no control; there are strength, protect, max_passes, n_best, guard"),
]


@pytest.mark.parametrize(("asked", "told"), MISTAKES)
def test_mistakes_are_told(asked: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=re.escape(told)):
        Controls.of(**asked)


def test_options_are_the_controls_fields() -> None:
    assert set(ControlOptions.__annotations__) == {field.name for field in dataclasses.fields(Controls)}
    assert all(field.metadata["help"] for field in dataclasses.fields(Controls))


def test_what_differs_is_written_and_read_back() -> None:
    assert Controls().to_dict() == {}
    controls = Controls.of(Controls(strength=1, protect=("Ira Hayes",)), n_best=3, guard=False)
    assert controls.to_dict() == {"strength": 1.0, "protect": ["Ira Hayes"], "n_best": 3, "guard": False}
    assert Controls.from_dict(controls.to_dict()) == controls


def test_what_was_set_is_refused_in_the_other_direction() -> None:
    Controls().check("resolve")
    Controls(guard=False, grounded=False, pronouns=("Alex=she",)).check("simplify", ["guard"])
    Controls(strength=0.7).check("resolve", ["strength", "read"])
    for controls, given in ((Controls(guard=False), []), (Controls(), ["guard"]), (Controls(), ["strength", "guard"])):
        with pytest.raises(InputError, match=r"^guard goes with riseq simplify, not with riseq resolve$"):
            controls.check("resolve", given)
