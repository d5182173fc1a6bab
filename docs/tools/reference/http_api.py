"""The HTTP API as Markdown, from its OpenAPI document."""

from __future__ import annotations

import tempfile
from functools import cache
from http import HTTPStatus
from typing import Any

from docs.tools.reference.schema_tables import plain, table_of, type_text
from slotwise.service.http import openapi
from slotwise.service.http.endpoint import BodyLimit
from slotwise.service.http.error_responses import MEANINGS
from slotwise.service.http.routes.dashboard_routes import DashboardApi
from slotwise.service.http.routes.decision_routes import DecisionApi
from slotwise.service.http.routes.placement_routes import BodyLimits, PlacementApi
from slotwise.service.runtime import Worker


@cache
def document() -> dict[str, Any]:
    """The OpenAPI document of a service."""
    with tempfile.TemporaryDirectory() as folder:
        worker = Worker(f"sqlite:///{folder}/store.db")
        limit = BodyLimit(1024, 1.0)
        bodies = BodyLimits(limit, limit, limit)
        apis = (DecisionApi(worker, bodies), PlacementApi(worker, bodies), DashboardApi(worker))
        return openapi.document([operation for api in apis for operation in api.operations()])


def _named() -> dict[str, Any]:
    schemas: dict[str, Any] = document()["components"]["schemas"]
    return schemas


def operations() -> str:
    """A section for each request, ordered by path."""
    sections = []
    for path, methods in sorted(document()["paths"].items()):
        for method, operation in methods.items():
            sections.append(_section(f"{method.upper()} {path}", operation))
    return "\n\n".join(sections)


def _section(request: str, operation: dict[str, Any]) -> str:
    parts = [f"## {request}", " ".join(operation["description"].split())]
    parts.append("Public: no API key." if "security" not in operation else "Needs the API key, if there is one.")
    parameters = [
        f"| `{each['name']}` | {each['in']} | {type_text(each['schema'], _named())} |"
        for each in operation["parameters"]
        if each["in"] != "path"
    ]
    if parameters:
        parts.append("\n".join(["| parameter | in | type |", "| --- | --- | --- |", *parameters]))
    for content in operation.get("requestBody", {}).get("content", {}).values():
        parts.append(f"Body: {_body(content['schema'])}")
        break
    statuses = sorted(operation["responses"].items())
    parts.append("\n".join(f"- {status}: {plain(each['description'])}" for status, each in statuses if status < "400"))
    errors = ", ".join(status for status, _ in statuses if status >= "400")
    parts.append(f"Errors: {errors} ([status codes](status-codes.md)).")
    return "\n\n".join(parts)


def _body(schema: dict[str, Any]) -> str:
    shared = {"PlacementDefinition": "placement-fields.md", "DecisionRequest": "decision-requests.md"}
    names = [choice["$ref"].rpartition("/")[2] for choice in schema.get("anyOf", [schema]) if "$ref" in choice]
    for name in names:
        for known, page in shared.items():
            if name.startswith(known):
                return f"the fields on [{page.removesuffix('.md').replace('-', ' ')}]({page})."
    objects = [_named()[name] for name in names if "properties" in _named()[name]]
    return "\n\n" + "\n\nor\n\n".join(table_of(each, _named()) for each in objects) if objects else "a JSON object."


def status_codes() -> str:
    """Every error status with its meaning and the requests that return it."""
    lines = ["| status | meaning | returned by |", "| --- | --- | --- |"]
    for status, meaning in sorted(MEANINGS.items()):
        requests = [
            f"`{method.upper()} {path}`"
            for path, methods in document()["paths"].items()
            for method, operation in methods.items()
            if str(status) in operation["responses"]
        ]
        by = ", ".join(requests) if len(requests) <= 5 else f"{len(requests)} requests"
        lines.append(f"| {status} {HTTPStatus(status).phrase} | {meaning} | {by} |")
    return "\n".join(lines)


def estimates_fields() -> str:
    """The fields of the estimates document, and of the documents in it."""
    answer = document()["paths"]["/v1/placements/{name}/estimates"]["get"]["responses"]["200"]
    name = answer["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    sections, waiting, seen = [], [name], set[str]()
    while waiting:
        current = waiting.pop(0)
        if current in seen or "properties" not in _named()[current]:
            continue
        seen.add(current)
        schema = _named()[current]
        sections.append(f"### {current}\n\n{plain(schema.get('description', ''))}\n\n{_fields(schema)}")
        waiting += _references(schema["properties"])
    return "\n\n".join(sections)


def _fields(schema: dict[str, Any]) -> str:
    lines = ["| field | type | meaning |", "| --- | --- | --- |"]
    for name, field in schema["properties"].items():
        inner = " or ".join(
            f"[{each}](#{each.lower()})" for each in _references(field) if "properties" in _named()[each]
        )
        kind = type_text(field, _named())
        lines.append(f"| `{name}` | {kind}{f': {inner}' if inner else ''} | {plain(field.get('description', ''))} |")
    return "\n".join(lines)


def _references(value: object) -> list[str]:
    if isinstance(value, dict):
        own = [str(value["$ref"]).rpartition("/")[2]] if "$ref" in value else []
        return own + [name for each in value.values() for name in _references(each)]
    return [name for each in value for name in _references(each)] if isinstance(value, list) else []
