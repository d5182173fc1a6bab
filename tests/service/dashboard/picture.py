"""Makes the picture of the dashboard in the README, of a shop that is made up.

python -m tests.service.dashboard.picture docs/dashboard.webp
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from PIL import Image
from playwright.sync_api import sync_playwright

from tests.service.browser import CHROMIUM, OPTIONS
from tests.service.serving import Clock, serving
from tests.service.synthetic_history import Past, write

WIDTH, HEIGHT = 1160, 1500
#: of the picture, beside what the browser shows
SCALE: Final = 1.25

LIKED: Final = {
    "Alpine tent": 0.024, "Hiking boots": 0.07, "Rain jacket": 0.04, "Head torch": 0.016, "Sleeping bag": 0.028,
    "Camp stove": 0.012, "Trail mix": 0.056, "Compass": 0.008, "Trekking poles": 0.02, "Wool socks": 0.048,
}  # fmt: skip
HOME: Final[dict[str, Any]] = {
    "slots": 4,
    "items": list(LIKED),
    "holdout": 0.1,
    "segments": {"device": ["mobile", "desktop"]},
}


def past() -> Past:
    """Three weeks, a new item and a smaller holdout on the way."""
    changes: list[tuple[int, dict[str, Any]]] = [(24 * 5, {"holdout": 0.2}), (24 * 12, {"items": list(LIKED)[:-1]})]
    shares = {"mobile": 0.6, "desktop": 0.4}
    return Past(HOME, LIKED, [1.0, 0.7, 0.5, 0.35], 24 * 21, 220, shares, changes=changes, slow=25.0)


def main(to: Path) -> None:
    """Look at it in a real browser, and write what is seen to a file of the kind that its name says."""
    clock = Clock()
    clock.now = time.time()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        store = f"sqlite:///{folder}/store.db"
        write(store, "home", past(), clock.now)
        with serving(store, clock=clock) as client:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
            size = {"width": WIDTH, "height": HEIGHT}
            page = browser.new_page(viewport=size, color_scheme="light", device_scale_factor=2)  # type: ignore[arg-type]
            page.goto(f"{str(client.base_url).rstrip('/')}/placements/home")
            page.locator("svg.plot path.line").nth(3).wait_for()
            shot = page.screenshot()
            browser.close()
    whole = Image.open(io.BytesIO(shot)).convert("RGB")
    small = whole.resize((round(WIDTH * SCALE), round(HEIGHT * SCALE)), Image.Resampling.LANCZOS)
    small.save(to, quality=82, method=6)
    print(json.dumps({"file": to.name, "bytes": to.stat().st_size}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
