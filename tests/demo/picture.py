"""Makes the moving picture of the README from a demo in a real browser.

python -m tests.demo.picture docs/demo.webp
"""

from __future__ import annotations

import base64
import io
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from PIL import Image

from tests.demo.test_demo_server import choose, click, demo
from tests.service.browser import Tab, opened

WIDTH, HEIGHT = 1040, 1220
#: of the picture, beside what the browser shows
SCALE: Final = 0.68
#: seconds of the demo from one frame to the next, and milliseconds for which each is seen
EVERY_SECONDS, SEEN_MILLISECONDS = 3.0, 400
#: seconds before the first frame, which is all that a reader without animations sees
HEAD_START: Final = 45.0
#: frames before and after an item becomes popular
SETTLING, FOLLOWING = 10, 24


def frames(tab: Tab, count: int) -> Iterator[Image.Image]:
    """What the page looks like, again and again."""
    for _ in range(count):
        began = time.monotonic()
        shot = base64.b64decode(tab.call("Page.captureScreenshot", format="png")["data"])
        whole = Image.open(io.BytesIO(shot)).convert("RGB")
        yield whole.resize((round(WIDTH * SCALE), round(HEIGHT * SCALE)), Image.Resampling.LANCZOS)
        time.sleep(max(0.0, EVERY_SECONDS - (time.monotonic() - began)))


def filmed(folder: Path) -> list[Image.Image]:
    """A list that settles, and then follows a change."""
    (folder / "demo").mkdir()
    with demo(folder / "demo") as process, opened(folder / "browser") as tab:
        url = process.url()
        tab.call("Emulation.setDeviceMetricsOverride", width=WIDTH, height=HEIGHT, deviceScaleFactor=1, mobile=False)
        tab.call("Emulation.setScrollbarsHidden", hidden=True)
        tab.open(f"{url}/demo")
        tab.wait_for("document.querySelectorAll('.shelf li').length === 8")
        click(tab, "truth")
        time.sleep(HEAD_START)
        found = [*frames(tab, SETTLING)]
        choose(tab, "popular", "teapot")
        click(tab, "make-popular")
        return [*found, *frames(tab, FOLLOWING)]


def main(to: Path) -> None:
    """Film it, and write it to a file of the kind that its name says."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        first, *others = filmed(Path(folder))
    seen = [SEEN_MILLISECONDS] * len(others) + [2000]
    first.save(to, save_all=True, append_images=others, duration=seen, loop=0, quality=70, method=2)
    print(json.dumps({"file": to.name, "frames": len(seen), "bytes": to.stat().st_size}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
