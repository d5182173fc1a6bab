"""Routes of HTML pages: the dashboard, and the interactive API documentation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
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
_POLICY: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src {images}; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
#: headers of every page: it loads nothing from other hosts
HEADERS: Final = {
    "Content-Security-Policy": _POLICY.format(images="'self'"),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
#: those of the dashboard, which shows pictures of items: they are usually on another host
DASHBOARD_HEADERS: Final = {**HEADERS, "Content-Security-Policy": _POLICY.format(images="'self' https: http:")}


class Assets(StaticFiles):
    """Static files that browsers cache and revalidate, so that an upgrade replaces all of them at once."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers["Cache-Control"] = "no-cache"
        return response


class Pages:
    """The dashboard, the API documentation, and the script `slotwise.js` for websites."""

    def __init__(self, operations: Sequence[Operation], root_path: str = "") -> None:
        self._openapi = openapi.document(operations, root_path)
        self._snippet = files(_PACKAGE).joinpath("static/slotwise.js").read_bytes()
        templates = Environment(
            loader=PackageLoader(_PACKAGE), autoescape=True, trim_blocks=True, lstrip_blocks=True, auto_reload=False
        )
        templates.globals["root"] = root_path
        # rendered once
        self._dashboard = templates.get_template("dashboard.html").render(modules=_modules())
        self._documentation = templates.get_template("docs.html").render(
            operations=[*_operations(self._openapi)], info=self._openapi["info"]
        )

    def routes(self) -> list[BaseRoute]:
        """Return the routes; the OpenAPI document leaves them out."""
        return [
            Route("/", self.dashboard),
            Route(PLACEMENT_PAGES + "{name}", self.dashboard),
            Route("/docs", self.docs),
            Route("/openapi.json", self.openapi),
            Route("/slotwise.js", self.snippet),
            Mount("/static", Assets(packages=[(_PACKAGE, "static")])),
        ]

    async def dashboard(self, _: Request) -> Response:
        """Return the dashboard's page, which requests its data from the API."""
        return HTMLResponse(self._dashboard, headers=DASHBOARD_HEADERS)

    async def docs(self, _: Request) -> Response:
        """Return the API documentation, with examples to send."""
        return HTMLResponse(self._documentation, headers=HEADERS)

    async def openapi(self, _: Request) -> Response:
        """Return the OpenAPI document."""
        return JSONResponse(self._openapi)

    async def snippet(self, _: Request) -> Response:
        """Return the script that reports outcomes from a website's pages."""
        headers = {"Cache-Control": "public, max-age=3600", "X-Content-Type-Options": "nosniff"}
        return Response(self._snippet, media_type="text/javascript", headers=headers)


def _modules() -> list[str]:
    """Return the modules that the dashboard imports: the page preloads them all at once."""
    static = files(_PACKAGE).joinpath("static")
    scripts = [(file.name, file) for file in static.iterdir()]
    scripts += [(f"parts/{file.name}", file) for file in static.joinpath("parts").iterdir()]
    return sorted(path for path, file in scripts if path.endswith(".js") and "\nexport " in file.read_text("utf-8"))


def _operations(document: Mapping[str, Any]) -> Iterator[dict[str, object]]:
    """Yield the template data of each operation."""
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


def _resolved(part: Mapping[str, Any], types: Mapping[str, Any]) -> Mapping[str, Any]:
    # all media types have the same schema
    schema: Mapping[str, Any] = next(iter(part["content"].values()))["schema"]
    # the first of several types is the usual one
    schema = (schema.get("anyOf") or schema.get("oneOf") or [schema])[0]
    if "$ref" not in schema:
        return schema
    referenced: Mapping[str, Any] = types[schema["$ref"].rpartition("/")[2]]
    return referenced


def _fields(schema: Mapping[str, Any]) -> list[tuple[str, bool, str]]:
    required = schema.get("required", ())
    return [
        (name, name in required, property.get("description", "")) for name, property in schema["properties"].items()
    ]


def _pretty(example: object) -> str:
    return json.dumps(example, indent=2, ensure_ascii=False)
