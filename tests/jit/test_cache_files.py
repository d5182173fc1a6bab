"""What is loaded is what was kept for these very types, whoever writes at the same time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from numba import types
from numba.core.serialize import dumps

from slotwise.jit.cache_files import KernelFiles

ONE, OTHER = ((types.int64,), "a processor"), ((types.float64,), "a processor")


def test_two_that_write_at_once_do_not_write_over_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second begins and ends in the midst of the first, at each of its steps."""
    for step in range(2):
        folder = tmp_path / str(step)
        folder.mkdir()
        first, second = KernelFiles(str(folder), "advance"), KernelFiles(str(folder), "advance")
        steps = iter(range(2))

        def meanwhile(what: Any, steps: Any = steps, step: int = step, second: KernelFiles = second) -> bytes:
            if next(steps, None) == step:
                second.save(OTHER, "for floats")
            return bytes(dumps(what))

        monkeypatch.setattr("slotwise.jit.cache_files.dumps", meanwhile)
        first.save(ONE, "for integers")
        assert next(steps, None) is None
        for reader in (first, second):
            assert [reader.load(ONE), reader.load(OTHER)] == ["for integers", "for floats"]


def test_a_file_for_something_else_is_not_loaded(tmp_path: Path) -> None:
    kernels = KernelFiles(str(tmp_path), "advance")
    kernels.save(OTHER, "for floats")
    kernels._file(OTHER).rename(kernels._file(ONE))
    assert kernels.load(ONE) is None


@pytest.mark.parametrize("left", [0.0, 0.5, 0.95])
def test_a_file_that_was_cut_off_is_as_good_as_none(left: float, tmp_path: Path) -> None:
    kernels = KernelFiles(str(tmp_path), "advance")
    kernels.save(ONE, b"code" * 100)
    whole = kernels._file(ONE).read_bytes()
    kernels._file(ONE).write_bytes(whole[: int(left * len(whole))])
    assert kernels.load(ONE) is None


def test_nothing_half_written_stays_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = KernelFiles(str(tmp_path), "advance")

    def full(file: Path, _: bytes) -> int:
        file.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space"):
        kernels.save(ONE, "code")
    assert not list(tmp_path.iterdir())
