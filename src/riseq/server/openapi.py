"""The OpenAPI document as it is committed: ``python -m riseq.server.openapi`` writes it anew."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from riseq.server.app import create_app
from riseq.server.dummy import DummyEngine
from riseq.server.settings import Settings


def write_contract() -> str:
    """Return the OpenAPI document, the same whatever the settings are."""
    app = create_app(Settings(), DummyEngine())
    return json.dumps(app.openapi(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1] if len(sys.argv) > 1 else "docs/openapi.json").write_text(write_contract(), encoding="utf-8")
