"""The loop for visitors with features: draw a visitor, show the features, choose, click or not, learn."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from research.contextual.contextual_mnl import ContextualMNL, see_features
from slotwise.click_models.mnl import draw_slot
from slotwise.core.policy_task import PolicyTask
from slotwise.core.tally import count_round
from slotwise.core.types import FloatArray, IntArray, Ranking
from slotwise.jit import inlined, jit, record
from slotwise.optimize import Goal
from slotwise.optimize.top_k import keep_if_top
from slotwise.policies.interface import choose, learn
from slotwise.policies.policy_registry import PolicySpec
from slotwise.simulation.environment_kinds import Episode, environment_of
from slotwise.simulation.loop import Trace, is_ranking, record_regret


@record
class Visits:
    """The current visitor."""

    position_bias: FloatArray
    #: slots by decreasing bias
    slot_order: IntArray
    weights: FloatArray
    #: items × features, the first of them the items' own
    features: FloatArray
    #: those alone, as they were drawn
    lasting: FloatArray
    #: per item: what its fixed features add to the logarithm of its attractiveness, and that attractiveness now
    fixed_part: FloatArray
    attractiveness: FloatArray
    #: room for the most attractive items
    top: IntArray


def first_visit(users: ContextualMNL, rng: np.random.Generator) -> Visits:
    """Draw the fixed features of the items, before the first visitor."""
    count = len(users.weights)
    lasting = rng.uniform(-1.0, 1.0, (users.items, users.fixed)) / math.sqrt(count)
    features = np.zeros((users.items, count))
    features[:, : users.fixed] = lasting
    return Visits(
        position_bias=users.position_bias,
        slot_order=np.argsort(-users.position_bias, kind="stable"),
        weights=users.weights,
        features=features,
        lasting=lasting,
        fixed_part=lasting @ users.weights[: users.fixed],
        attractiveness=np.zeros(users.items),
        top=np.zeros(users.slots, np.int64),
    )


@jit
def advance_contextual(
    policy: object,
    visits: Visits,
    rng: np.random.Generator,
    visit_rng: np.random.Generator,
    trace: Trace,
    rounds: int,
) -> bool:
    """Play `rounds` more rounds; return False if the policy returned something that is not a ranking.

    Visitors are drawn from `visit_rng`, so that all policies have the same ones; the policy and the clicks draw from
    `rng`.
    """
    total = trace.total_regret
    until_recorded = trace.record_at[trace.recorded]
    for now in range(trace.round + 1, trace.round + rounds + 1):
        draw_visitor(visits, visit_rng)
        see_features(policy, visits.features)
        ranking = choose(policy, rng)
        if not is_ranking(ranking, trace.clicks.shape[0], trace.shown, now, False):
            return False
        clicked = draw_slot(visits.position_bias, visits.attractiveness, ranking, False, rng)
        count_round(trace.clicks, trace.passes, ranking, clicked, False)
        total += best_reward(visits) - reward_of(visits, ranking)
        # last, because learning may change the policy's own array
        learn(policy, ranking, clicked)
        if now == until_recorded:
            until_recorded = record_regret(trace, total)
    trace.round += rounds
    trace.total_regret = total
    return True


@inlined
def draw_visitor(visits: Visits, rng: np.random.Generator) -> None:
    """Draw the features of a visitor, and compute the attractiveness of every item."""
    features, weights = visits.features, visits.weights
    items, count = features.shape
    fixed, scale = visits.lasting.shape[1], 1.0 / math.sqrt(count)
    for item in range(items):
        logarithm = visits.fixed_part[item]
        for feature in range(fixed, count):
            features[item, feature] = (2.0 * rng.random() - 1.0) * scale
            logarithm += features[item, feature] * weights[feature]
        visits.attractiveness[item] = math.exp(logarithm)


@inlined
def best_reward(visits: Visits) -> float:
    """Return the reward of the best list: the k-th most attractive item in the slot of the k-th largest bias."""
    attractiveness, top = visits.attractiveness, visits.top
    count = 0
    for item in range(len(attractiveness)):
        count = keep_if_top(attractiveness, item, top, count, len(top))
    weight = 0.0
    for place in range(len(top)):
        weight += visits.position_bias[visits.slot_order[place]] * attractiveness[top[place]]
    return weight / (1.0 + weight)


@inlined
def reward_of(visits: Visits, ranking: Ranking) -> float:
    """Return the probability that this visitor clicks."""
    weight = 0.0
    for slot in range(len(ranking)):
        weight += visits.position_bias[slot] * visits.attractiveness[ranking[slot]]
    return weight / (1.0 + weight)


@dataclass(frozen=True, eq=False)
class ContextualEnvironment:
    """A `ContextualMNL`: features are drawn again for every visitor."""

    users: ContextualMNL

    def task(self, rounds: int, goal: Goal | None) -> PolicyTask:
        """Return the task of a policy, without the fixed features, which a replication draws."""
        return self.users.task(rounds, goal)

    def check_policy(self, policy: PolicySpec) -> None:
        """Accept every policy; the policy itself checks its task."""

    def best_reward(self, task: PolicyTask) -> float:  # noqa: ARG002
        """Return 0: every visitor has another best list."""
        return 0.0

    def start(self, task: PolicyTask, rng: np.random.Generator) -> Episode:
        """Draw the fixed features from a generator of its own, so that every policy has the same visitors."""
        visit_rng = rng.spawn(1)[0]
        visits = first_visit(self.users, visit_rng)
        features = visits.lasting if visits.lasting.size else None
        return Episode(advance_contextual, visits, (rng, visit_rng), replace(task, features=features))


environment_of.register(ContextualMNL, ContextualEnvironment)
