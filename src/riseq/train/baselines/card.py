"""The model card a baseline's checkpoint carries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from riseq.train.card import LICENCES

_ABOUT = {
    "trans++": "Trans++ (Vakulenko et al., 2020): an encoder-decoder whose next piece is a learned mixture of "
    "generating, copying from the question and copying from the context; greedy decoding.",
    "qgdiv": "QGDiv (Sultan et al., 2020): an encoder-decoder with beam search.",
    "querysim": "QuerySim (Yu et al., 2020): a language model that writes the conversational question after context "
    "and question; greedy decoding.",
}


def write_baseline_card(facts: Mapping[str, Any]) -> str:
    """Return the model card of a trained baseline as Markdown."""
    settings = facts["settings"]
    sets = [*settings["train"], *settings["dev"]]
    licences = [text for key, text in LICENCES.items() if any(key in name for name in sets)]
    keys = ("bleu1", "bleu2", "bleu3", "bleu4", "rougeL", "cider", "exact")
    rows = []
    for name, found in facts["scores"].items():
        numbers = " | ".join(f"{found[key]:.3f}" if key == "cider" else f"{found[key]:.1f}" for key in keys)
        rows.append(f"| {name} | {int(found['n'])} | {numbers} |")
    lines = [
        f"# {facts['system']}, a baseline",
        "",
        _ABOUT[facts["system"]],
        "",
        f"- Started from `{settings['backbone']}`; {facts['parameters']:,} parameters",
        f"- Seed {settings['seed']}, epoch {facts['epoch']} of {settings['epochs']}, chosen by BLEU-4 on "
        f"`{settings['dev'][0]}`",
        f"- Trained on {', '.join(f'`{name}`' for name in settings['train'])}",
        f"- Data licences: {'; '.join(licences) or 'those of the named files'}. "
        "A model trained on share-alike data is shared alike.",
        f"- Use: `riseq evaluate --system {facts['system']} --model FOLDER --data FILE`",
        "",
        "| data | n | B-1 | B-2 | B-3 | B-4 | R-L | CIDEr | exact |",
        "|---|---|---|---|---|---|---|---|---|",
        *rows,
        "",
        "Scores are in the paper's form: lower-cased word pieces cut to 30, COCO-caption metrics, percent but CIDEr.",
        "",
    ]
    return "\n".join(lines)
