"""Features or not: policies that are told the features of each visitor beside the default and others that are not."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from research.contextual.contextual_mnl import ContextualMNL, ContextualTask, see_features
from slotwise.core.types import FloatArray
from slotwise.jit import interpreted
from slotwise.policies import default_policy
from slotwise.policies.policy_registry import parse
from slotwise.simulation import simulate

BIAS = (1.0, 0.6, 0.4)
ITEMS = 20
WEIGHTS = (3.0, -2.0, 1.0, 2.0)
#: how many of the four features belong to the items and stay, and what that means
KINDS = {
    0: "all drawn afresh for each visitor",
    2: "half the item's own, half drawn afresh",
    4: "all the item's own",
}


@dataclass(frozen=True)
class ContextualSize:
    """How much to run."""

    rounds: int = 5_000
    replications: int = 20
    seed: int = 1


QUICK = ContextualSize(rounds=60, replications=2)


def compared() -> list[str]:
    """The policies of the table: those that get features in every round, the default, and those without."""
    others = [
        "ofu-mnl",
        "ofu-mnl:constants=tuned",
        "ts-mnl",
        "thompson-sampling:bias=known",
        "pairwise-ucb",
        "toprank",
    ]
    ours = [str(default_policy(known_bias=True)), str(default_policy())]
    return [*filter(_sees_features, others), *ours, *itertools.filterfalse(_sees_features, others)]


def run(fixed: int, ids: list[str], size: ContextualSize, jobs: int = -1) -> dict[str, FloatArray]:
    """Final regret of each replication; all policies have the same visitors."""
    users = ContextualMNL(position_bias=BIAS, weights=WEIGHTS, items=ITEMS, fixed=fixed)
    runs = simulate(
        users, ids, rounds=size.rounds, replications=size.replications, seed=size.seed, jobs=jobs, record_at=1
    )
    return {id: runs[id].final_regret for id in ids}


def table(size: ContextualSize, jobs: int = -1) -> str:
    """What each policy loses in clicks per 1,000 rounds, by how many features stay."""
    ids, per = compared(), 1_000.0 / size.rounds
    found = {fixed: run(fixed, ids, size, jobs) for fixed in KINDS}
    lines = [
        f"Clicks lost per 1,000 rounds: the mean of {size.replications} runs of {size.rounds:,} rounds ± its standard "
        f"error; {len(BIAS)} slots, {ITEMS} items, {len(WEIGHTS)} features, seed {size.seed}.",
        "",
        "| policy | is told | " + " | ".join(KINDS.values()) + " |",
        "| --- | --- |" + " ---: |" * len(KINDS),
    ]
    for id in ids:
        cells = [f"{per * found[fixed][id].mean():.1f} ± {per * _error(found[fixed][id]):.1f}" for fixed in KINDS]
        lines.append(f"| `{id}` | {_told(id)} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _error(values: FloatArray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def _told(id: str) -> str:
    if _sees_features(id):
        return "all features"
    return "features that stay" if parse(id).pools else "none"


def _sees_features(id: str) -> bool:
    with interpreted():
        started = parse(id).start(ContextualTask(len(BIAS), ITEMS, 1, np.array(BIAS), context=len(WEIGHTS)))
    return see_features.is_answered_by(started)
