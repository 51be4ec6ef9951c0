"""Haystack's chat messages: a role that is an Enum, and a text."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class ChatRole(str, Enum):  # noqa: UP042 - as Haystack's is
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True)
class ChatMessage:
    role: ChatRole
    text: str

    @classmethod
    def from_user(cls, text: str) -> ChatMessage:
        return cls(ChatRole.USER, text)

    @classmethod
    def from_assistant(cls, text: str) -> ChatMessage:
        return cls(ChatRole.ASSISTANT, text)
