"""Pages for people: the dashboard, and what can be asked, to be tried out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, PackageLoader
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from slotwise.service.http import openapi
from slotwise.service.http.endpoint import Operation
from slotwise.service.http.middleware.auth import PLACEMENT_PAGES

_PACKAGE: Final = "slotwise.service.http"
#: of every page: it loads nothing from elsewhere
HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


class Assets(StaticFiles):
    """Files that a browser keeps, and asks about each time: after an upgrade it has all of them anew or none."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers["Cache-Control"] = "no-cache"
        return response


class Pages:
    """The dashboard, the documentation, and the script for other people's pages."""

    def __init__(self, operations: Sequence[Operation], root_path: str = "") -> None:
        self._openapi = openapi.document(operations, root_path)
        self._snippet = files(_PACKAGE).joinpath("static/slotwise.js").read_bytes()
        templates = Environment(
            loader=PackageLoader(_PACKAGE), autoescape=True, trim_blocks=True, lstrip_blocks=True, auto_reload=False
        )
        templates.globals["root"] = root_path
        # they stay as they are
        self._dashboard = templates.get_template("dashboard.html").render(modules=_modules())
        self._documentation = templates.get_template("docs.html").render(
            operations=[*_operations(self._openapi)], info=self._openapi["info"]
        )

    def routes(self) -> list[BaseRoute]:
        """None of them is part of the contract that OpenAPI describes."""
        return [
            Route("/", self.dashboard),
            Route(PLACEMENT_PAGES + "{name}", self.dashboard),
            Route("/docs", self.docs),
            Route("/openapi.json", self.openapi),
            Route("/slotwise.js", self.snippet),
            Mount("/static", Assets(packages=[(_PACKAGE, "static")])),
        ]

    async def dashboard(self, _: Request) -> Response:
        """All placements, or one of them: a page that asks the API for what it shows, and holds nothing itself."""
        return HTMLResponse(self._dashboard, headers=HEADERS)

    async def docs(self, _: Request) -> Response:
        """Every operation, with an example that can be sent."""
        return HTMLResponse(self._documentation, headers=HEADERS)

    async def openapi(self, _: Request) -> Response:
        """The same for programs."""
        return JSONResponse(self._openapi)

    async def snippet(self, _: Request) -> Response:
        """What reports outcomes from a page; nothing secret is in it, and any page may run it."""
        headers = {"Cache-Control": "public, max-age=3600", "X-Content-Type-Options": "nosniff"}
        return Response(self._snippet, media_type="text/javascript", headers=headers)


def _modules() -> list[str]:
    """What the dashboard's script imports: named in the page, all are asked for at once and not one after the other."""
    static = files(_PACKAGE).joinpath("static")
    scripts = [(file.name, file) for file in static.iterdir()]
    scripts += [(f"parts/{file.name}", file) for file in static.joinpath("parts").iterdir()]
    return sorted(path for path, file in scripts if path.endswith(".js") and "\nexport " in file.read_text("utf-8"))


def _operations(document: Mapping[str, Any]) -> Any:
    """What the page shows of each operation."""
    types = document["components"]["schemas"]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            body = operation.get("requestBody")
            yield {
                "id": operation["operationId"],
                "method": method.upper(),
                "path": path,
                "description": operation["description"],
                "needs_key": "security" in operation,
                "parameters": operation["parameters"],
                "fields": [] if body is None else _fields(_resolved(body, types)),
                "examples": [] if body is None else [*map(_pretty, _resolved(body, types)["examples"])],
                "answers": [
                    (status, answer["description"], _example(answer, types))
                    for status, answer in sorted(operation["responses"].items())
                ],
            }


def _example(answer: Mapping[str, Any], types: Mapping[str, Any]) -> str:
    return _pretty(_resolved(answer, types)["examples"][0]) if "content" in answer else ""


def _resolved(part: Mapping[str, Any], types: Mapping[str, Any]) -> Any:
    # of whichever media type, as they are all of one schema
    schema = next(iter(part["content"].values()))["schema"]
    return types[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def _fields(schema: Mapping[str, Any]) -> list[tuple[str, bool, str]]:
    required = schema.get("required", ())
    return [
        (name, name in required, property.get("description", "")) for name, property in schema["properties"].items()
    ]


def _pretty(example: Any) -> str:
    return json.dumps(example, indent=2, ensure_ascii=False)
