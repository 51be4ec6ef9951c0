"""The OpenAPI document: written anew by ``python -m riseq.server.openapi``, and as a page to read and to try."""

import json
import sys
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

Schema = Mapping[str, Any]
_BOUNDS = {
    "minimum": "from {:,}",
    "maximum": "to {:,}",
    "minLength": "{:,} or more characters",
    "maxLength": "at most {:,} characters",
    "minItems": "{:,} or more",
    "maxItems": "at most {:,}",
}


def write_document() -> str:
    """Return the OpenAPI document, the same whatever the settings are."""
    from riseq.server.app import create_app  # it serves the page
    from riseq.server.engines import DummyEngine
    from riseq.server.settings import Settings

    return json.dumps(create_app(Settings(), DummyEngine()).openapi(), indent=2, ensure_ascii=False) + "\n"


def write_page(document: Mapping[str, Any]) -> str:
    """Return the page of an OpenAPI document: its operations, then its models."""
    info = document["info"]
    title = escape(f"{info['title']} {info['version']}")
    operations = "".join(
        _write_operation(path, method, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    )
    models = "".join(_write_model(name, schema) for name, schema in document["components"]["schemas"].items())
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="icon" type="image/svg+xml" href="/static/logo.svg"><link rel="stylesheet" href="/static/docs.css">'
        '<script type="module" src="/static/docs.js"></script></head><body><main>'
        f"<h1>{title}</h1><p>{escape(info.get('description', ''))} "
        '<a href="/">Playground</a> · <a href="/openapi.json">OpenAPI document</a></p>'
        f"<h2>Operations</h2>{operations}<h2>Models</h2>{models}</main></body></html>"
    )


def _write_operation(path: str, method: str, operation: Mapping[str, Any]) -> str:
    heading = f"<h3><code>{method.upper()} {escape(path)}</code></h3><p>{escape(operation.get('summary', ''))}</p>"
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    takes = f"<p>Takes {_write_type(body)}.</p>" if body else ""
    rows = ""
    for status, response in operation["responses"].items():
        bodies = response.get("content", {}).items()
        types = (_write_type(of["schema"]) if of.get("schema") else escape(kind) for kind, of in bodies)
        rows += f"<tr><td>{escape(status)}<td>{escape(response['description'])}<td>{', '.join(types)}</tr>"
    return f"<section>{heading}{takes}<table><tr><th>Status<th>When<th>Body</tr>{rows}</table></section>"


def _write_model(name: str, schema: Schema) -> str:
    heading = f'<section id="{escape(name)}"><h3>{escape(name)}</h3><p>{escape(schema.get("description", ""))}</p>'
    if "properties" not in schema:
        return f"{heading}<p>{_write_type(schema)}</p></section>"
    required = schema.get("required", [])
    rows = ""
    for field, of in schema["properties"].items():
        default = f"<code>{escape(json.dumps(of['default']))}</code>" if "default" in of else ""
        shown = f"{_write_type(of)}<td>{'required' if field in required else default}"
        rows += f"<tr><td><code>{escape(field)}</code><td>{shown}<td>{escape(of.get('description', ''))}</tr>"
    examples = "".join(f"<pre>{escape(json.dumps(one, indent=1))}</pre>" for one in schema.get("examples", []))
    return f"{heading}<table><tr><th>Field<th>Type<th>Default<th>Meaning</tr>{rows}</table>{examples}</section>"


def _write_type(schema: Schema) -> str:
    """Return a schema's type in a few words, with links to other models."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    if several := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(map(_write_type, several))
    if "enum" in schema or "const" in schema:
        values = schema.get("enum", [schema.get("const")])
        return " | ".join(f"<code>{escape(json.dumps(value))}</code>" for value in values)
    bounds = ", ".join(text.format(schema[name]) for name, text in _BOUNDS.items() if name in schema)
    kind = escape(str(schema.get("type", "anything")))
    if kind == "array":
        kind = f"list of {_write_type(schema.get('items', {}))}"
    return f"{kind} ({bounds})" if bounds else kind


if __name__ == "__main__":
    Path(sys.argv[1] if len(sys.argv) > 1 else "docs/openapi.json").write_text(write_document(), encoding="utf-8")
