"""`python -m benchmarks.dashboard`: how soon the page is drawn, and what those who look at it cost whoever decides.

A placement of 500 items with 90 days of hours behind it, in a real Chromium where there is one.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.service import answers, processor_seconds, rate, service, verdict
from tests.service.browser import CHROMIUM, OPTIONS
from tests.service.synthetic_history import Past, write

ITEMS, SLOTS, DAYS = 500, 8, 90
VIEWERS: Final = 20
#: seconds between two questions of a page, and between two looks of it at the charts
EVERY, CHARTS_EVERY = 2.0, 20.0
SECONDS = 12.0
TURNS = 5

#: notes when the last part of the page is there: the charts, which are asked for after everything else
WATCH: Final = """
new MutationObserver((_, observer) => {
  if (document.querySelectorAll("svg.plot path.line").length < 3 || !document.querySelector("main[data-ready]")) return;
  observer.disconnect();
  requestAnimationFrame(() => requestAnimationFrame(() => (window.drawn = performance.now())));
}).observe(document, { childList: true, subtree: true });
"""


def past() -> Past:
    rng = np.random.default_rng(1)
    names = [f"Product {number:03}" for number in range(ITEMS)]
    liked = dict(zip(names, (rng.exponential(0.1, ITEMS) + 0.01).tolist(), strict=True))
    # a window that is short, so that what is decided here is counted here
    definition = {"slots": SLOTS, "items": names, "holdout": 0.05, "window_seconds": 1.0}
    return Past(definition, liked, np.linspace(1.0, 0.3, SLOTS).tolist(), DAYS * 24, 150)


def main() -> None:
    with tempfile.TemporaryDirectory(dir=os.environ.get("SLOTWISE_BENCH_FOLDER", ".")) as folder:
        write(f"sqlite:///{folder}/bench.db", "bench", past(), time.time())
        with service(Path(folder)) as (port, process):
            while not answers(port, "/readyz"):
                time.sleep(0.05)
            if CHROMIUM is None:
                print("the dashboard is not drawn: there is no Chromium")
            else:
                _drawn(port)
            _looked_at(port, process)


def _drawn(port: int) -> None:
    """From the address to the last chart, the first time after the service started and then again."""
    from playwright.sync_api import sync_playwright

    found = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        # the browser itself starts here, and nothing of the service is asked for
        browser.new_page().goto("about:blank")
        for _ in range(TURNS + 1):
            # its own policy would keep this from waiting for an expression
            context = browser.new_context(viewport={"width": 1280, "height": 900}, bypass_csp=True)
            page = context.new_page()
            page.add_init_script(WATCH)
            page.goto(f"http://127.0.0.1:{port}/placements/bench?range=90d")
            found.append(float(page.wait_for_function("window.drawn", timeout=120_000).json_value()) / 1e3)
            context.close()
        browser.close()
    first, *others = found
    print(f"dashboard, {ITEMS} items and {DAYS} days of hours: {first:.2f} s to draw at first, then each of", end=" ")
    print(", ".join(f"{seconds:.2f}" for seconds in others))
    verdict("1 s / a page that is drawn", 1.0 / statistics.median(others), 1.0)
    verdict("1 s / the first one", 1.0 / first, 1.0)


def _looked_at(port: int, process: subprocess.Popen[bytes]) -> None:
    """Decisions for each second of the worker's processor, with viewers and without, in turn."""
    asyncio.run(rate(port, seconds=2.0))
    ratios, rates = [], []
    for _ in range(TURNS):
        alone, watched = (asyncio.run(_costs(port, process, viewers)) for viewers in (0, VIEWERS))
        ratios.append(watched[0] / alone[0])
        rates.append(watched[1] / alone[1])
    print(f"  decisions a second with {VIEWERS} viewers / without: {statistics.median(rates):.3f}")
    verdict(f"decisions per processor second with {VIEWERS} viewers / without", statistics.median(ratios), 0.95)


async def _costs(port: int, process: subprocess.Popen[bytes], viewers: int) -> tuple[float, float]:
    looking = [asyncio.create_task(_look(port, number / max(1, viewers) * EVERY)) for number in range(viewers)]
    used, began = processor_seconds(process), time.perf_counter()
    per_second = await rate(port, seconds=SECONDS)
    taken = time.perf_counter() - began
    spent = processor_seconds(process) - used
    for task in looking:
        task.cancel()
    await asyncio.gather(*looking, return_exceptions=True)
    return per_second * taken / spent, per_second


async def _look(port: int, wait: float) -> None:
    """What a page asks for, again and again, over a connection of its own, as a browser has it."""
    since = (datetime.now(UTC) + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(DAYS)
    timeline = f"/v1/placements/bench/timeline?by=day&since={since:%Y-%m-%dT%H:%M:%S}.000Z"
    tags: dict[str, str] = {}
    charts_at = 0.0
    await asyncio.sleep(wait)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        while True:
            await _ask(reader, writer, "/v1/placements/bench/overview?period=7d", tags)
            if time.perf_counter() - charts_at > CHARTS_EVERY:
                await _ask(reader, writer, timeline, tags)
                charts_at = time.perf_counter()
            await asyncio.sleep(EVERY)
    finally:
        writer.close()


async def _ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str, tags: dict[str, str]) -> None:
    known = f"If-None-Match: {tags[path]}\r\n" if path in tags else ""
    writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{known}\r\n".encode())
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    status, fields = (
        head.split(" ", 2)[1],
        dict(line.split(": ", 1) for line in head.lower().split("\r\n")[1:] if ": " in line),
    )
    assert status in ("200", "304"), head
    if status == "200":
        await reader.readexactly(int(fields["content-length"]))
    tags[path] = fields["etag"]


if __name__ == "__main__":
    main()
