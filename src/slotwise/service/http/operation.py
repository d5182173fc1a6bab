"""One thing that can be asked for over HTTP, described by the types of the function that answers it."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, get_args, get_origin, get_type_hints
from urllib.parse import parse_qs

from pydantic import ConfigDict, TypeAdapter, create_model
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from slotwise.service.http.bodies import read_body

JSON: Final = "application/json"


class InQuery:
    """Marks an argument that is taken from the query: `Annotated[str, InQuery()]`, a list if it may be repeated."""


Handler = Callable[..., Awaitable[tuple[int, Any]]]


class Operation:
    """A method and a path, and the handler whose signature says the rest; an ASGI application.

    The handler's arguments that the path names are taken from it, those marked `InQuery` from the query; one more, if
    there is one, is the body, which may be left out where it has a default. The handler returns a status and an answer.
    `answers` says what each status means, `refuses` are the statuses of the problem documents it may answer with
    instead.
    """

    def __init__(
        self,
        method: str,
        path: str,
        handler: Handler,
        *,
        answers: Mapping[int, str],
        refuses: tuple[int, ...],
        most_bytes: int = 0,
    ) -> None:
        self.method, self.path = method, path
        self.answers = answers
        # whatever it is, a body may take too long
        self.refuses = (*refuses, 408) if most_bytes else refuses
        self.description = inspect.getdoc(handler) or ""
        # as a function has it: requests are measured under this name
        self.__name__ = handler.__name__
        self._handler, self._most_bytes = handler, most_bytes
        types = get_type_hints(handler, include_extras=True)
        self.answer = TypeAdapter[Any](get_args(types["return"])[1])
        self.parameters: dict[str, TypeAdapter[Any]] = {}
        self.query: dict[str, TypeAdapter[Any]] = {}
        fields: dict[str, Any] = {}
        self.body: TypeAdapter[Any] | None = None
        self.body_required = False
        for name, parameter in inspect.signature(handler).parameters.items():
            if f"{{{name}}}" in path:
                self.parameters[name] = TypeAdapter(types[name])
            elif any(isinstance(mark, InQuery) for mark in getattr(types[name], "__metadata__", ())):
                self.query[name] = TypeAdapter(types[name])
                fields[name] = types[name], parameter.default
            else:
                assert self.body is None, f"{handler.__name__} takes two bodies"
                self.body, self._body_name = TypeAdapter(types[name]), name
                self.body_required = parameter.default is parameter.empty
        self._query = create_model("Query", __config__=ConfigDict(extra="forbid"), **fields) if fields else None
        #: those that may be repeated
        self._lists = {name for name, (type_, _) in fields.items() if get_origin(get_args(type_)[0]) is list}

    def route(self) -> Route:
        """For a router."""
        return Route(self.path, self, methods=[self.method], name=self.__name__)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        arguments = scope["path_params"]
        if self._query is not None:
            arguments = {**arguments, **self._asked(scope["query_string"])}
        if self.body is not None:
            content = await read_body(scope, receive, self._most_bytes)
            if content or self.body_required:
                arguments = {**arguments, self._body_name: self.body.validate_json(content)}
        status, answer = await self._handler(**arguments)
        await Response(self.answer.dump_json(answer), status, media_type=JSON)(scope, receive, send)

    def _asked(self, query: bytes) -> dict[str, Any]:
        """The arguments that the query says; a name that is not known is an error."""
        assert self._query is not None
        given = parse_qs(query.decode("ascii", "replace"), keep_blank_values=True)
        values = {name: all if name in self._lists or len(all) > 1 else all[0] for name, all in given.items()}
        return dict(self._query.model_validate(values))
