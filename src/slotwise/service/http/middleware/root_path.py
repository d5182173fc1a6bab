"""The path prefix of a service behind a proxy."""

from __future__ import annotations

from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send


class UnderPath:
    """ASGI middleware: removes the proxy's prefix from paths.

    Other paths stay unchanged, for proxies that remove the prefix themselves.
    """

    def __init__(self, app: ASGIApp, root_path: str) -> None:
        self._app, self._root = app, root_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            if scope["path"] == self._root:
                # relative addresses of the page need the slash
                return await RedirectResponse(f"{self._root}/", 308)(scope, receive, send)
            if scope["path"].startswith(f"{self._root}/"):
                scope["path"] = scope["path"][len(self._root) :]
        return await self._app(scope, receive, send)
