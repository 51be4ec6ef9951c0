"""The way back end to end, on a tiny model that was trained for it: training's own texts, and a person's spelling."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import riseq
from riseq.controls import NEUTRAL, ControlOptions, Controls
from riseq.core.packed import Interner
from riseq.engine.confidence import FEATURES
from riseq.engine.directions import load_engine
from riseq.engine.resolver import Resolver
from riseq.engine.rules.repetition import repeats_itself
from riseq.engine.simplifier import Simplifier
from riseq.model.checkpoint import load_checkpoint, load_trained
from riseq.model.folder import read_training_window
from riseq.model.inputs import Condition
from riseq.text.lexicon import PRONOUNS
from riseq.text.words import forms
from riseq.train.corpus import Lexicon, build_corpus
from riseq.train.policy import Policy, predict_passes
from riseq.types import Example, InputError, Mention
from tiny_model import export_tiny
from tiny_resolver import export_tiny_resolver, make_examples

CONTEXT = ("Do you know NASA?", "Yes.")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.getbasetemp()


@pytest.fixture(scope="module")
def checkpoint(base: Path) -> Path:
    return export_tiny_resolver(base, "float32")[0]


@pytest.fixture(scope="module")
def exported(base: Path) -> Path:
    return export_tiny_resolver(base, "float32")[1]


@pytest.fixture(scope="module")
def resolver(exported: Path) -> Resolver:
    return Resolver.load(exported, threads=1)


def predict(folder: Path, examples: list[Example]) -> list[str]:
    """Return what training makes of the questions: lower-cased words."""
    model = load_checkpoint(folder)
    interner = Interner(word for phrase in model.phrases for word in phrase)
    pairs = [(replace(one, target=one.question), Condition.UNKNOWN) for one in examples]
    corpus = build_corpus(pairs, interner, model.pieces, None, read_training_window(model.facts), copied=True)
    lexicon = Lexicon(interner, model.pieces, model.phrases, model.templates)
    policy = Policy.build(model.network, lexicon, torch.device("cpu"))
    return predict_passes(policy, lexicon, corpus, 3)[-1]


def test_texts_are_those_of_training(checkpoint: Path, exported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    examples = make_examples(300)
    kept = [result.text for result in load_engine(exported).batch(examples)]
    # Training has no such rules.
    monkeypatch.setattr("riseq.engine.drafts.drop_repeating", lambda words, edits, odds: edits)
    monkeypatch.setattr("riseq.engine.drafts.drop_doubtful", lambda edits, odds, later, points_back: edits)
    monkeypatch.setattr("riseq.engine.drafts.asks_again", lambda words, asked, context: False)
    monkeypatch.setattr("riseq.engine.drafts.find_loose_ends", lambda words, asked: set())
    monkeypatch.setattr("riseq.engine.drafts.asks_nothing", lambda words: False)
    monkeypatch.setattr(
        "riseq.engine.drafts.mend_resolved", lambda text, words, edits, odds, copied, said: (edits, copied)
    )
    monkeypatch.setattr("riseq.engine.drafts.find_waiting", lambda words, asked: None)
    monkeypatch.setattr("riseq.engine.decisions.find_unnamed", lambda words, ops, phrases: [])
    wanted = predict(checkpoint, examples)
    for folder in (checkpoint, exported):
        results = load_engine(folder).batch(examples)
        found = [" ".join(forms(result.text)) for result in results]
        assert found == wanted
    changed = [text for text, one in zip(wanted, examples, strict=True) if text != " ".join(forms(one.question))]
    assert len(changed) > 100
    assert not any(repeats_itself(forms(text)) for text in kept)
    assert any(repeats_itself(text.split()) for text in wanted)
    assert sum(" of " in text for text in changed) > 20
    assert sum("' s" in text for text in changed) > 20


def test_int8_says_nearly_the_same(base: Path, resolver: Resolver) -> None:
    small = Resolver.load(export_tiny_resolver(base, "int8")[1], threads=1)
    examples = make_examples(60)
    pairs = zip(small.resolve_many(examples), resolver.resolve_many(examples), strict=True)
    assert sum(one.text == other.text for one, other in pairs) > 45
    alone = [small.resolve(one.question, one.context).text for one in examples[:20]]
    assert alone == [result.text for result in small.resolve_many(examples[:20])]


def test_an_exported_model_is_read_back(checkpoint: Path, exported: Path) -> None:
    mine, theirs = load_trained(exported), load_checkpoint(checkpoint)
    assert mine.templates == theirs.templates
    for name, weight in theirs.network.state_dict().items():
        torch.testing.assert_close(mine.network.state_dict()[name], weight, msg=name)


def test_what_comes_in_is_written_as_it_was_and_says_where(resolver: Resolver) -> None:
    result = resolver.resolve("Did it win a prize?", CONTEXT)
    assert result.text == "Did NASA win a prize?"
    (edit,) = result.edits
    assert (edit.old, edit.new, edit.refers_to) == ("it", "NASA", Mention(0, 12, 16))
    owned = resolver.resolve("Was its prize known?", ["Do you know Ada Lovelace?"])
    assert owned.steps[0].text == "Was Ada Lovelace's prize known?"
    assert owned.edits[0].refers_to == Mention(0, 12, 24)
    assert riseq.Simplification.from_dict(result.to_dict()) == result


@pytest.mark.parametrize(
    ("question", "context"),
    [
        ("  Did NASA  win a prize ?", CONTEXT),
        ("Yes.", CONTEXT),
        ("Did it win a prize?", ()),
        ("Wie alt ist sie\tund wo wohnt sie?", CONTEXT),
        ("", CONTEXT),
    ],
)
def test_what_needs_nothing_stays_as_it_is(resolver: Resolver, question: str, context: tuple[str, ...]) -> None:
    result = resolver(question, context)
    assert result.text == question
    assert not result.steps


def test_controls(resolver: Resolver) -> None:
    question = "Did it win a prize?"
    assert resolver.resolve(question, CONTEXT, strength=0).text == question
    assert resolver.resolve(question, CONTEXT, protect=["it"]).text == question
    texts = [one.text for one in resolver.resolve(question, CONTEXT, n_best=3).alternatives]
    assert texts[:2] == [question, "Did NASA win a prize?"]
    eager = [resolver.resolve(one.question, one.context, strength=1, max_passes=1) for one in make_examples(40)]
    plain = [resolver.resolve(one.question, one.context, max_passes=1) for one in make_examples(40)]
    assert sum(one.changed for one in eager) > sum(one.changed for one in plain)
    for option in ({"grounded": False}, {"guard": False}, {"pronouns": ["NASA=it"]}):
        (name,) = option
        with pytest.raises(InputError, match=f"{name} goes with riseq simplify, not with riseq resolve"):
            resolver.resolve(question, CONTEXT, controls=Controls(**option))
    usual: list[ControlOptions] = [{"grounded": True}, {"guard": True}, {"pronouns": []}]  # the defaults, but set
    for set_so in usual:
        (name,) = set_so
        with pytest.raises(InputError, match=f"{name} goes with riseq simplify, not with riseq resolve"):
            resolver.resolve(question, CONTEXT, **set_so)
    assert resolver.resolve(question, CONTEXT, controls=Controls()).text == "Did NASA win a prize?"


def test_long_dialogues_are_read_as_in_training_or_in_part(resolver: Resolver) -> None:
    context = ["Do you know NASA?", *["It is well known, and it is known there."] * 40]
    assert resolver.window.pieces == 48
    whole, part = (resolver.resolve("Did NASA it win?", context, read=read) for read in ("all", "relevant"))
    assert whole.truncated
    assert part.truncated
    for result in (whole, part):
        for edit in result.edits:
            if (said := edit.refers_to) is not None:
                assert context[said.utterance][said.start : said.end].lower() in edit.new.lower()


def test_it_is_shared_with_threads_and_processes(resolver: Resolver) -> None:
    again = pickle.loads(pickle.dumps(resolver))
    assert again.resolve("Did it win a prize?", CONTEXT) == resolver.resolve("Did it win a prize?", CONTEXT)
    questions = ["Did it win a prize?", "Was its work known?"]
    assert resolver.many(CONTEXT, questions) == [resolver(one, CONTEXT) for one in questions]


def test_a_model_of_the_other_direction_is_refused(base: Path, checkpoint: Path, exported: Path) -> None:
    for folder in (checkpoint, exported):
        with pytest.raises(InputError, match="a model to resolve questions; expected one to simplify them"):
            Simplifier.load(folder)
    for folder in export_tiny(base, "bert", "float32"):
        with pytest.raises(InputError, match="a model to simplify questions; expected one to resolve them"):
            Resolver.load(folder)
        assert isinstance(load_engine(folder), Simplifier)


def test_without_a_model_it_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("riseq.hub._PACKAGE", tmp_path)
    for model in (None, "resolve"):
        with pytest.raises(InputError, match=r"riseq train recipes/resolve\.yaml .* riseq export") as caught:
            Resolver.load(model)
        assert "\n" not in str(caught.value)


def test_a_card_has_examples_of_its_own(resolver: Resolver) -> None:
    card = resolver.write_card("tiny")
    assert "When was it released?" in card
    assert "Question resolution, before export" in card


def test_a_question_that_is_likely_complete_stays(resolver: Resolver) -> None:
    """What is told by the edits of the first pass, of questions in which no word points back, and not above neutral."""
    usual = Simplifier.load().calibration
    assert usual is not None
    again = replace(usual.again, bias=9.0)
    examples = make_examples(60)
    points = [not PRONOUNS.isdisjoint(forms(one.question)) for one in examples]
    assert 0 < sum(points) < len(points)

    def list_changed(needed: float, strength: float = NEUTRAL) -> list[bool]:
        needs = replace(usual.again, bias=0.0, weights=(0.0,) * len(FEATURES))  # one half for each
        fitted = replace(usual, again=again, later=0.0, margin=0.0, needs=needs, needed=needed)
        made = resolver.backend, resolver.pieces, resolver.phrasing
        results = Resolver(*made, calibration=fitted, window=resolver.window).batch(examples, strength=strength)
        return [result.changed for result in results]

    plain = list_changed(0.5)
    assert any(one and not back for one, back in zip(plain, points, strict=True))
    assert list_changed(0.6) == [one and back for one, back in zip(plain, points, strict=True)]
    assert list_changed(0.6, 0.6) == list_changed(0.5, 0.6), "who asks for more gets it"
