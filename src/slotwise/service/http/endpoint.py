"""Endpoints of the API, described by the types of their handlers."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, NamedTuple, get_args, get_origin, get_type_hints
from urllib.parse import parse_qs

from pydantic import ConfigDict, TypeAdapter, ValidationError, create_model
from starlette.datastructures import Headers
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.service.http.error_responses import Refusal

JSON: Final = "application/json"
_IS_JSON: Final = (b"content-type", JSON.encode())
_NO_SNIFFING: Final = (b"x-content-type-options", b"nosniff")


class InQuery:
    """Marks an argument from the query: `Annotated[str, InQuery()]`, or a list if it may be repeated."""


@dataclass(frozen=True)
class InHeader:
    """Marks an argument from a header: `Annotated[str | None, InHeader("If-Match")]`."""

    name: str


class BodyLimit(NamedTuple):
    """The most bytes of a request body, and the seconds within which it must be complete."""

    bytes: int
    seconds: float = 30.0


Handler = Callable[..., Awaitable[tuple[int, Any] | tuple[int, Any, Mapping[str, str]]]]


class Written(bytes):
    """A response body that is JSON already, of the handler's type."""


class Operation:
    """An ASGI application that calls a handler with the arguments of a request.

    Arguments that the path names come from the path, those marked `InQuery` from the query, and those marked
    `InHeader` from a header. One more argument is the body; with a default it is optional. The handler returns a status
    and a response body, and optionally headers.

    Parameters
    ----------
    method, path
        the route; a last part of the path that may contain slashes is written {id:path}
    handler
        the function that answers a request
    answers
        descriptions of the successful statuses
    refuses
        statuses of further error responses; those of keys, paths, headers, queries and bodies follow from the types
    is_public
        whether it needs no API key
    body_limit
        limits of the body
    media_types
        media types of the body in the OpenAPI document; any body is read as JSON

    """

    def __init__(
        self,
        method: str,
        path: str,
        handler: Handler,
        *,
        answers: Mapping[int, str],
        refuses: tuple[int, ...] = (),
        is_public: bool = False,
        body_limit: BodyLimit | None = None,
        media_types: tuple[str, ...] = (JSON,),
    ) -> None:
        self.method, self.path = method, path.replace(":path}", "}")
        self._route = path
        self.media_types = media_types
        self.answers = answers
        self.description = inspect.getdoc(handler) or ""
        # the name in metrics
        self.__name__ = handler.__name__
        self._handler, self._body_limit = handler, body_limit or BodyLimit(0)
        types, kinds = _types(getattr(handler, "__func__", handler))
        self.answer = kinds["return"]
        self.parameters: dict[str, TypeAdapter[Any]] = {}
        self.query: dict[str, TypeAdapter[Any]] = {}
        #: the argument's name and type, by the header's name
        self.headers: dict[str, tuple[str, TypeAdapter[Any]]] = {}
        fields: dict[str, Any] = {}
        self.body: TypeAdapter[Any] | None = None
        self.body_required = False
        for name, parameter in inspect.signature(handler).parameters.items():
            if f"{{{name}}}" in self.path:
                self.parameters[name] = kinds[name]
            elif marks := [mark for mark in _marks(types[name]) if isinstance(mark, InHeader)]:
                self.headers[marks[0].name] = name, kinds[name]
            elif any(isinstance(mark, InQuery) for mark in _marks(types[name])):
                self.query[name] = kinds[name]
                is_required = parameter.default is parameter.empty
                fields[name] = types[name], ... if is_required else parameter.default
            else:
                assert self.body is None, f"{handler.__name__} takes two bodies"
                self.body, self._body_name = kinds[name], name
                self.body_required = parameter.default is parameter.empty
                #: bodies that equal the default
                self._nothing = () if self.body_required else self._without_content(parameter.default)
        #: required arguments of the query
        self.required = {name for name, (_, default) in fields.items() if default is ...}
        self._query = create_model("Query", __config__=ConfigDict(extra="forbid"), **fields) if fields else None
        self.is_public = is_public
        needs_key = set[int]() if is_public else {401} if method == "GET" else {401, 403}
        self.refuses = sorted({*self._own_refusals(), *refuses, *needs_key})
        #: arguments of the query that may be repeated
        self._lists = {name for name, (type_, _) in fields.items() if get_origin(get_args(type_)[0]) is list}

    def _own_refusals(self) -> set[int]:
        """Return the statuses of errors that follow from the types of the arguments."""
        statuses = {503}
        # a PUT that creates something finds the rest of its path, or responds with 404
        creates = self.method == "PUT" and 201 in self.answers
        statuses |= {404} if len(self.parameters) > creates else set()
        statuses |= {422} if self.body or self.query or self.headers else set()
        statuses |= {400, 408, 413} if self.body else set()
        statuses |= {412} if "If-Match" in self.headers else set()
        return statuses

    def route(self) -> Route:
        """Return the route for a router."""
        return Route(self._route, self, methods=[self.method], name=self.__name__)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        arguments = scope["path_params"]
        if self._query is not None:
            arguments = {**arguments, **self._query_arguments(scope["query_string"])}
        if self.headers:
            arguments = {**arguments, **self._header_arguments(Headers(scope=scope))}
        if self.body is not None:
            content = await read_body(scope, receive, self._body_limit)
            if content not in self._nothing:
                refuse_repeated_keys(content)
                arguments = {**arguments, self._body_name: self.body.validate_json(content)}
        status, answer, *headers = await self._handler(**arguments)
        content = answer if isinstance(answer, Written) else self.answer.dump_json(answer)
        fields = [(b"content-length", b"%d" % len(content)), _IS_JSON, _NO_SNIFFING]
        if headers:
            fields += [(name.lower().encode(), value.encode()) for name, value in headers[0].items()]
        await send({"type": "http.response.start", "status": status, "headers": fields})
        await send({"type": "http.response.body", "body": content})

    def _without_content(self, default: object) -> tuple[bytes, ...]:
        """Return the bodies that equal the default: an empty one, and `{}` if it means the same."""
        assert self.body is not None
        with contextlib.suppress(ValidationError):
            if self.body.validate_json(b"{}") == default:
                return b"", b"{}"
        return (b"",)

    def _header_arguments(self, headers: Headers) -> dict[str, Any]:
        """Return the arguments from headers; a missing header leaves the handler's default."""
        arguments: dict[str, Any] = {}
        for header, (name, kind) in self.headers.items():
            value = headers.get(header)
            if value is None:
                continue
            try:
                arguments[name] = kind.validate_python(value)
            except ValidationError as problem:
                raise InvalidInput(f"{header}: {problem.errors()[0]['msg']}, got {validation.short(value)}") from None
        return arguments

    def _query_arguments(self, query: bytes) -> dict[str, Any]:
        """Return the arguments from the query; an unknown name is an error."""
        assert self._query is not None
        lists = parse_qs(query.decode("ascii", "replace"), keep_blank_values=True)
        values = {name: all if name in self._lists or len(all) > 1 else all[0] for name, all in lists.items()}
        return dict(self._query.model_validate(values))


@cache
def _types(handler: Callable[..., Any]) -> tuple[dict[str, Any], dict[str, TypeAdapter[Any]]]:
    """Return the types of a handler's arguments and response, and their adapters; cached."""
    types = get_type_hints(handler, include_extras=True)
    types["return"] = get_args(types["return"])[1]
    return types, {name: TypeAdapter[Any](kind) for name, kind in types.items()}


def _marks(kind: object) -> tuple[Any, ...]:
    return getattr(kind, "__metadata__", ())


def refuse_repeated_keys(content: bytes) -> None:
    """Refuse a JSON text with an object that has a key twice: readers differ in which of the values they take."""
    # other faults are found when the text is validated
    with contextlib.suppress(ValueError, RecursionError):
        json.loads(content, object_pairs_hook=_unique)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) < len(pairs):
        (key, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise Refusal(422, f"the body has the key {validation.short(key)} twice in one object")
    return members


async def read_body(scope: Scope, receive: Receive, limit: BodyLimit) -> bytes:
    """Return the complete body; refuse it with 413 as soon as it is too large, and with 408 if it takes too long."""
    try:
        async with asyncio.timeout(limit.seconds):
            return await _read(scope, receive, limit.bytes)
    except TimeoutError:
        raise Refusal(408, f"the body must arrive within {limit.seconds:g} seconds") from None


async def _read(scope: Scope, receive: Receive, max_bytes: int) -> bytes:
    parts: list[bytes] = []
    size, is_complete = 0, False
    while not is_complete:
        message = await receive()
        if message["type"] != "http.request":
            raise Refusal(400, "the body is incomplete")
        part, is_complete = message.get("body", b""), not message.get("more_body", False)
        parts.append(part)
        size += len(part)
        if size > max_bytes or (not is_complete and _announced(scope) > max_bytes):
            raise Refusal(413, f"the body must be at most {max_bytes} bytes here")
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _announced(scope: Scope) -> int:
    length = Headers(scope=scope).get("content-length", "")
    return int(length) if length.isascii() and length.isdigit() else 0
