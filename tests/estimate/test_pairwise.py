from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from slotwise import MNL, NO_CLICK, simulate
from slotwise.bounds.pairwise import kl_bound
from slotwise.choice import draw
from slotwise.estimate.pairwise import PairwiseModel, improve, pairwise_model, weigh_evidence
from slotwise.typing import FloatArray
from tests.chance import FALSE_ALARM, assert_mean_is


def _model(clicks: FloatArray, trials: FloatArray, steps: int = 60) -> PairwiseModel:
    model = pairwise_model(*clicks.shape)
    model.clicks[:], model.trials[:] = clicks, trials
    for _ in range(steps):
        improve(model)
    weigh_evidence(model)
    return model


def _regression(clicks: FloatArray, trials: FloatArray, model: PairwiseModel) -> tuple[FloatArray, FloatArray]:
    """Score and inverse information of the logistic regression at the model's estimate, as one would write it down."""
    slots, items = clicks.shape
    rows, won, of = [], [], []
    for slot in range(slots):
        for item in range(items):
            rows.append(np.r_[np.eye(items)[item], np.eye(slots)[slot]])
            won.append(clicks[slot, item])
            of.append(trials[slot, item])
    # the trial of its own that every item and every slot is given
    for row in np.eye(items + slots):
        rows.append(row)
        won.append(0.5)
        of.append(1.0)
    design, counts = np.array(rows), np.array(of)
    log_odds = design @ np.log(np.r_[model.attractiveness, model.position_bias])
    p = 1 / (1 + np.exp(-log_odds))
    information = design.T @ (design * (counts * p * (1 - p))[:, None])
    return design.T @ (np.array(won) - counts * p), np.linalg.inv(information)


TALLIES = {
    "everything seen": ([[30, 12, 5], [8, 21, 9]], [[80, 60, 55], [60, 70, 40]]),
    "an item never shown": ([[30, 12, 0], [8, 21, 0]], [[80, 60, 0], [60, 70, 0]]),
    "items that never change their slots": ([[300, 0, 0], [0, 210, 0]], [[800, 0, 0], [0, 700, 0]]),
    "no click at all": ([[0, 0, 0], [0, 0, 0]], [[8, 6, 5], [6, 7, 4]]),
    "nothing but clicks": ([[9, 1, 2], [3, 3, 3]], [[9, 1, 2], [3, 3, 3]]),
    "nothing": ([[0, 0, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, 0]]),
}


@pytest.mark.usefixtures("interpreting")
@pytest.mark.parametrize("name", TALLIES)
def test_the_estimate_is_that_of_logistic_regression(name: str) -> None:
    clicks, trials = (np.array(counts, float) for counts in TALLIES[name])
    model = _model(clicks, trials)
    score, covariance = _regression(clicks, trials, model)
    assert score == pytest.approx(np.zeros(5), abs=1e-8)
    odds = np.outer(model.position_bias, model.attractiveness)
    for slot in range(2):
        for item in range(3):
            pair = np.r_[np.eye(3)[item], np.eye(2)[slot]]
            variance = pair @ covariance @ pair
            wanted = (1 + odds[slot, item]) ** 2 / (odds[slot, item] * variance)
            assert model.effective_trials[slot, item] == pytest.approx(wanted, rel=1e-6)


def test_a_pair_that_was_shown_counts_its_own_trials_and_one_that_was_not_next_to_none() -> None:
    """Items that never changed their slots say nothing of how the slots compare, however often they were shown."""
    clicks, trials = np.diag([3_000.0, 2_000.0]), np.diag([10_000.0, 9_000.0])
    effective = _model(clicks, trials).effective_trials
    assert effective.diagonal() == pytest.approx(trials.diagonal(), rel=1e-3)
    assert effective[0, 1] < 10
    assert effective[1, 0] < 10
    # a few rounds the other way round settle both
    clicks += [[0, 20], [25, 0]]
    trials += [[0, 100], [100, 0]]
    effective = _model(clicks, trials).effective_trials
    assert min(effective[0, 1], effective[1, 0]) > 180


def test_one_step_a_round_keeps_up_with_the_estimate() -> None:
    users = MNL(position_bias=[0.5, 1.0, 0.2], attractiveness=[0.3, 0.9, 0.1, 0.6])
    rng = np.random.default_rng(1)
    model = pairwise_model(3, 4)
    for now in range(2_000):
        ranking = rng.permutation(4)[:3]
        clicked = draw(users, ranking, rng)
        if clicked == NO_CLICK:
            model.trials[np.arange(3), ranking] += 1
        else:
            model.trials[clicked, ranking[clicked]] += 1
            model.clicks[clicked, ranking[clicked]] += 1
        improve(model)
        if now > 100 and now % 100 == 0:
            settled = _model(model.clicks, model.trials)
            odds, wanted = (np.outer(m.position_bias, m.attractiveness) for m in (model, settled))
            standard_error = (1 + wanted) / np.sqrt(wanted * settled.effective_trials)
            assert (np.abs(np.log(odds / wanted)) < standard_error / 10).all()


def test_the_scores_have_mean_zero_under_a_policy_that_chooses_by_them() -> None:
    """Σ (N - nγ/(1+γ)) over the pairs of an item and of a slot, at the true γ."""
    users = MNL(position_bias=[1.0, 0.3], attractiveness=[0.8, 0.5, 0.3])
    odds = np.outer(users.position_bias, users.attractiveness)
    scores = []
    for tally in simulate(users, "pairwise-ucb-upb", rounds=150, replications=3_000, seed=3)[
        "pairwise-ucb-upb"
    ].tallies:
        score = tally.clicks - (tally.clicks + tally.passes) * odds / (1 + odds)
        scores.append(np.r_[score.sum(axis=0), score.sum(axis=1)])
    assert_mean_is(0.0, np.array(scores))


@pytest.mark.parametrize("policy", ["toprank", "pairwise-ucb-upb"])
def test_errors_are_no_larger_than_the_variance_says_and_bounds_hold(policy: str) -> None:
    """Over all pairs, shown or not: E (log γ̂/γ)²/v ≤ 1, and the bound at level c is below γ with chance e^-c at most.

    Replications are independent: what they have on average is compared with its limit by a z-test that gives a false
    alarm with probability `FALSE_ALARM`. The variance is not to be far too large either.
    """
    users = MNL(position_bias=[1.0, 0.6, 0.3], attractiveness=[0.6, 0.4, 0.3, 0.2, 0.1])
    odds, level = np.outer(users.position_bias, users.attractiveness), 1.0
    found = []
    for tally in simulate(users, policy, rounds=1_500, replications=200, seed=4)[policy].tallies:
        model = _model(tally.clicks.astype(float), (tally.clicks + tally.passes).astype(float))
        estimate, trials = np.outer(model.position_bias, model.attractiveness), model.effective_trials
        variance = (1 + estimate) ** 2 / (estimate * trials)
        missed = [
            kl_bound(n * g / (1 + g), n / (1 + g), level, math.inf) < true
            for n, g, true in zip(trials.ravel(), estimate.ravel(), odds.ravel(), strict=True)
        ]
        found.append([np.mean(np.log(estimate / odds) ** 2 / variance), np.mean(missed)])
    error = np.std(found, axis=0, ddof=1) / math.sqrt(len(found))
    square, share = np.mean(found, axis=0)
    allowed = stats.norm.isf(FALSE_ALARM) * error
    assert 0.5 < square < 1.0 + allowed[0]
    assert share < math.exp(-level) + allowed[1]
