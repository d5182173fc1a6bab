"""Thompson sampling: lists are shown as often as the posterior has them best, and names that it replaced are errors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from slotwise import MNL, Goal, PolicyTask, get_policy, simulate
from slotwise.core.errors import UnknownName
from slotwise.jit import interpreted
from slotwise.policies import choose, default_policy
from tests.statistical_assertions import assert_frequencies

DECISIONS = 4_000


@pytest.mark.usefixtures("interpreting")
@pytest.mark.parametrize("boldness", [1.0, 4.0])
def test_items_are_shown_as_often_as_a_draw_has_them_best(boldness: float) -> None:
    """With one slot and equal exposure, the share of the first item's draw is Beta(b(s + N_0), b(s + N_1))."""
    with interpreted():
        policy = get_policy("thompson-sampling", bias="known", boldness=boldness).start(
            PolicyTask(1, 2, 10, np.array([0.7]))
        )
    posterior, rng = policy.posterior, np.random.default_rng(1)
    posterior.counts.clicks[0, 0] = 12.0, 8.0
    posterior.counts.passes[0, :, 0] = 40.0
    posterior.counts.item_rounds[:] = posterior.counts.rounds = 52.0
    posterior.refit_at = np.inf
    shown = np.zeros(2)
    for _ in range(DECISIONS):
        shown[choose(policy, rng)[0]] += 1
    clicks = boldness * (posterior.items.shape + np.array([12.0, 8.0]))
    chance = stats.beta.sf(0.5, *clicks)
    assert_frequencies([chance, 1.0 - chance], shown)


def test_it_is_the_default_with_known_and_unknown_bias() -> None:
    assert str(default_policy()) == "thompson-sampling"
    assert str(default_policy(known_bias=True)) == "thompson-sampling:bias=known"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("random-bound", "thompson-sampling"),
        ("posterior-sampling", "thompson-sampling"),
        ("random-bound-known", "thompson-sampling:bias=known"),
    ],
)
def test_a_policy_that_it_replaced_is_refused_with_the_new_name(old: str, new: str) -> None:
    with pytest.raises(UnknownName, match=rf"unknown policy '{old}': did you mean {new}\?"):
        get_policy(old)


def test_regret_under_a_goal_grows_ever_slower() -> None:
    """Values decide, so lists are no longer sorted by attractiveness; the last half must cost less than a third."""
    users = MNL(position_bias=[1.0, 0.5], attractiveness=[0.4, 0.3, 0.2, 0.1])
    goal = Goal(values=[1.0, 3.0, 0.5, 8.0])
    run = simulate(
        users, "thompson-sampling", rounds=20_000, replications=4, seed=1, goal=goal, record_at=(10_000, 20_000)
    )["thompson-sampling"]
    first, all_ = run.regret.mean(axis=0)
    assert 0.0 < all_ - first < all_ / 3.0
