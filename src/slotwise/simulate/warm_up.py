"""`python -m slotwise.simulate.warm_up`: compile every policy into the cache, for whoever would rather wait now."""

from __future__ import annotations

import numpy as np

from slotwise.belief import posterior
from slotwise.choice import MNL
from slotwise.lists.per_decision import pins
from slotwise.policies import (
    PolicyEntry,
    Setting,
    absorb,
    choose,
    choose_several,
    default_policy,
    impose_rules,
    learn,
    policies,
)
from slotwise.simulate.replicate import simulate
from slotwise.tally import Tally


def warm_up() -> None:
    """Play one round of every policy, and let the default one decide as a `Ranker` does, the bias known or not."""
    users = MNL(position_bias=[1.0, 0.5], attractiveness=[0.5, 0.4, 0.3])
    simulate(users, policies(), rounds=1, progress=False)
    _decide(default_policy(), None)
    _decide(default_policy(known_bias=True), users.position_bias)


def _decide(policy: PolicyEntry, position_bias: np.ndarray | None) -> None:
    rng, tally, nothing = np.random.default_rng(0), Tally.empty(2, 3), np.zeros(0, np.int64)
    started = policy.start(Setting(2, 3, 1, position_bias, rules_per_decision=True))
    impose_rules(started, np.ones(3), nothing, pins(2, 3))
    ranking = choose(started, rng).copy()
    choose_several(started, rng, np.zeros((1, 2), np.int64))
    learn(started, ranking, 0)
    absorb(started, tally.clicks, tally.passes)
    believed = posterior(tally, position_bias)
    _ = believed.estimate.intervals(), believed.probability_in_best_list


if __name__ == "__main__":
    warm_up()
