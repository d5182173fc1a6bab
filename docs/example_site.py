"""A website with a learned list, to copy from: `slotwise serve`, `python docs/example_site.py`, http://127.0.0.1:8080.

The front page asks the service for a decision, and no other page does. A script on it reports what came of the list.
Visitors who come back within ten minutes, with the back button or by reloading, see the same list, which is still the
same decision. If the service does not answer, the page shows a list of its own, and nothing is reported.
"""

from __future__ import annotations

import os
import re
import secrets
import sys
from html import escape
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote, unquote, urlsplit

from slotwise.client import Client, ClientError, Decision, ServiceProblem

URL = os.environ.get("SLOTWISE_URL", "http://127.0.0.1:8000")
#: where visitors' browsers reach the service, if that is elsewhere
PUBLIC_URL = os.environ.get("SLOTWISE_PUBLIC_URL", URL)
#: seconds that a visitor waits for the service, at each of two tries
TIMEOUT = float(os.environ.get("SLOTWISE_TIMEOUT", "0.5"))
DRINKS = ["tea", "coffee", "milk", "juice", "water", "cocoa"]
SHOWN = 3
WINDOW = 600

FRONT = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Drinks</title>
<h1>Drinks</h1>
<ol id="drinks" data-token="{token}">{items}</ol>
{script}"""
ITEM = '<li><a href="/drinks/{path}" data-item="{name}">{name}</a></li>'
SCRIPT = """<script src="{url}/slotwise.js"></script>
<script>
  const list = document.getElementById("drinks");
  slotwise.report(list, {{ token: list.dataset.token }});
</script>"""
DRINK = """<!doctype html><html lang="en"><meta charset="utf-8"><title>{name}</title>
<h1>{name}</h1><p><a href="/">All drinks</a></p>"""

client = Client(URL, os.environ.get("SLOTWISE_SERVER_KEY"), timeout=TIMEOUT, retries=1)


def decide(view: str) -> Decision | None:
    """What to show in this page view: one decision, however often it is asked for; None if the service gives none."""
    try:
        try:
            return client.decide("drinks", key=view)
        except ServiceProblem as problem:
            if problem.status != HTTPStatus.NOT_FOUND:
                raise
        make_placement()
        return client.decide("drinks", key=view)
    except ClientError as problem:
        print(problem, file=sys.stderr)
        return None


def make_placement() -> None:
    """What the first visitor of all does, at version 0, so that it replaces nothing that was made meanwhile."""
    try:
        client.put_placement("drinks", slots=SHOWN, items=DRINKS, window_seconds=WINDOW, version=0)
    except ServiceProblem as problem:
        if problem.status != HTTPStatus.PRECONDITION_FAILED:
            raise


def front_page(decision: Decision | None) -> str:
    """The list that was decided on, with the script that reports on it, or a list of our own."""
    items = DRINKS[:SHOWN] if decision is None else decision.items
    return FRONT.format(
        items="".join(ITEM.format(path=quote(item, safe=""), name=escape(item)) for item in items),
        token="" if decision is None else escape(decision.token),
        script="" if decision is None else SCRIPT.format(url=escape(PUBLIC_URL.rstrip("/"))),
    )


class Site(BaseHTTPRequestHandler):
    """The front page, and a page for each drink."""

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        drink = unquote(path.removeprefix("/drinks/"))
        if path == "/":
            self._front()
        elif path.startswith("/drinks/") and drink in DRINKS:
            self._send(DRINK.format(name=escape(drink)))
        else:
            # a browser asks for an icon, and others for all sorts of things: none of these is a page view
            self.send_error(HTTPStatus.NOT_FOUND)

    def _front(self) -> None:
        if "prefetch" in self.headers.get("Sec-Purpose", ""):
            # a browser that guesses where its visitor goes next asks again when they do
            self.send_error(HTTPStatus.SERVICE_UNAVAILABLE)
            return
        view = self._view() or secrets.token_hex(16)
        cookie = f"view={view}; Max-Age={WINDOW}; Path=/; HttpOnly; SameSite=Lax"
        # a copy that a cache shows to somebody else would have no decision of its own
        self._send(front_page(decide(view)), {"Set-Cookie": cookie, "Cache-Control": "no-store"})

    def _view(self) -> str | None:
        """The page view that this visitor comes back to."""
        try:
            found = SimpleCookie(self.headers.get("Cookie", "")).get("view")
        except CookieError:
            return None
        return found.value if found and re.fullmatch("[0-9a-f]{32}", found.value) else None

    def _send(self, page: str, headers: dict[str, str] | None = None) -> None:
        body = page.encode()
        self.send_response(HTTPStatus.OK)
        for name, value in {"Content-Type": "text/html; charset=utf-8", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    with ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8080"))), Site) as server:
        print(f"http://127.0.0.1:{server.server_port}", flush=True)
        server.serve_forever()
