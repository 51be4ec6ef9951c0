"""A tiny model that learns the way back in seconds: pronouns become the names that it copies from the dialogue."""

from __future__ import annotations

import random
from pathlib import Path

from filelock import FileLock

from riseq.types import Example
from tiny_world import THINGS, Row, write_backbone, write_rows

PEOPLE = ["Ada Lovelace", "Alan Turing", "Grace Hopper", "Kurt Goedel", "Emmy Noether", "John Nash", "NASA"]
FORMS = (
    ("Did it {}?", "Did {entity} {}?", ("win a prize", "become famous", "cost a lot")),
    ("What about {}?", "What about {} of {entity}?", ("the end", "the work", "a film")),
    ("Was its {} known?", "Was {entity}'s {} known?", ("work", "film", "prize")),
)
"""Each in another way: a name alone, one after "of", and one before "'s"."""
SMALL_TALK = ["Yes.", "Thanks!", "I like it here.", "Hello there"]


def make_rows() -> list[Row]:
    """Return pairs from the question a person asks in a dialogue back to the one that says everything."""
    rows: list[Row] = []
    for entity in (*PEOPLE, *THINGS):
        said = [[f"Tell me about {entity}.", "It is well known."], ["Hello there.", f"Do you know {entity}?", "Yes."]]
        for short, whole, ends in FORMS:
            for number, end in enumerate(ends):
                question = whole.format(end, entity=entity)
                row = {"context": said[number % 2], "question": question, "target": short.format(end)}
                rows.append({"id": str(len(rows)), **row})
    return rows


def make_examples(count: int) -> list[Example]:
    """Return made-up dialogues, some about two things, some with small talk or questions that say everything."""
    rng = random.Random(3)
    entities, found = (*PEOPLE, *THINGS), []
    for number in range(count):
        short, whole, ends = rng.choice(FORMS)
        one, other = rng.sample(entities, 2)
        openings = (f"Tell me about {one}.", f"Do you know {one}?", f"{one} is well known.", f"{one} and {other}?")
        said = [*rng.sample(["Hello there.", "Yes.", f"What about {other}?"], rng.randint(0, 2)), rng.choice(openings)]
        asked = (short, whole.replace("{entity}", one), short.lower(), "{}?", rng.choice(SMALL_TALK))
        question = rng.choices(asked, (6, 1, 1, 1, 1))[0].format(rng.choice(ends))
        found.append(Example(str(number), tuple(said if rng.random() < 0.95 else ()), question))
    return found


def train_tiny(base: Path) -> Path:
    """Return the folder of a checkpoint under ``base``, trained where it is not there yet."""
    from riseq.train.loop import train
    from riseq.train.settings import RiseSettings

    if base.name.startswith("popen-"):
        base = base.parent  # the processes that test side by side share it
    folder = base / "tiny-resolve"
    with FileLock(base / "tiny-resolve.lock"):
        if not (folder / "best").is_dir():
            folder.mkdir(exist_ok=True)
            rows = make_rows()
            data = write_rows(folder / "pairs.qa.jsonl", rows)
            backbone = write_backbone(folder / "bert", "bert", rows)
            settings = RiseSettings(
                direction="resolve",
                backbone=str(backbone),
                train=(str(data),),
                dev=(f"{data}+resolve",),
                copies=4,
                templates=4,
                phrases=6,
                min_count=3,
                parts=True,
                joint=True,
                complete=0.3,
                method="mle",
                decoder_layers=1,
                utterance_pieces=None,
                utterances=None,
                context_pieces=48,
                epochs=10,
                batch=16,
                lr=3e-3,
                head_lr=1e-2,
                warmup_steps=2,
                scored_from=10,
                resumable=False,
                device="cpu",
                workers=1,
            )
            train(settings, folder)
    return folder / "best"


def export_tiny_resolver(base: Path, precision: str) -> tuple[Path, Path]:
    """Return the folders of the tiny checkpoint and of its export."""
    from riseq.model.export import export

    checkpoint = train_tiny(base)
    exported = checkpoint.parent / precision
    with FileLock(checkpoint.parent / "export.lock"):
        if not exported.is_dir():
            export(checkpoint, exported, precision)
    return checkpoint, exported
