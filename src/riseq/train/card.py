"""The model card a checkpoint carries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

LICENCES = {
    "canard": "CANARD, CC BY-SA 4.0",
    "qrecc": "QReCC, CC BY-SA 3.0",
    "gecor": "GECOR-CamRest, CC BY 4.0",
    "followup": "FollowUp, Apache-2.0",
    "coqar": "CoQAR annotations, CC BY-SA 4.0",
}
_SCORES = ("bleu1", "bleu2", "bleu3", "bleu4", "rougeL", "cider", "exact")


def write_card(facts: Mapping[str, Any]) -> str:
    """Return the model card of a trained checkpoint as Markdown."""
    settings = facts["settings"]
    trained = ", ".join(f"`{name}`" for name in settings["train"])
    points = [
        f"Encoder: `{settings['backbone']}`; method `{settings['method']}`, sampler `{settings['sampler']}`",
        describe_choice(facts),
        f"Trained on {trained}; files named `qonly` have contexts of questions alone",
        describe_licences(settings),
    ]
    about = "Makes self-contained questions conversational by editing them (RISE, ACL 2021)."
    return lay_out("A riseq model", about, points, facts["scores"])


def describe_choice(facts: Mapping[str, Any]) -> str:
    """Return which epoch of which seed it is, and why."""
    settings = facts["settings"]
    epoch = f"epoch {facts['epoch']} of {settings['epochs']}"
    return f"Seed {settings['seed']}, {epoch}, chosen by BLEU-4 on `{settings['dev'][0]}`"


def describe_licences(settings: Mapping[str, Any]) -> str:
    """Return the licences of the data it has seen."""
    sets = [*settings["train"], *settings["dev"]]
    licences = [text for key, text in LICENCES.items() if any(key in name for name in sets)]
    told = "; ".join(licences) or "those of the named files"
    return f"Data licences: {told}. A model trained on share-alike data is shared alike."


def lay_out(title: str, about: str, points: Sequence[str], scores: Mapping[str, Mapping[str, float]]) -> str:
    """Return a card as Markdown: what it is, what is to be known of it, and its scores on each set."""
    lines = [
        f"# {title}",
        "",
        about,
        "",
        *(f"- {point}" for point in points),
        "",
        "| data | n | B-1 | B-2 | B-3 | B-4 | R-L | CIDEr | exact |",
        "|---|---|---|---|---|---|---|---|---|",
        *(_write_row(name, found) for name, found in scores.items()),
        "",
        "Scores are in the paper's form: lower-cased word pieces cut to 30, COCO-caption metrics, percent but CIDEr.",
        "",
    ]
    return "\n".join(lines)


def _write_row(name: str, found: Mapping[str, float]) -> str:
    numbers = " | ".join(f"{found[key]:.3f}" if key == "cider" else f"{found[key]:.1f}" for key in _SCORES)
    return f"| {name} | {int(found['n'])} | {numbers} |"
