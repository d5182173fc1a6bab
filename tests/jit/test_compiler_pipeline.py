"""What compiled code calls is compiled into its callers, works there, and can still be called by itself."""

from __future__ import annotations

import subprocess
import sys

import pytest
from numba.core import config

from slotwise.jit import jit
from slotwise.jit.compiler_pipeline import PartLibrary

OFFSET = 3
needs_compiler = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled with NUMBA_DISABLE_JIT")


@jit
def _inner(x: int) -> int:
    if x < 0:
        raise ValueError("x is negative")
    return x + OFFSET


@jit
def _outer(x: int) -> int:
    return 2 * _inner(x)


@jit
def _factorial(x: int) -> int:
    return 1 if x <= 1 else x * _factorial(x - 1)


@needs_compiler
def test_only_functions_called_from_python_get_their_own_machine_code() -> None:
    assert _outer(1) == 8
    (part,) = _inner.part.overloads.values()  # type: ignore[attr-defined]
    assert isinstance(part.library, PartLibrary)
    assert not _inner.overloads  # type: ignore[attr-defined]
    assert _inner(1) == 4


def test_an_exception_passes_through_nested_kernels() -> None:
    with pytest.raises(ValueError, match="x is negative"):
        _outer(-1)


def test_a_part_may_call_itself() -> None:
    assert _factorial(10) == 3_628_800


ONE_RUN = """
from slotwise.click_models.mnl import MNL
from slotwise import simulate
users = MNL(attractiveness=[0.5, 0.2], position_bias=[1.0])
print(simulate(users, "epoch-ucb", rounds=50, seed=1, progress=False)["epoch-ucb"].regret)
"""


@needs_compiler
def test_a_kernel_from_the_cache_has_its_parts_with_it(tmp_path: object) -> None:
    runs = [
        subprocess.run(
            [sys.executable, "-c", ONE_RUN],
            env={"NUMBA_CACHE_DIR": str(tmp_path), "PATH": "", "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for _ in range(2)
    ]
    assert runs[0] == runs[1]
