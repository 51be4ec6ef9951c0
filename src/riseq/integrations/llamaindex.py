"""A LlamaIndex query transform: what is asked becomes conversational, what is searched for stays self-contained."""

from pathlib import Path
from typing import Any

from riseq.engine.simplifier import Simplifier
from riseq.extras import needs_extra

with needs_extra("llamaindex", __name__):
    from llama_index.core.base.llms.types import ChatMessage
    from llama_index.core.indices.query.query_transform.base import BaseQueryTransform
    from llama_index.core.schema import QueryBundle


class SimplifyQuery(BaseQueryTransform):
    """Makes a query conversational after the dialogue in ``metadata["context"]``.

    The context has LlamaIndex's chat messages, or what ``Simplifier`` takes. The words to embed stay those of the query
    as it came, for an index cannot know what "it" is.
    """

    def __init__(
        self, simplifier: Simplifier | None = None, *, model: str | Path | None = None, **controls: Any
    ) -> None:
        super().__init__()
        self.simplifier, self.controls = simplifier or Simplifier.load(model), controls

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts: dict[str, Any]) -> None: ...

    def _run(self, query_bundle: QueryBundle, metadata: dict[str, Any]) -> QueryBundle:
        context = metadata.get("context")
        if isinstance(context, list | tuple):
            context = [
                {"role": one.role.value, "content": one.content} if isinstance(one, ChatMessage) else one
                for one in context
            ]
        text = self.simplifier(query_bundle.query_str, context, **self.controls).text
        return QueryBundle(query_str=text, custom_embedding_strs=query_bundle.embedding_strs)
