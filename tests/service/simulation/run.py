"""One history of a seed."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# before kernels are imported: lists are the same whether or not a compiler has come to its end
os.environ.setdefault("SLOTWISE_COMPILE", "first")

from tests.service.simulation.world import World


@dataclass(frozen=True)
class History:
    """What happened."""

    seed: int
    trace: Sequence[str]


@dataclass(frozen=True)
class Failure(History):
    """What happened, and must not."""

    what: str


def simulate(seed: int) -> History:
    """Run the history of a seed, in a folder that is deleted afterwards."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else None))
    log = logging.getLogger("slotwise.service")
    was_disabled, log.disabled = log.disabled, True
    world = World(seed, folder)
    try:
        world.run()
    except Exception as problem:
        what = f"{type(problem).__name__}: {problem}"
        return Failure(seed, [*world.trace, *traceback.format_exception(problem)], what)
    finally:
        world.close()
        log.disabled = was_disabled
        shutil.rmtree(folder)
    return History(seed, world.trace)
