"""What the tests have compiled so far, for a process with a cache of its own."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from slotwise.jit.kernel_cache import cache_folder


def share_kernels(folder: Path, *, without: str | None = None) -> None:
    """Put them into `folder`, but for those of files whose name begins like that.

    Other tests write into the cache at the same time: what they have not finished may be gone when it is its turn.
    """

    def left_out(parent: str, names: list[str]) -> list[str]:
        files = [name for name in names if not os.path.isdir(os.path.join(parent, name))]
        return [name for name in files if not name.endswith(".kernel") or (without and name.startswith(without))]

    if (here := cache_folder()) is not None:
        shutil.copytree(here, folder, ignore=left_out)
