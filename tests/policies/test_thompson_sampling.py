"""Thompson sampling: lists are shown as often as the posterior has them best, and names that it replaced are errors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from slotwise import MNL, Goal, PolicyTask, Tally, get_policy, simulate
from slotwise.core.errors import UnknownName
from slotwise.core.types import NO_CLICK, Ranking
from slotwise.jit import interpreted
from slotwise.policies import choose, default_policy, learn
from slotwise.policies.interface import learn_clicks, set_segment
from slotwise.policies.thompson_sampling import ThompsonSampling
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


def _lists(visits: int) -> list[Ranking]:
    rng = np.random.default_rng(5)
    return [rng.permutation(6)[:4] for _ in range(visits)]


def _after(visits: list[list[int]], *, segments: int = 1, all_clicks: bool = True) -> ThompsonSampling:
    """Return the policy after visits to random lists of four out of six items, each with some slots clicked."""
    rng = np.random.default_rng(6)
    with interpreted():
        policy: ThompsonSampling = get_policy("thompson-sampling").start(PolicyTask(4, 6, 10, segments=segments))
        for number, (clicked, ranking) in enumerate(zip(visits, _lists(len(visits)), strict=True)):
            set_segment(policy, number % segments)
            choose(policy, rng)
            if all_clicks:
                learn_clicks(policy, ranking, np.isin(np.arange(4), clicked))
            else:
                learn(policy, ranking, clicked[0] if clicked else NO_CLICK)
    return policy


@pytest.mark.usefixtures("interpreting")
@pytest.mark.parametrize("segments", [1, 2])
def test_visits_with_at_most_one_click_are_learned_as_before(segments: int) -> None:
    visits = [[number % 5] if number % 5 < 4 else [] for number in range(40)]
    clicks, rounds = (_after(visits, segments=segments, all_clicks=each).posterior for each in (True, False))
    for field in ("shape", "rate", "position_bias"):
        assert np.array_equal(getattr(clicks, field), getattr(rounds, field))
    assert np.array_equal(clicks.counts.passes, rounds.counts.passes)


@pytest.mark.usefixtures("interpreting")
@pytest.mark.parametrize("segments", [1, 2])
def test_visits_with_several_clicks_are_learned_as_their_tally(segments: int) -> None:
    """Visits with one click or none have expected passes in place of a tally's, so every visit has several clicks."""
    visits = [[0, 1], [1, 3], [0, 1, 2], [0, 1, 2, 3], [2, 3]] * 4
    posterior = _after(visits, segments=segments).posterior
    tally = Tally.empty(4, 6)
    for clicked, ranking in zip(visits, _lists(len(visits)), strict=True):
        tally.count(ranking, clicked)
    assert np.array_equal(posterior.counts.clicks[0].sum(axis=0), tally.clicks.sum(axis=0))
    assert np.array_equal(posterior.counts.slot_clicks[0].sum(axis=0), tally.clicks.sum(axis=1))
    assert np.array_equal(posterior.counts.passes.sum(axis=0), tally.passes.T)
    assert posterior.counts.rounds == len(visits)


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
