"""The OpenAPI document, generated from the types of the handlers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from typing import Any, Final, Literal

from pydantic import TypeAdapter

from slotwise.service.http.endpoint import JSON, Operation
from slotwise.service.http.error_responses import DOCUMENT, MEANINGS
from slotwise.service.http.error_responses import MEDIA_TYPE as PROBLEM

_DESCRIPTION: Final = "Learns the best order to show things in, from clicks."
_REFERENCE: Final = "#/components/schemas/{model}"


def document(operations: Sequence[Operation], root_path: str = "") -> dict[str, Any]:
    """Return the OpenAPI document of operations, under the path prefix of a proxy."""
    schemas, shared = _schemas(operations)
    paths: dict[str, dict[str, Any]] = {}
    for number, operation in enumerate(operations):
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, number, schemas)
    return {
        "openapi": "3.1.0",
        **({"servers": [{"url": root_path}]} if root_path else {}),
        "info": {"title": "slotwise", "version": version("slotwise"), "description": _DESCRIPTION},
        "paths": paths,
        "components": {"schemas": shared, "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}}},
    }


_Key = tuple[int, str]
_Mode = Literal["validation", "serialization"]
_Schemas = dict[tuple[_Key, _Mode], Any]


def _schemas(operations: Sequence[Operation]) -> tuple[_Schemas, Any]:
    """Return the schema of each part of each operation, and the types that they refer to."""
    adapters: list[tuple[_Key, _Mode, TypeAdapter[Any]]] = [((-1, "problem"), "serialization", DOCUMENT)]
    for number, operation in enumerate(operations):
        adapters.append(((number, "answer"), "serialization", operation.answer))
        if operation.body is not None:
            adapters.append(((number, "body"), "validation", operation.body))
        of_headers = {header: kind for header, (_, kind) in operation.headers.items()}
        for name, parameter in {**operation.parameters, **operation.query, **of_headers}.items():
            adapters.append(((number, name), "validation", parameter))
    return _schemas_of(tuple(adapters))


@cache
def _schemas_of(adapters: tuple[tuple[_Key, _Mode, TypeAdapter[Any]], ...]) -> tuple[_Schemas, Any]:
    schemas, definitions = TypeAdapter.json_schemas(adapters, ref_template=_REFERENCE)
    return schemas, definitions["$defs"]


def _operation(operation: Operation, number: int, schemas: _Schemas) -> dict[str, Any]:
    def content(media_type: str, schema: dict[str, Any]) -> dict[str, Any]:
        return {"content": {media_type: {"schema": schema}}}

    described: dict[str, Any] = {
        "operationId": operation.__name__,
        "description": operation.description,
        "parameters": [
            {
                "name": name,
                "in": place,
                "required": place == "path" or name in operation.required,
                "schema": schemas[(number, name), "validation"],
            }
            for place, names in (
                ("path", operation.parameters),
                ("query", operation.query),
                ("header", operation.headers),
            )
            for name in names
        ],
        "responses": {
            str(status): {
                "description": meaning,
                **({} if status == 304 else content(JSON, schemas[(number, "answer"), "serialization"])),
            }
            for status, meaning in operation.answers.items()
        },
    }
    for status in operation.refuses:
        problem = content(PROBLEM, schemas[(-1, "problem"), "serialization"])
        described["responses"][str(status)] = {"description": MEANINGS[status], **problem}
    if operation.body is not None:
        schema = schemas[(number, "body"), "validation"]
        content_of_body = {media_type: {"schema": schema} for media_type in operation.media_types}
        described["requestBody"] = {"required": operation.body_required, "content": content_of_body}
    if not operation.is_public:
        described["security"] = [{"key": []}]
    return described
