"""What OpenAPI is told about each route: bodies, answers and problems."""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel

from slotwise.service.worker.definition import LONGEST_NAME, Definition, Wish

_TEXT: Final = {"type": "string"}
_NUMBER: Final = {"type": "number"}
_WHOLE: Final = {"type": "integer", "minimum": 0}
_PROBLEMS: Final = {
    400: "The body ended before it was whole.",
    401: "No key, or a wrong one.",
    403: "A token that was not issued here, or has expired.",
    404: "There is no such placement or decision.",
    409: "A different outcome was reported before.",
    410: "The deadline has passed.",
    413: "The body is too large.",
    422: "A field is not what it must be.",
    503: "The store cannot be used at the moment; nothing was written.",
}
_PROBLEM: Final = {
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": _TEXT,
        "title": _TEXT,
        "status": {"type": "integer"},
        "detail": _TEXT,
        "errors": {"type": "array", "items": {"type": "object"}},
    },
}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(properties), "properties": properties, "additionalProperties": False}


def _list(of: Any) -> dict[str, Any]:
    return {"type": "array", "items": of}


def _route(
    *,
    answers: dict[int, tuple[str, Any]],
    problems: tuple[int, ...] = (),
    body: type[BaseModel] | dict[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    responses: dict[int | str, Any] = {
        status: {"description": words, "content": {"application/json": {"schema": schema}}}
        for status, (words, schema) in answers.items()
    }
    for status in (*problems, 503):
        responses[status] = {
            "description": _PROBLEMS[status],
            "content": {"application/problem+json": {"schema": _PROBLEM}},
        }
    extra: dict[str, Any] = {}
    if body is not None:
        schema = body if isinstance(body, dict) else body.model_json_schema()
        schema = _inlined(schema, schema.get("$defs", {}))
        extra["requestBody"] = {
            "required": more.pop("body_required", True),
            "content": {"application/json": {"schema": schema}},
        }
    if 401 in problems:
        extra["security"] = [{"key": []}]
    return {"responses": responses, "openapi_extra": extra, "response_model": None, **more}


def _inlined(schema: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(schema, dict):
        if "$ref" in schema:
            return _inlined(definitions[schema["$ref"].rpartition("/")[2]], definitions)
        return {key: _inlined(value, definitions) for key, value in schema.items() if key != "$defs"}
    return [_inlined(value, definitions) for value in schema] if isinstance(schema, list) else schema


_PLACEMENT: Final = {"type": "object", "required": ["name", "slots", "items"], "properties": {"name": _TEXT}}
_ARM: Final = _object(shown=_WHOLE, clicks=_WHOLE, click_rate=_NUMBER)
_CLICKED: Final = {"anyOf": [{"type": "string", "maxLength": LONGEST_NAME}, {"type": "null"}]}
_TOKEN: Final = {"type": "string", "maxLength": LONGEST_NAME}
_OUTCOME: Final = {"oneOf": [_object(clicked=_CLICKED), _object(shown={"const": False})]}
_TOKEN_OUTCOME: Final = {
    "oneOf": [_object(token=_TOKEN, clicked=_CLICKED), _object(token=_TOKEN, shown={"const": False})]
}
_DUPLICATE: Final = _object(duplicate={"type": "boolean"})

placements: Final = _route(
    answers={200: ("Their names and settings.", _object(placements=_list({"type": "object", "required": ["name"]})))},
    problems=(401,),
)
placement: Final = _route(answers={200: ("As it was put.", _PLACEMENT)}, problems=(401, 404))
put_placement: Final = _route(
    body=Definition,
    answers={200: ("Changed, or as it was.", _PLACEMENT), 201: ("Created.", _PLACEMENT)},
    problems=(400, 401, 413, 422),
)
decide: Final = _route(
    body=Wish,
    body_required=False,
    status_code=201,
    answers={
        201: (
            "What to show, by slot.",
            _object(
                id=_TEXT,
                placement=_TEXT,
                items=_list(_TEXT),
                arm={"enum": ["learned", "holdout"]},
                expires={"type": "string", "format": "date-time"},
                token=_TEXT,
            ),
        )
    },
    problems=(400, 401, 404, 413, 422),
)
report: Final = _route(
    body=_OUTCOME,
    answers={200: ("Recorded, now or before.", _DUPLICATE)},
    problems=(400, 401, 404, 409, 410, 413, 422),
)
report_by_token: Final = _route(
    body=_TOKEN_OUTCOME,
    answers={200: ("Recorded, now or before.", _DUPLICATE)},
    problems=(400, 403, 404, 409, 413, 422),
)
estimates: Final = _route(
    answers={
        200: (
            "Attractiveness is what an item is worth in the first slot, in clicks on it per visit without a click.",
            _object(
                items=_list(
                    _object(
                        id=_TEXT,
                        attractiveness=_NUMBER,
                        low=_NUMBER,
                        high=_NUMBER,
                        probability_in_best_list=_NUMBER,
                        shown=_WHOLE,
                        clicks=_WHOLE,
                    )
                ),
                position_bias=_list(_object(slot=_WHOLE, estimate=_NUMBER, low=_NUMBER, high=_NUMBER)),
                tally=_object(items=_list(_TEXT), clicks=_list(_list(_WHOLE)), passes=_list(_list(_WHOLE))),
                decisions=_object(
                    issued=_WHOLE,
                    final=_WHOLE,
                    pending=_WHOLE,
                    clicked=_WHOLE,
                    no_click=_WHOLE,
                    not_shown=_WHOLE,
                    late=_WHOLE,
                ),
                uplift={
                    "anyOf": [
                        {"type": "null"},
                        _object(learned=_ARM, holdout=_ARM, difference=_NUMBER, low=_NUMBER, high=_NUMBER),
                    ]
                },
            ),
        )
    },
    problems=(401, 404),
)
