"""A dialogue in any of the forms people keep one in, as plain utterances.

A context is a list, a single string, or None. An item of a list is one of

- a string: an utterance;
- a message ``{"role": ..., "content": ...}``, as chat models take them; the content may be a list of parts, of which
  the text counts. What is not said in the dialogue is left out: the system's instructions, tools, empty contents;
- ``{"speaker": ..., "text": ...}``: one utterance. ``{"question": ..., "answer": ...}``: two, or one without an answer;
- a pair of strings: (speaker, text), one utterance, or (question, answer), two.

All pairs of a context are read alike: as (speaker, text) if every first string is a speaker's label, else as (question,
answer). A label is a known role ("user", "Assistant:"), one word ("Ada"), or up to three words or numbers that start
with capitals or digits ("Ada Lovelace", "Speaker 2"); it has no end mark and is no question word, yes or no.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from riseq.text.lexicon import ENDS, EXCLAMATIONS, QUESTION_WORDS
from riseq.types import Example, InputError

Context = Iterable[str | tuple[str, str] | list[str] | Mapping[str, Any]] | str | None
Item = Example | Mapping[str, Any] | tuple[str, Context]
Asked = tuple[str, tuple[str, ...]]
"""A question, and the utterances before it."""

EXPECTED = "strings, messages with role and content, (speaker, text) or (question, answer) pairs"
_ITEM = "an Example, a dict with 'question' and 'context' or with 'messages', or a (question, context) pair"
SILENT_ROLES = frozenset({"system", "developer", "tool", "function"})
"""Who speaks beside the dialogue, not in it."""

_ROLES = SILENT_ROLES | {"user", "assistant", "human", "bot", "ai", "agent", "customer", "model", "you", "me", "q", "a"}
_NO_LABELS = QUESTION_WORDS | EXCLAMATIONS
_ONLY_STRINGS: frozenset[type] = frozenset({str})


def check_items(items: object) -> None:
    """Raise where ``items`` are not many of what ``read_item`` takes."""
    if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
        raise InputError(f"the items are a {type(items).__name__}, expected many, each {_ITEM}")


def read_item(item: Item, where: str = "") -> Asked:
    """Return the question and the dialogue of an example, a dict or a pair; ``where`` begins the line of a mistake."""
    question: object
    context: object
    if isinstance(item, Example):
        question, context = item.question, item.context
    elif isinstance(item, Mapping) and ("question" in item or "messages" in item):
        row = split_messages(item, where)
        question, context = row.get("question"), row.get("context")
    elif isinstance(item, tuple | list) and len(item) == 2:
        question, context = item
    else:
        raise InputError(f"{where}got a {type(item).__name__}, expected {_ITEM}")
    if not isinstance(question, str):
        raise InputError(f"{where}the question is a {type(question).__name__}, expected a string")
    try:
        return question, read_context(context)
    except InputError as error:
        raise InputError(f"{where}{error}") from None


def read_many(context: Context, questions: Iterable[str]) -> list[Asked]:
    """Return each of ``questions`` with the one dialogue before all of them, which is read once."""
    if isinstance(questions, str):
        raise InputError("questions is a string, expected a list of them")
    said = read_context(context)
    return [read_item((question, said), f"question {number}: ") for number, question in enumerate(questions)]


def split_messages(row: Mapping[str, Any], where: str = "") -> Mapping[str, Any]:
    """Return ``row`` with the context, and if it has no question the question too, from its chat ``messages``."""
    messages = row.get("messages")
    if messages is None or row.get("context") is not None:
        return row
    if row.get("question") is not None:
        return {**row, "context": messages}
    last = messages[-1] if isinstance(messages, list | tuple) and messages else None
    if not isinstance(last, Mapping) or last.get("role") != "user":
        raise InputError(f"{where}messages: the last one is not the user's, expected the question")
    return {**row, "context": messages[:-1], "question": " ".join(read_context([last]))}


def read_context(context: object) -> tuple[str, ...]:
    """Return the utterances of ``context``, oldest first; None and a blank string are none, another string is one."""
    if context is None or isinstance(context, str):
        return (context,) if context and not context.isspace() else ()
    if isinstance(context, bytes | Mapping) or not isinstance(context, Iterable):
        expected = f"a list of utterances, oldest first: {EXPECTED}"
        raise InputError(f"the context is a {type(context).__name__}, expected {expected}")
    items = tuple(context)
    if {*map(type, items)} <= _ONLY_STRINGS or all(isinstance(item, str) for item in items):
        return items
    pairs = [item for item in items if isinstance(item, tuple | list)]
    with_speakers = all(_is_label(pair[0]) for pair in pairs if pair)
    return tuple(text for index, item in enumerate(items) for text in _read_item(item, index, with_speakers))


def _read_item(item: object, index: int, with_speakers: bool) -> list[str]:
    if isinstance(item, str):
        return [item]
    if isinstance(item, Mapping):
        return _read_mapping(item, index)
    if not isinstance(item, tuple | list):
        raise InputError(f"context[{index}] is a {type(item).__name__}, expected one of: {EXPECTED}")
    if len(item) != 2 or not all(isinstance(part, str) for part in item):
        raise InputError(f"context[{index}] is not a pair of strings, expected (speaker, text) or (question, answer)")
    first, second = item
    if not with_speakers:
        return [first, second]
    return [] if _trim(first) in SILENT_ROLES else [second]


def _read_mapping(item: Mapping[Any, Any], index: int) -> list[str]:
    if "role" in item and "content" in item:
        silent = _trim(_take(item, "role", index)) in SILENT_ROLES
        return [] if silent else _read_content(item["content"], index)
    if "speaker" in item and "text" in item:
        return [_take(item, "text", index)]
    if "question" in item:
        answer = [] if item.get("answer") is None else [_take(item, "answer", index)]
        return [_take(item, "question", index), *answer]
    expected = "role and content, speaker and text, or question and answer"
    raise InputError(f"context[{index}] has the keys {sorted(map(str, item))}, expected {expected}")


def _read_content(content: object, index: int) -> list[str]:
    """Return what a message says: nothing, a string, or the text among its parts."""
    if content is None or isinstance(content, str):  # A call of a tool has none.
        return [content] if content else []
    where = f"context[{index}]['content']"
    if not isinstance(content, list | tuple) or not all(isinstance(part, Mapping) for part in content):
        raise InputError(f"{where} is a {type(content).__name__}, expected a string or a list of parts")
    texts = [part.get("text") for part in content if part.get("type", "text") == "text"]
    strings = [text for text in texts if isinstance(text, str)]
    if len(strings) < len(texts):
        raise InputError(f"{where} has a text part without a string 'text'")
    return [" ".join(strings)] if strings else []


def _take(item: Mapping[Any, Any], key: str, index: int) -> str:
    value = item[key]
    if not isinstance(value, str):
        raise InputError(f"context[{index}][{key!r}] is a {type(value).__name__}, expected a string")
    return value


def _trim(label: str) -> str:
    return label.strip().removesuffix(":").rstrip().lower()


def _is_label(first: object) -> bool:
    """Return whether the first string of a pair names who speaks."""
    if not isinstance(first, str):
        return False
    label = _trim(first)
    if label in _ROLES:
        return True
    words = first.split()
    if not 1 <= len(words) <= 3 or label in _NO_LABELS or any(mark in label for mark in ENDS):
        return False
    return len(words) == 1 or all(word[0].isupper() or word[0].isdigit() for word in words)
