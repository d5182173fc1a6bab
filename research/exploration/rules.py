"""Rules of exploration on the hierarchical posterior: each draws an index of every item, and the best list is shown."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from research.exploration.kl_poisson import upper_ratio
from slotwise.core.errors import InvalidInput
from slotwise.core.policy_task import PolicyTask
from slotwise.core.types import EMPTY, FloatArray, Ranking
from slotwise.jit import inlined, record
from slotwise.optimize.list_solver import arrange
from slotwise.policies.interface import choose, learn, lists_for, update_from_tally, with_posterior
from slotwise.policies.policy_registry import register
from slotwise.posterior import (
    apply_cold_start_cap,
    draw_parameters,
    hierarchical_posterior,
    update,
    update_by_tally,
)

#: how the index of an item is drawn; a and b are the constants of a rule
RULES = ("item-clicks", "page-clicks", "rounds", "relative", "mixed", "optimistic", "clipped", "ordered")


@with_posterior
@record
class ExplorationRule:
    """Thompson sampling with another index in place of a draw of attractiveness."""

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
)
def exploration_rule(task: PolicyTask, *, rule: str, a: float = 1.0, b: float = 1.0) -> ExplorationRule:
    """Return the policy of one of `RULES`."""
    if rule not in RULES:
        raise InvalidInput(f"rule must be one of {', '.join(RULES)}, got {rule!r}")
    return ExplorationRule(
        posterior=hierarchical_posterior(task),
        lists=lists_for(task),
        rule=RULES.index(rule),
        a=float(a),
        b=float(b),
        mean=np.zeros(task.items),
        index=np.zeros(task.items),
        ranking=np.zeros(task.slots, np.int64),
    )


@inlined
def _draw(shape: float, rate: float, boldness: float, rng: np.random.Generator) -> float:
    return rng.standard_gamma(boldness * shape) / (boldness * rate)


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
    boldness = 1.0
    if rule == 1:
        boldness = 1.0 + a * items / (items + clicks)
    elif rule == 2:
        boldness = 1.0 + a * min(1.0, items * b / (1.0 + posterior.counts.rounds))
    elif rule == 4:
        boldness = 1.0 if rng.random() < a else b
    for item in range(items):
        s, r = shape[item], rate[item]
        if rule == 0:
            index[item] = _draw(s, r, 1.0 + a / (1.0 + s / b), rng)
        elif rule == 3:
            index[item] = _draw(s, r, 1.0 + (a - 1.0) * r / most, rng)
        else:
            index[item] = _draw(s, r, boldness, rng)
        if rule == 5:
            index[item] = max(mean[item], index[item])
        elif rule == 6:
            # the bound of MOSS and KL-UCB++ with evidence in place of rounds: log⁺(T/(Jn))
            level = a * math.log(max(1.0, total / (items * r)))
            bound = mean[item] * upper_ratio(level / s) if level > 0.0 else mean[item]
            index[item] = min(bound, index[item])
    arrange(policy.lists, index, posterior.position_bias, ranking, rng)
    apply_cold_start_cap(posterior, policy.lists, index, ranking, rng)
    if rule == 7:
        _order_by_mean(policy, rng)
    return ranking


@inlined
def _order_by_mean(policy: ExplorationRule, rng: np.random.Generator) -> None:
    """Arrange the selected items again, by their means."""
    index, ranking = policy.index, policy.ranking
    for item in range(len(index)):
        index[item] = 0.0
    for slot in range(len(ranking)):
        if ranking[slot] != EMPTY:
            index[ranking[slot]] = policy.mean[ranking[slot]]
    arrange(policy.lists, index, policy.posterior.position_bias, ranking, rng)


@learn.register(ExplorationRule)
def _learn(policy: ExplorationRule, ranking: Ranking, clicked: int) -> None:
    update(policy.posterior, ranking, clicked)


@update_from_tally.register(ExplorationRule)
def _update_from_tally(policy: ExplorationRule, clicks: FloatArray, passes: FloatArray) -> None:
    update_by_tally(policy.posterior, clicks, passes)
