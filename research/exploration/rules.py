"""Rules of exploration on the hierarchical posterior: each draws an index of every item, and the best list is shown."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from slotwise.core.errors import InvalidInput
from slotwise.core.policy_task import PolicyTask
from slotwise.core.types import EMPTY, FloatArray, HalfLife, Ranking
from slotwise.jit import inlined, record
from slotwise.optimize.list_solver import arrange, rearrange
from slotwise.policies.indices.kl_poisson import upper_ratio
from slotwise.policies.interface import choose, learn, lists_for, update_from_tally, with_posterior
from slotwise.policies.policy_registry import register
from slotwise.posterior import (
    apply_cold_start_cap,
    draw_parameters,
    hierarchical_posterior,
    update,
    update_by_tally,
)

RULES = (
    "thompson",
    "sharpened",
    "item-clicks",
    "page-clicks",
    "epsilon",
    "exp",
    "optimistic",
    "relative",
    "clipped",
    "ordered",
    "relative-optimistic",
    "rounds",
    "mixed",
)


@with_posterior
@record
class ExplorationRule:
    posterior: Any
    lists: Any
    rule: int
    a: float
    b: float
    mean: FloatArray
    index: FloatArray
    ranking: Ranking


@register(
    "exploration-rule",
    name="Exploration rule",
    position_bias="either",
    citation="slotwise: candidates for the default",
    unknown_bias_options=("bias_spread",),
)
def exploration_rule(
    task: PolicyTask,
    *,
    rule: str = "thompson",
    a: float = 1.0,
    b: float = 1.0,
    half_life: HalfLife = None,
    bias_spread: float = 1.0,
    weights_spread: float = 1.0,
    keep: int = 1,
) -> ExplorationRule:
    if rule not in RULES:
        raise InvalidInput(f"rule must be one of {', '.join(RULES)}, got {rule!r}")
    return ExplorationRule(
        posterior=hierarchical_posterior(
            task, half_life=half_life, bias_spread=bias_spread, weights_spread=weights_spread, keep=keep
        ),
        lists=lists_for(task),
        rule=RULES.index(rule),
        a=float(a),
        b=float(b),
        mean=np.zeros(task.items),
        index=np.zeros(task.items),
        ranking=np.zeros(task.slots, np.int64),
    )


@inlined
def _sharp(shape: float, rate: float, kappa: float, rng: np.random.Generator) -> float:
    return rng.standard_gamma(kappa * shape) / (kappa * rate)


@choose.register(ExplorationRule)
def _choose(policy: ExplorationRule, rng: np.random.Generator) -> Ranking:
    posterior, mean, index, ranking = policy.posterior, policy.mean, policy.index, policy.ranking
    draw_parameters(posterior, rng)
    shape, rate = posterior.shape, posterior.rate
    items, rule, a, b = len(index), policy.rule, policy.a, policy.b
    most, total, clicks = 0.0, 0.0, 0.0
    for item in range(items):
        mean[item] = shape[item] / rate[item]
        most = max(most, rate[item])
        total += rate[item]
        clicks += shape[item]
    whole = 1.0
    if rule == 1 or rule == 9:
        whole = a
    elif rule == 3:
        whole = 1.0 + a * items / (items + clicks)
    elif rule == 11:
        whole = 1.0 + a * min(1.0, items * b / (1.0 + posterior.counts.rounds))
    elif rule == 12:
        whole = 1.0 if rng.random() < a else b
    for item in range(items):
        s, r = shape[item], rate[item]
        if rule == 4:
            index[item] = mean[item]
            if rng.random() < a:
                index[item] = _sharp(s, r, 1.0, rng)
        elif rule == 5:
            index[item] = mean[item]
            part = a if a > 0.0 else 1.0 / items
            if rng.random() < part:
                level = rng.standard_exponential()
                if rng.random() < 0.5:
                    index[item] *= upper_ratio(level / s)
                else:
                    index[item] *= math.exp(-math.sqrt(2.0 * level / s))
        elif rule == 2:
            index[item] = _sharp(s, r, 1.0 + a / (1.0 + s / b), rng)
        elif rule == 6:
            index[item] = max(mean[item], _sharp(s, r, a, rng))
        elif rule == 7:
            index[item] = _sharp(s, r, 1.0 + (a - 1.0) * (r / most) ** b, rng)
        elif rule == 10:
            index[item] = max(mean[item], _sharp(s, r, 1.0 + (a - 1.0) * (r / most) ** b, rng))
        elif rule == 8:
            level = a * math.log(max(1.0, b * total / (items * r)))
            bound = mean[item] * upper_ratio(level / s) if level > 0.0 else mean[item]
            index[item] = min(bound, _sharp(s, r, 1.0, rng))
        else:
            index[item] = _sharp(s, r, whole, rng)
    arrange(policy.lists, index, posterior.position_bias, ranking, rng)
    apply_cold_start_cap(posterior, policy.lists, index, ranking, rng)
    if rule == 9:
        for slot in range(len(ranking)):
            if ranking[slot] != EMPTY:
                index[ranking[slot]] = mean[ranking[slot]]
        rearrange(policy.lists, index, posterior.position_bias, ranking, rng)
    return ranking


@learn.register(ExplorationRule)
def _learn(policy: ExplorationRule, ranking: Ranking, clicked: int) -> None:
    update(policy.posterior, ranking, clicked)


@update_from_tally.register(ExplorationRule)
def _update_from_tally(policy: ExplorationRule, clicks: FloatArray, passes: FloatArray) -> None:
    update_by_tally(policy.posterior, clicks, passes)
