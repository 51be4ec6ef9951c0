"""An engine's model as others get it: its folder, its card, and the Hugging Face hub."""

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

from riseq.data.dialogue import Context
from riseq.hub import push_folder
from riseq.model.card import (
    EXAMPLES,
    add_examples,
    has_metadata,
    lacks_examples,
    make_metadata,
    replace_metadata,
)
from riseq.model.folder import LAYOUT, read_json, save_folder
from riseq.types import Direction, InputError, Simplification


class Publishable:
    """What has a model in a folder and answers questions with it, so that a card can show some."""

    direction: ClassVar[Direction]
    """What a model has to be trained for."""
    model: Path | None
    """The folder of the model; None where it was put together by hand."""

    @abstractmethod
    def __call__(self, question: str, context: Context = ()) -> Simplification:
        """Return what becomes of ``question`` after the dialogue in ``context``."""

    def save_pretrained(self, folder: str | Path) -> Path:
        """Write the model's folder, card included, to ``folder`` and return it; ``from_pretrained`` takes it again.

        It appears whole or not at all. A card without metadata gets them.
        """
        save_folder(self._find_folder(), Path(folder), self.write_card(Path(folder).resolve().name))
        return Path(folder)

    def push_to_hub(
        self,
        name: str,
        *,
        private: bool | None = None,
        token: str | None = None,
        commit_message: str = "Upload a riseq model",
        revision: str | None = None,
    ) -> str:
        """Upload the model, card included, to the Hugging Face hub as ``name`` (owner/name), and return its address.

        The repository is made if there is none, ``private`` or not; ``token`` is by default the one you logged in with.
        """
        model = self._find_folder()
        with TemporaryDirectory() as work:
            folder = Path(work, "model")
            save_folder(model, folder, self.write_card(name.rpartition("/")[2]))
            return push_folder(folder, name, private=private, token=token, message=commit_message, revision=revision)

    def write_card(
        self, name: str, scores: Mapping[str, Mapping[str, float]] | None = None, refresh: bool = False
    ) -> str:
        """Return the model's card with metadata; those it has are kept, unless they are to ``refresh``.

        ``name`` is what they call the model, and ``scores`` are by set what its config does not know.
        """
        folder = self._find_folder()
        path = folder / LAYOUT.card
        card = path.read_text(encoding="utf-8") if path.is_file() else ""
        if has_metadata(card) and not refresh and not lacks_examples(card):
            return card
        shown = [(context, question, self(question, context).text) for context, question in EXAMPLES[self.direction]]
        if has_metadata(card) and not refresh:
            return add_examples(card, shown)
        return replace_metadata(card, make_metadata(read_json(folder / LAYOUT.config), name, scores, shown))

    def _find_folder(self) -> Path:
        if self.model is None:
            raise InputError(
                f"this {type(self).__name__} was put together by hand, expected one from the folder of a model"
            )
        return self.model
