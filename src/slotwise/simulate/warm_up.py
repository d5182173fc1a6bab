"""`python -m slotwise.simulate.warm_up`: compile every policy into the cache, for whoever would rather wait now."""

from __future__ import annotations

import numpy as np

from slotwise.belief import posterior
from slotwise.choice import MNL
from slotwise.lists.per_decision import impose, pins
from slotwise.policies import Setting, absorb, choose, choose_several, learn, policies, policy
from slotwise.simulate.replicate import simulate
from slotwise.tally import Tally


def warm_up() -> None:
    """Play one round of every policy, and let the default one decide as a `Ranker` does, the bias known or not."""
    users = MNL(position_bias=[1.0, 0.5], attractiveness=[0.5, 0.4, 0.3])
    simulate(users, policies(), rounds=1, progress=False)
    default = next(entry.id for entry in policies() if entry.default)
    _decide(default, None)
    _decide(f"{default}-known", users.position_bias)


def _decide(id: str, position_bias: np.ndarray | None) -> None:
    rng, tally, nothing = np.random.default_rng(0), Tally.empty(2, 3), np.zeros(0, np.int64)
    acting = policy(id).start(Setting(2, 3, 1, position_bias, rules_per_decision=True))
    impose(acting.lists, np.ones(3), nothing, pins(2, 3))
    ranking = choose(acting, rng).copy()
    choose_several(acting, rng, np.zeros((1, 2), np.int64))
    learn(acting, ranking, 0)
    absorb(acting, tally.clicks, tally.passes)
    believed = posterior(tally, position_bias)
    _ = believed.estimate.intervals(), believed.probability_in_best_list


if __name__ == "__main__":
    warm_up()
