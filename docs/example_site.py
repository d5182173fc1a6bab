"""A whole website with a learned list: `slotwise serve`, then `python docs/example_site.py`, then http://127.0.0.1:8080.

The server asks the service for a decision per page view; the page reports what came of it with the decision's token.
"""

from __future__ import annotations

import html
import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from slotwise.client import Client
from slotwise.errors import SlotwiseError

URL = os.environ.get("SLOTWISE_URL", "http://127.0.0.1:8000")
DRINKS = ["tea", "coffee", "milk", "juice", "water", "cocoa"]
SHOWN = 3

PAGE = """<!doctype html><meta charset="utf-8"><title>Drinks</title>
<h1>Drinks</h1>
<ol id="drinks">{items}</ol>
<script src="{url}/slotwise.js"></script>
<script>slotwise.report(document.getElementById("drinks"), {{token: {token}}});</script>
"""

client = Client(URL, os.environ.get("SLOTWISE_SERVER_KEY"), timeout=0.5, retries=0)


class Site(BaseHTTPRequestHandler):
    """One page."""

    def do_GET(self) -> None:
        if self.path.strip("/") not in ("", *DRINKS):
            # a browser asks for an icon, too, which is no page view
            self.send_error(404)
            return
        try:
            decision = client.decide("drinks")
            items, token = decision.items, decision.token
        except SlotwiseError as problem:
            # the page does not wait for the service, nor fail with it
            print(problem, file=sys.stderr)
            items, token = tuple(DRINKS[:SHOWN]), None
        listed = "".join(f'<li><a href="/{html.escape(i)}" data-item="{html.escape(i)}">{i}</a></li>' for i in items)
        page = PAGE.format(items=listed, url=URL, token=json.dumps(token)) if token else f"<ol>{listed}</ol>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        # a list that a cache shows again has no decision of its own
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(page.encode())


if __name__ == "__main__":
    with Client(URL, os.environ.get("SLOTWISE_SERVER_KEY"), timeout=120.0) as setting_up:
        setting_up.put_placement("drinks", slots=SHOWN, items=DRINKS, window_seconds=600.0)
    port = int(os.environ.get("PORT", "8080"))
    print(f"http://127.0.0.1:{port}", flush=True)
    ThreadingHTTPServer(("127.0.0.1", port), Site).serve_forever()
