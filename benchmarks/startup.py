"""The first minute: from starting Python to the first list, on an empty cache and on a full one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from typing import Any

TURNS = 3

#: prints seconds since the interpreter started: imported, first list, changed over; and milliseconds a decision
SCRIPT = """
import json, os, time
began = float(os.environ["BEGAN"])
from slotwise import Ranker
found = {"imported": time.time() - began}
items = int(os.environ["ITEMS"])
ranker = Ranker(items=[str(number) for number in range(items)], slots=min(10, items // 3), seed=1)
ranker.rank()
found["first list"] = time.time() - began
start, rounds = time.process_time(), 50
for _ in range(rounds):
    ranking = ranker.rank()
    ranker.observe(ranking, None)
found["a decision"] = (time.process_time() - start) / rounds * 1e3
if os.environ["WAIT"]:
    ranker._learner.kernels.wait()
    ranker.rank()
    found["changed over"] = time.time() - began
print(json.dumps(found))
"""


def main() -> None:
    """Print both, and what `import slotwise.client` takes."""
    print(
        "\nthe first minute, seconds from starting Python    imported   first list   changed over   ms a plain decision"
    )
    with tempfile.TemporaryDirectory() as folder:
        for items in (1_000, 30):
            cold = _start(items, folder, wait=items == 30)
            over = f"{cold['changed over']:12.1f}" if items == 30 else " " * 12
            row = f"{cold['imported']:10.2f} {cold['first list']:12.2f} {over} {cold['a decision']:21.2f}"
            print(f"  empty cache, {items:>5,} items {row:>70}")
        warm = min((_start(30, folder) for _ in range(TURNS)), key=lambda found: found["first list"])
        print(f"  full cache,     30 items {warm['imported']:24.2f} {warm['first list']:12.2f}")
    print(f"  import slotwise.client  {min(_import_client() for _ in range(TURNS)):24.2f}")


def wait_until_compiled() -> None:
    """Start Python on an empty cache, and wait until a ranker runs compiled code."""
    with tempfile.TemporaryDirectory() as folder:
        _start(30, folder, wait=True)


def _start(items: int, folder: str, wait: bool = False) -> Any:
    environment = {**os.environ, "NUMBA_CACHE_DIR": folder, "ITEMS": str(items), "WAIT": "yes" if wait else ""}
    environment["SLOTWISE_COMPILE"] = "background"
    return json.loads(_run(SCRIPT, environment))


def _import_client() -> float:
    script = "import os, time, slotwise.client; print(time.time() - float(os.environ['BEGAN']))"
    return float(_run(script, dict(os.environ)))


def _run(script: str, environment: dict[str, str]) -> str:

    environment["BEGAN"] = str(time.time())
    return subprocess.run(
        [sys.executable, "-c", script], env=environment, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


if __name__ == "__main__":
    main()
