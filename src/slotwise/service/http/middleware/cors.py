"""CORS: a browser may report outcomes from pages of any origin."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from slotwise.service.http.routes.decision_routes import OUTCOMES


class OutcomesFromAnywhere(CORSMiddleware):
    """ASGI middleware: allows requests of other origins to the outcomes path only."""

    def __init__(self, app: ASGIApp) -> None:
        # a beacon is sent with credentials, so browsers reject "*"; only the token authorises the request
        super().__init__(
            app,
            allow_origin_regex=".*",
            allow_credentials=True,
            allow_methods=["POST"],
            allow_headers=["content-type"],
            max_age=86_400,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == OUTCOMES:
            await super().__call__(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def preflight_response(self, request_headers: Headers) -> Response:
        """Return a response without a body."""
        response = super().preflight_response(request_headers)
        headers = {name: value for name, value in response.headers.items() if not name.startswith("content-")}
        return Response(status_code=204 if response.status_code == 200 else response.status_code, headers=headers)
