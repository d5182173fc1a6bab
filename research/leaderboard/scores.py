"""The leaderboard: every policy on every kind of users, what it loses on average and in its worst runs.

A cell is a policy on a kind of users. Its numbers are those of `simulate` with the same users, rounds, replications and
seed; it is kept when it is done, and an interrupted run goes on from there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from research.leaderboard.leaderboard_environments import KINDS
from research.study_cache import load_all
from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.core.policy_task import PolicyTask
from slotwise.core.types import FloatArray
from slotwise.jit import interpreted
from slotwise.jit.kernel_cache import hash_of
from slotwise.paper.result_cache import ResultCache, program_hash, writable_folder
from slotwise.policies.policy_registry import available_policies, parse
from slotwise.simulation import simulate
from slotwise.simulation.progress import Bar
from slotwise.simulation.runner import PolicyLike, parallel

RESEARCH = Path(__file__).parents[1]
#: in ten runs of a hundred a policy loses more than this part of them: its tail
TAIL = 0.9
#: policies that would take hours
SLOW = ("graves-lai-tracking",)


@dataclass(frozen=True)
class BoardSize:
    """How much to run."""

    rounds: int = 5_000
    replications: int = 20
    seed: int = 1
    #: as it is written, which nobody has to wait for the compiler for; the numbers are the same
    plainly: bool = False


QUICK = BoardSize(rounds=15, replications=2, plainly=True)


@dataclass(frozen=True)
class BoardCell:
    """A policy on a kind of users."""

    kind: str
    policy: str
    size: BoardSize

    @property
    def made_for(self) -> dict[str, Any]:
        """All that its numbers depend on."""
        size = {name: value for name, value in vars(self.size).items() if name != "plainly"}
        return {"kind": self.kind, "policy": self.policy, **size, **_program()}

    @property
    def name(self) -> str:
        """Of its file."""
        return f"{self.kind}-{self.policy}"


@cache
def _program() -> dict[str, str]:
    # once, as it reads all sources
    files = [RESEARCH / "leaderboard" / "leaderboard_environments.py", *(RESEARCH / "pmed").glob("*.py")]
    return {"research": hash_of(files, RESEARCH), "program": program_hash()}


@cache
def _task(kind: str) -> PolicyTask:
    # nothing is drawn from these users, and so nothing need be compiled
    with interpreted():
        return KINDS[kind].make().task(100)


#: final regret of each replication, by kind and policy
Found = dict[tuple[str, str], FloatArray]


def cells(size: BoardSize, kinds: Sequence[str] = ()) -> list[BoardCell]:
    """Return a cell for every registered policy that can act in each environment, or in some environments."""
    for kind in kinds:
        validation.one_of("part", kind, list(KINDS))
    wanted = [kind for kind in KINDS if not kinds or kind in kinds]
    labels = [str(variant) for entry in available_policies() for variant in entry.bias_variants if entry.id not in SLOW]
    return [BoardCell(kind, label, size) for kind in wanted for label in labels if why_not(kind, label) is None]


def why_not(kind: str, id: str) -> str | None:
    """Why a policy cannot act on users of this kind, if it cannot."""
    try:
        parse(id).check(_task(kind))
    except InvalidInput as problem:
        return str(problem)
    return None


def run(todo: Sequence[BoardCell], out: Path, *, jobs: int = -1, progress: bool | None = None) -> Found:
    """Run the cells that are not in `out` yet, each in one process, and gather all of them."""
    import joblib

    folder = writable_folder(out / "cells")
    with Bar(progress) as bar:
        kept, missing = load_all(todo, folder, bar.say)
        found: Found = {(cell.kind, cell.policy): numbers["regret"] for cell, numbers in kept.items()}
        with bar.task("policies on users", len(todo), done=len(found)) as step:
            # processes, as threads would wait for each other's compiler
            for cell, regret in parallel(jobs)(joblib.delayed(_played)(cell) for cell in missing):
                # here, as the machines of a cluster may not share a disk
                ResultCache(folder, cell.made_for).save(cell.name, {"regret": regret})
                found[cell.kind, cell.policy] = regret
                step()
    # in the order of the plan, which is that of the table
    return {(cell.kind, cell.policy): found[cell.kind, cell.policy] for cell in todo}


def _played(cell: BoardCell) -> tuple[BoardCell, FloatArray]:
    return cell, play(cell.kind, cell.policy, cell.size)


def play(kind: str, chosen: PolicyLike, size: BoardSize) -> FloatArray:
    """Final regret of each replication; `chosen` may be a policy of one's own.

    >>> play("mnl", "toprank", BoardSize(rounds=20, replications=2, plainly=True)).shape
    (2,)
    """
    plainly: AbstractContextManager[None] = interpreted() if size.plainly else nullcontext()
    with plainly:
        results = simulate(
            KINDS[kind].make(),
            chosen,
            rounds=size.rounds,
            replications=size.replications,
            seed=size.seed,
            jobs=1,
            record_at=1,
            progress=False,
        )
    return next(iter(results.values())).final_regret


@dataclass(frozen=True)
class Scores:
    """What policies lose, in clicks per 1,000 rounds."""

    size: BoardSize
    kinds: list[str]
    #: by policy, in order of `standing`, then by kind; kinds where it cannot act are left out
    mean: dict[str, dict[str, float]]
    tail: dict[str, dict[str, float]]
    error: dict[str, dict[str, float]]

    def best(self, kind: str) -> str:
        """The policy that loses least there."""
        able = [id for id in self.mean if kind in self.mean[id]]
        return min(able, key=lambda one: self.mean[one][kind])

    def standing(self, id: str, kinds: Sequence[str]) -> float:
        """How many times what the best loses there it loses, a geometric mean; infinite if it cannot act on all."""
        if any(kind not in self.mean[id] for kind in kinds):
            return float("inf")
        ratios = [self.mean[id][kind] / max(self.mean[self.best(kind)][kind], 1e-9) for kind in kinds]
        return float(np.exp(np.mean(np.log(np.maximum(ratios, 1e-9)))))


def scores(found: Mapping[tuple[str, str], FloatArray], size: BoardSize) -> Scores:
    """Means, tails and standard errors; policies in the order of what they lose, those that act everywhere first."""
    kinds = list(dict.fromkeys(kind for kind, _ in found))
    ids = list(dict.fromkeys(id for _, id in found))
    per = 1_000.0 / size.rounds
    empty: list[dict[str, dict[str, float]]] = [{id: {} for id in ids} for _ in range(3)]
    made = Scores(size, kinds, *empty)
    for (kind, id), regret in found.items():
        made.mean[id][kind] = per * float(regret.mean())
        made.tail[id][kind] = per * float(np.quantile(regret, TAIL))
        made.error[id][kind] = per * float(regret.std(ddof=1)) / np.sqrt(len(regret)) if len(regret) > 1 else np.nan
    ordered = sorted(ids, key=lambda one: _order(made, one))
    return Scores(size, kinds, *({id: part[id] for id in ordered} for part in (made.mean, made.tail, made.error)))


def _order(made: Scores, id: str) -> tuple[int, float]:
    where = [kind for kind in made.kinds if kind in made.mean[id]]
    return len(made.kinds) - len(where), made.standing(id, where)


def relative(made: Scores, lost: Mapping[str, Mapping[str, float]]) -> Iterator[tuple[str, str, float]]:
    """Policy, kind, and how many times the least mean there its number is."""
    least = {kind: made.mean[made.best(kind)][kind] for kind in made.kinds}
    for id, by_kind in lost.items():
        for kind, value in by_kind.items():
            yield id, kind, value / max(least[kind], 1e-9)
