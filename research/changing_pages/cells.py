"""The cells of the study of changing pages: a policy on some problems of a family, run once and then stored."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

import numpy as np

from research.changing_pages.families import KNOWN_ITEMS, VISITS, Case, stream_of
from research.changing_pages.wrappers import untold, watched
from research.study_cache import load_all
from slotwise.click_models import MNL
from slotwise.core.policy_task import PolicyTask
from slotwise.core.types import FloatArray, IntArray
from slotwise.environments import World
from slotwise.jit.kernel_cache import PACKAGE, hash_of
from slotwise.paper.result_cache import ResultCache, program_hash, writable_folder
from slotwise.policies.policy_registry import parse
from slotwise.simulation.progress import Bar
from slotwise.simulation.runner import PolicyLike, Replication, parallel, recorded_rounds, run_replications

#: how a policy meets a problem: as it is; without segments; one of it for each segment; its lists counted
Way = Literal["told", "untold", "apart", "watched"]

#: seeds of the segments of `apart` are this far from each other and from all others
NEXT_SEGMENT = 1_000_003


@dataclass(frozen=True)
class Cell:
    """Replications `first` to `last`, that one excluded, of a policy on a family; `each` of them on one problem."""

    part: str
    row: str
    policy: str
    #: a function of `families` with its sizes, still to be called with a seed and a number
    family: partial[Case]
    seed: int
    first: int
    last: int
    #: replications on one problem; None if all are on the same
    each: int | None
    way: Way = "told"
    #: None: after the last round only
    recorded: tuple[int, ...] | None = None

    @property
    def key(self) -> tuple[str, str, str, Way]:
        """What it is a part of."""
        return self.part, self.row, self.policy, self.way

    @property
    def made_for(self) -> dict[str, Any]:
        """All that its numbers depend on."""
        return {
            "family": [self.family.func.__name__, self.family.keywords],
            "policy": self.policy,
            "way": self.way,
            "seed": self.seed,
            "each": self.each,
            "recorded": None if self.recorded is None else list(self.recorded),
            "program": [program_hash(), families_hash()],
        }

    @property
    def name(self) -> str:
        """Of its file."""
        text = f"{self.row}-{self.policy}-{self.way}-{self.first}-{self.last}"
        return "".join(c if c.isalnum() or c in "-." else "_" for c in text)

    def problem_of(self, replication: int) -> int:
        """The number of the problem that a replication is on."""
        return 0 if self.each is None else replication // self.each


#: the folder of this study
FOLDER = Path(__file__).parent


@cache
def families_hash() -> str:
    """A fingerprint of the files that problems are drawn by."""
    return hash_of((PACKAGE / "problems").glob("*.py")) + hash_of([FOLDER / "families.py"], FOLDER)


@dataclass(frozen=True, eq=False)
class Finding:
    """What the replications of some cells found, in order."""

    #: the problem that each was on
    problem: IntArray
    #: cumulative regret, replications × recorded rounds
    regret: FloatArray
    #: of `watched`: the part of the slots that newcomers took, per replication
    share: FloatArray
    seconds: float

    @property
    def final(self) -> FloatArray:
        """Regret after the last round."""
        return self.regret[:, -1]


Found = dict[tuple[str, str, str, Way], Finding]


def chunks(count: int, size: int) -> Iterator[tuple[int, int]]:
    """0 to `count` in parts of `size`, which do not depend on `count`."""
    for first in range(0, count, size):
        yield first, min(first + size, count)


def run(todo: Sequence[Cell], out: Path, *, jobs: int = -1, progress: bool | None = None) -> Found:
    """Run the cells that are not in `out` yet, each on one core, and gather all of them."""
    import joblib

    done: dict[Cell, Finding] = {}
    with Bar(progress) as bar:
        for part in dict.fromkeys(cell.part for cell in todo):
            folder = writable_folder(out / "cells" / part)
            mine = [cell for cell in todo if cell.part == part]
            kept, missing = load_all(mine, folder, bar.say)
            done |= {cell: _of_numbers(numbers) for cell, numbers in kept.items()}
            with bar.task(part, len(mine), done=len(mine) - len(missing)) as step:
                work = parallel(jobs, prefer="threads")
                for cell, found in work(joblib.delayed(_played)(cell) for cell in missing):
                    # here, as the machines of a cluster may not share a disk
                    ResultCache(folder, cell.made_for).save(cell.name, _numbers(found))
                    done[cell] = found
                    step()
    return gather(todo, done)


def gather(todo: Sequence[Cell], done: dict[Cell, Finding]) -> Found:
    """All replications of a policy on a family together, in their order."""
    parts: dict[tuple[str, str, str, Way], list[Finding]] = {}
    for cell in sorted(todo, key=lambda cell: cell.first):
        parts.setdefault(cell.key, []).append(done[cell])
    found = {
        key: Finding(
            np.concatenate([one.problem for one in some]),
            np.concatenate([one.regret for one in some]),
            np.concatenate([one.share for one in some]),
            sum(one.seconds for one in some),
        )
        for key, some in parts.items()
    }
    # in the order of the plan, which is that of the tables
    return {key: found[key] for key in dict.fromkeys(cell.key for cell in todo)}


def _played(cell: Cell) -> tuple[Cell, Finding]:
    return cell, play(cell)


def _numbers(found: Finding) -> dict[str, Any]:
    return {"problem": found.problem, "regret": found.regret, "share": found.share, "seconds": found.seconds}


def _of_numbers(kept: dict[str, np.ndarray]) -> Finding:
    return Finding(kept["problem"], kept["regret"], kept["share"], float(kept["seconds"]))


def play(cell: Cell) -> Finding:
    """Run a cell, on one core."""
    begin = time.perf_counter()
    regret: list[FloatArray] = []
    share: list[float] = []
    for number, some in groupby(range(cell.first, cell.last), key=cell.problem_of):
        case, replications = cell.family(cell.seed, number), list(some)
        if cell.way == "apart":
            regret += [_apart(cell, case, replication) for replication in replications]
        elif cell.way == "watched":
            for replication in replications:
                found, part = _watched(cell, case, replication)
                regret.append(found)
                share.append(part)
        else:
            chosen = untold(cell.policy) if cell.way == "untold" else parse(cell.policy)
            regret += [one.regret for one in _replicated(case, chosen, cell.seed, replications, cell.recorded)]
    numbers = np.array([cell.problem_of(replication) for replication in range(cell.first, cell.last)])
    return Finding(numbers, np.array(regret), np.array(share), time.perf_counter() - begin)


def _replicated(
    case: Case, chosen: PolicyLike, seed: int, replications: Sequence[int], recorded: tuple[int, ...] | None
) -> list[Replication]:
    points = recorded_rounds((case.rounds,) if recorded is None else recorded, case.rounds)
    done = run_replications(
        case.users,
        chosen,
        task_of(case),
        seed=seed,
        indices=replications,
        jobs=1,
        points=points,
        start=case.start,
    )
    return sorted(done, key=lambda one: one.index)


def task_of(case: Case) -> PolicyTask:
    """Return the task of a policy."""
    if isinstance(case.users, World):
        return case.users.task(case.rounds)
    return PolicyTask(case.users.slots, case.users.items, case.rounds, case.users.position_bias)


def _apart(cell: Cell, case: Case, replication: int) -> FloatArray:
    """A policy for each segment, which sees that segment's visits and knows of no others.

    How many those are is drawn first; the visits of others do not matter to it, so it may have its own one after
    another.
    """
    world: World = case.users
    shares = np.array([segment.share for segment in world.segments])
    visits = stream_of(VISITS, cell.seed, replication).multinomial(case.rounds, shares / shares.sum())
    total = np.zeros(1)
    for number, (segment, rounds) in enumerate(zip(world.segments, visits, strict=True)):
        if rounds:
            users = MNL(position_bias=segment.position_bias, attractiveness=segment.attractiveness)
            seed = cell.seed + NEXT_SEGMENT * (number + 1)
            (one,) = _replicated(Case(users, int(rounds)), parse(cell.policy), seed, [replication], None)
            total += one.regret
    return total


def _watched(cell: Cell, case: Case, replication: int) -> tuple[FloatArray, float]:
    """Regret, and the part of the slots that newcomers took while no outcome of theirs was known."""
    seen: list[FloatArray] = []
    late = case.users.delay.rounds
    (one,) = _replicated(case, watched(cell.policy, late, seen), cell.seed, [replication], (late,))
    return one.regret, float(seen[-1][KNOWN_ITEMS:].sum() / seen[-1].sum())


Draw = Callable[..., Case]


def family(draw: Draw, **sizes: Any) -> partial[Case]:
    """A family with its sizes."""
    return partial(draw, **sizes)
