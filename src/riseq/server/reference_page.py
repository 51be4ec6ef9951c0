"""The API's reference as one page, made from the OpenAPI document: no script, nothing from other hosts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

Schema = Mapping[str, Any]


def write_reference(document: Mapping[str, Any]) -> str:
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
        '<link rel="stylesheet" href="/docs.css"></head><body><main>'
        f"<h1>{title}</h1><p>{escape(info.get('description', ''))} "
        '<a href="/">Playground</a> · <a href="/openapi.json">OpenAPI document</a></p>'
        f"<h2>Operations</h2>{operations}<h2>Models</h2>{models}</main></body></html>"
    )


def _write_operation(path: str, method: str, operation: Mapping[str, Any]) -> str:
    parts = [
        f"<section><h3><code>{method.upper()} {escape(path)}</code></h3><p>{escape(operation.get('summary', ''))}</p>"
    ]
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    if body:
        parts.append(f"<p>Takes {_write_type(body)}.</p>")
    parts.append("<table><tr><th>Status<th>When<th>Body</tr>")
    for status, response in operation["responses"].items():
        contents: dict[str, Any] = response.get("content", {})
        shown = ", ".join(
            _write_type(of["schema"]) if of.get("schema") else escape(kind) for kind, of in contents.items()
        )
        parts.append(f"<tr><td>{escape(status)}<td>{escape(response['description'])}<td>{shown}</tr>")
    parts.append("</table></section>")
    return "".join(parts)


def _write_model(name: str, schema: Schema) -> str:
    anchor = f'<section id="{escape(name)}"><h3>{escape(name)}</h3><p>{escape(schema.get("description", ""))}</p>'
    if "properties" not in schema:
        return f"{anchor}<p>{_write_type(schema)}</p></section>"
    required = schema.get("required", [])
    rows = "".join(
        f"<tr><td><code>{escape(field)}</code><td>{_write_type(of)}<td>{_write_need(field in required, of)}"
        f"<td>{escape(of.get('description', ''))}</tr>"
        for field, of in schema["properties"].items()
    )
    example = "".join(f"<pre>{escape(json.dumps(one, indent=1))}</pre>" for one in schema.get("examples", []))
    return f"{anchor}<table><tr><th>Field<th>Type<th>Default<th></tr>{rows}</table>{example}</section>"


def _write_need(required: bool, schema: Schema) -> str:
    if required:
        return "required"
    return f"<code>{escape(json.dumps(schema['default']))}</code>" if "default" in schema else ""


def _write_type(schema: Schema) -> str:
    """Return a schema's type in a few words, with links to other models."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    several = schema.get("anyOf") or schema.get("oneOf")
    if several:
        return " or ".join(map(_write_type, several))
    if "enum" in schema or "const" in schema:
        values = schema.get("enum", [schema.get("const")])
        return " | ".join(f"<code>{escape(json.dumps(value))}</code>" for value in values)
    bounds = ", ".join(_describe_bounds(schema))
    kind = escape(str(schema.get("type", "anything")))
    if kind == "array":
        kind = f"list of {_write_type(schema.get('items', {}))}"
    return f"{kind} ({bounds})" if bounds else kind


def _describe_bounds(schema: Schema) -> Iterator[str]:
    words = {
        "minimum": "from {}",
        "maximum": "to {}",
        "minLength": "{} or more characters",
        "maxLength": "at most {} characters",
        "minItems": "{} or more",
        "maxItems": "at most {}",
    }
    for name, text in words.items():
        if name in schema:
            yield text.format(f"{schema[name]:,}")


STYLE = """
:root { color-scheme: light dark; --line: #8884; --link: light-dark(#0a58ca, #7ab7ff); }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0; }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem; }
a { color: var(--link); }
section { border-top: 1px solid var(--line); margin: 1rem 0; overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .8rem .3rem 0; text-align: left; vertical-align: top; }
pre { overflow-x: auto; }
"""
"""The page's style sheet, at an address of its own: the security policy allows none within a page."""
