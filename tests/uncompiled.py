"""The same functions without the compiler, in a Python of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def uncompiled(module: str, function: str) -> Any:
    """What a function of a test module answers where nothing is compiled; it takes nothing and answers in JSON."""
    done = subprocess.run(
        [sys.executable, "-c", f"import json, {module} as t; print(json.dumps(t.{function}()))"],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    return json.loads(done.stdout)
