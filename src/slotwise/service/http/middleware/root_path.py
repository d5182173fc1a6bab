"""What is different behind a proxy: the path that it has the service under."""

from __future__ import annotations

from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send


class UnderPath:
    """ASGI middleware: takes the proxy's path off, so that all within is as if the service were at the top of its host.

    Proxies that have taken it off already are served as well: what is not below the path is left as it is.
    """

    def __init__(self, app: ASGIApp, root_path: str) -> None:
        self._app, self._root = app, root_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            if scope["path"] == self._root:
                # or the page's own addresses would not be below it
                return await RedirectResponse(f"{self._root}/", 308)(scope, receive, send)
            if scope["path"].startswith(f"{self._root}/"):
                scope["path"] = scope["path"][len(self._root) :]
        return await self._app(scope, receive, send)
