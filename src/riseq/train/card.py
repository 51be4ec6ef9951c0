"""The model card a checkpoint carries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LICENCES = {
    "canard": "CANARD, CC BY-SA 4.0",
    "qrecc": "QReCC, CC BY-SA 3.0",
    "gecor": "GECOR-CamRest, CC BY 4.0",
    "followup": "FollowUp, Apache-2.0",
    "coqar": "CoQAR annotations, CC BY-SA 4.0",
}


def write_card(facts: Mapping[str, Any]) -> str:
    """Return the model card of a trained checkpoint as Markdown."""
    settings = facts["settings"]
    sets = [*settings["train"], *settings["dev"]]
    licences = [text for key, text in LICENCES.items() if any(key in name for name in sets)]
    rows = []
    for name, found in facts["scores"].items():
        numbers = " | ".join(
            f"{found[key]:.3f}" if key == "cider" else f"{found[key]:.1f}"
            for key in ("bleu1", "bleu2", "bleu3", "bleu4", "rougeL", "cider", "exact")
        )
        rows.append(f"| {name} | {int(found['n'])} | {numbers} |")
    lines = [
        "# A riseq model",
        "",
        "Makes self-contained questions conversational by editing them (RISE, ACL 2021).",
        "",
        f"- Encoder: `{settings['backbone']}`; method `{settings['method']}`, sampler `{settings['sampler']}`",
        f"- Seed {settings['seed']}, epoch {facts['epoch']} of {settings['epochs']}, chosen by BLEU-4 on "
        f"`{settings['dev'][0]}`",
        f"- Trained on {', '.join(f'`{name}`' for name in settings['train'])}; files named `qonly` have contexts of "
        "questions alone",
        f"- Data licences: {'; '.join(licences) or 'those of the named files'}. "
        "A model trained on share-alike data is shared alike.",
        "",
        "| data | n | B-1 | B-2 | B-3 | B-4 | R-L | CIDEr | exact |",
        "|---|---|---|---|---|---|---|---|---|",
        *rows,
        "",
        "Scores are in the paper's form: lower-cased word pieces cut to 30, COCO-caption metrics, percent but CIDEr.",
        "",
    ]
    return "\n".join(lines)
