"""The OpenAPI document: the committed one is the code's, and the server keeps to it whatever it is sent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance

from riseq.server.openapi import write_document
from server.serving import run_server

SCHEMA = schemathesis.openapi.from_dict(json.loads(write_document()))


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with run_server() as address:
        yield address


def test_the_committed_document_is_the_codes(root: Path) -> None:
    committed = (root / "docs" / "openapi.json").read_text(encoding="utf-8")
    hint = "docs/openapi.json is out of date; write it anew with: python -m riseq.server.openapi"
    assert json.loads(committed) == json.loads(write_document()), hint


@SCHEMA.parametrize()
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
def test_the_server_keeps_to_its_document(case: schemathesis.Case[Any], address: str) -> None:
    response = case.call(base_url=address)
    # What JSON Schema cannot say: a protected phrase must have a word, which blanks and control characters are not, and
    # so must a name that has a pronoun; messages go without a context, and the last of them is the user's if it has to
    # be the question, which is not empty; a model must be one that is there.
    told = (
        b"protect[",
        b"pronouns has",
        b"messages: the last one",
        b"messages and context",
        b"the last message, ",
        b"no such model here",
    )
    wordless = response.status_code == 422 and any(words in response.content for words in told)
    case.validate_response(response, excluded_checks=[positive_data_acceptance] if wordless else [])
