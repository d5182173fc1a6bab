"""The same functions without the compiler, in a Python of their own, and tests that need none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]


def uncompiled(module: str, function: str) -> Any:
    """What a function of a test module answers where nothing is compiled; it takes nothing and answers in JSON."""
    # importing research registers policies: here and there alike
    modules = ", ".join(["json", f"{module} as t", *(["research"] if "research" in sys.modules else [])])
    done = subprocess.run(
        [sys.executable, "-c", f"import {modules}; print(json.dumps(t.{function}()))"],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    return json.loads(done.stdout)


@pytest.fixture(scope="module", autouse=True)
def nothing_is_compiled() -> Iterator[None]:
    """For modules that import it: services decide in plain Python, as a few lists are not worth compiling for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLOTWISE_COMPILE", "never")
        yield
