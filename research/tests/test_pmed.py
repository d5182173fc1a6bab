from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from research.pmed.policy import estimate
from research.pmed.trial_lists import find_shares
from slotwise import PolicyTask, get_policy, simulate
from slotwise.click_models import PositionBased, draw_clicks
from slotwise.core.errors import InvalidInput
from slotwise.environments import paper_problems
from slotwise.policies import choose
from slotwise.policies.interface import learn_clicks
from tests.statistical_assertions import assert_mean_is_below

ROOT = Path(__file__).parents[2]
#: two slots and five items far apart, like those of the paper's synthetic comparison, whose text could not be had
USERS = PositionBased(position_bias=[1.0, 0.6], attraction=[0.95, 0.8, 0.65, 0.5, 0.35])


@pytest.mark.usefixtures("interpreting")
def test_estimates_are_those_of_the_largest_likelihood() -> None:
    attraction, bias = np.array([0.8, 0.5, 0.3, 0.1]), np.array([1.0, 0.7, 0.4])
    shows = np.full((4, 3), 1_000.0)
    clicks = shows * np.outer(attraction, bias)
    found, found_bias = np.full(4, 0.5), np.ones(3)
    for _ in range(60):
        estimate(clicks, shows, found, found_bias)
    assert found.tolist() == pytest.approx(attraction.tolist(), rel=1e-6)
    assert found_bias.tolist() == pytest.approx(bias.tolist(), rel=1e-6)


@pytest.mark.usefixtures("interpreting")
def test_every_pair_is_shown_often_enough_and_every_list_as_often_as_it_is_owed() -> None:
    started = get_policy("pmed", alpha=2.0).start(PolicyTask(2, 5, 400))
    rng, clicks = np.random.default_rng(1), np.zeros(2, bool)
    for _ in range(400):
        ranking = choose(started, rng).copy()
        draw_clicks(USERS, ranking, clicks, rng)
        learn_clicks(started, ranking, clicks)
    # a loop is no longer than the lists there are, and what a loop owes the next may have shown
    longest = len(started.loop)
    assert started.shows.min() >= 2.0 * math.sqrt(math.log(400 - longest))
    shares, order = started.trial.shares, started.by_rank
    assert shares.sum() > 0.0
    for number in np.flatnonzero(shares):
        shown = order[started.trial.lists[number]]
        had = min(started.shows[item, slot] for slot, item in enumerate(shown))
        in_loop = started.loop[: started.count].tolist()
        assert had >= shares[number] * math.log(400) - longest or shown.tolist() in in_loop


@pytest.mark.long
def test_regret_is_near_the_papers_limit_and_below_that_of_toprank() -> None:
    """Asymptotic optimality: what it loses between 5,000 and 20,000 rounds is about C log 4, C of the limit."""
    run = simulate(USERS, ["pmed", "toprank"], rounds=20_000, replications=12, seed=1, record_at=[5_000, 20_000])
    assert_mean_is_below(run["pmed"].final_regret, run["toprank"].final_regret)
    started = get_policy("pmed").start(PolicyTask(2, 5, 100))
    trial = started.trial
    trial.attraction[:], trial.position_bias[:] = USERS.attraction, USERS.position_bias

    limit = find_shares(trial)
    gained = run["pmed"].regret[:, 1] - run["pmed"].regret[:, 0]
    error = gained.std(ddof=1) / math.sqrt(len(gained))
    # twice the limit is allowed for: lists are owed by estimates, and loops show each at least once
    assert gained.mean() - 4.0 * error < 2.0 * limit * math.log(4.0)


def test_more_items_than_it_can_do_with_are_refused() -> None:
    with pytest.raises(InvalidInput, match="pmed must have at most 100 items, or it would take too long, got 101"):
        get_policy("pmed").start(PolicyTask(2, 101, 100))


def test_alpha_is_positive() -> None:
    with pytest.raises(InvalidInput, match="alpha must be"):
        get_policy("pmed", alpha=0).start(PolicyTask(1, 2, 10))


@pytest.mark.long
def test_it_passes_the_tests_of_every_registered_policy() -> None:
    """`-p research` imports the package, which registers the policy, before the tests are collected."""
    files = [
        f"tests/policies/test_{name}.py" for name in ("conformance", "update_from_tally", "goals", "policy_registry")
    ]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "research", "-p", "no:cacheprovider", *files],
        env={**os.environ, "SLOTWISE_TEST_ONLY": "pmed", "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5_000:]
    assert "PASSED" in done.stdout or "passed" in done.stdout


@pytest.mark.usefixtures("interpreting")
def test_regret_is_the_recorded_one() -> None:
    run = simulate(paper_problems()["b"].users, "pmed", rounds=150, replications=1, seed=9)["pmed"]
    assert run.mean == pytest.approx(7.19439111, rel=1e-8)
