"""The browser snippet in a real Chromium: pages of another origin, each left for the next one."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.service.browser import needs_a_browser, opened
from tests.service.serving import Client, serving
from tests.waiting import wait_for

PAGE = """<!doctype html><meta charset="utf-8"><title>shop</title>
<div style="height: {above}px"></div><ul id="list"></ul><div style="height: 3000px"></div>
<script src="{service}/slotwise.js"></script>
<script>
  slotwise.show(document.getElementById("list"), {{
    decision: {decision},
    url: {url},
    render: function (id) {{
      var item = document.createElement("li");
      item.innerHTML = "<b>" + id + "</b>";
      return item;
    }},
  }});
  function items() {{ return document.querySelectorAll("[data-item] b"); }}
  // the script's own observer was there first, so it knows by then what is in view
  new IntersectionObserver(function (_, watch) {{
    watch.disconnect();
    {act};
    location = "{next}";
  }}).observe(items()[0]);
</script>"""

#: pixels above the list, what the visitor does, and what must be recorded of it
VISITS = [
    (0, "items()[1].click()", "clicked"),
    # only the first click counts, and one whose handlers stop it is heard
    (0, "items()[0].onclick = (e) => e.stopPropagation(); items()[0].click(); items()[1].click()", "clicked"),
    (0, "", "no_click"),
    (5000, "", "not_shown"),
]


@contextmanager
def shop(pages: dict[str, str]) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = pages.get(self.path, "").encode()
            self.send_response(200 if page else 404)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, format: str, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def visiting(url: str, folder: Path) -> Iterator[None]:
    with opened(folder) as tab:
        tab.call("Page.navigate", url=url)
        yield


def recorded(client: Client) -> int:
    found = re.search(r'slotwise_reports_total\{verdict="recorded"\} (\S+)', client.get("/metrics").text)
    return int(float(found[1])) if found else 0


@needs_a_browser
def test_a_browser_reports_clicks_no_clicks_and_unseen_lists(tmp_path: Path) -> None:
    pages: dict[str, str] = {}
    with serving(f"sqlite:///{tmp_path}/store.db") as client, shop(pages) as origin:
        service = str(client.base_url).rstrip("/")
        client.define()
        for number, (above, act, _) in enumerate(VISITS):
            pages[f"/{number}"] = PAGE.format(
                above=above,
                service=service,
                decision=json.dumps(client.decide(pin={"a": 1, "b": 2})),
                # where it is left out, the script's own origin is meant
                url=json.dumps(service) if number % 2 else "undefined",
                act=act,
                next=f"/{number + 1}",
            )
        pages[f"/{len(VISITS)}"] = "<title>done</title>"
        with visiting(f"{origin}/0", tmp_path / "browser"):
            wait_for(lambda: recorded(client) >= len(VISITS), "the visits")
            # a moment for what must not come
            time.sleep(0.3)
        assert recorded(client) == len(VISITS)
        assert "conflict" not in client.get("/metrics").text.partition("slotwise_reports_created")[0]
        found = client.settle()
        kinds = [kind for *_, kind in VISITS]
        assert {kind: found["decisions"][kind] for kind in kinds} == {kind: kinds.count(kind) for kind in kinds}
        assert found["tally"]["clicks"] == [[1, 0, 0], [0, 1, 0]]
        assert found["tally"]["passes"] == [[1, 0, 0], [0, 1, 0]]


def test_the_snippet_is_served_to_anybody(tmp_path: Path) -> None:
    with serving(f"sqlite:///{tmp_path}/store.db", server_key="s3cret") as client:
        answer = client.get("/slotwise.js")
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/javascript")
        assert "sendBeacon" in answer.text
        assert client.get("/v1/placements").status_code == 401
