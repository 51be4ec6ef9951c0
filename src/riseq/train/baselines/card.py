"""The model card a baseline's checkpoint carries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from riseq.train.card import describe_choice, describe_licences, lay_out

_ABOUT = {
    "trans++": "Trans++ (Vakulenko et al., 2020): an encoder-decoder whose next piece is a learned mixture of "
    "generating, copying from the question and copying from the context; greedy decoding.",
    "qgdiv": "QGDiv (Sultan et al., 2020): an encoder-decoder with beam search.",
    "querysim": "QuerySim (Yu et al., 2020): a language model that writes the conversational question after context "
    "and question; greedy decoding.",
}


def write_baseline_card(facts: Mapping[str, Any]) -> str:
    """Return the model card of a trained baseline as Markdown."""
    settings, system = facts["settings"], facts["system"]
    points = [
        f"Started from `{settings['backbone']}`; {facts['parameters']:,} parameters",
        describe_choice(facts),
        f"Trained on {', '.join(f'`{name}`' for name in settings['train'])}",
        describe_licences(settings),
        f"Use: `riseq evaluate --system {system} --model FOLDER --data FILE`",
    ]
    return lay_out(f"{system}, a baseline", _ABOUT[system], points, facts["scores"])
