"""The comparison with simpler methods: its pages, its methods, and the files that it writes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from research import alternatives
from research.alternatives import ABTest, page
from slotwise import NO_CLICK
from slotwise.click_models import reward
from slotwise.core.policy_task import PolicyTask
from slotwise.jit import interpreted
from slotwise.policies import default_policy


@pytest.mark.parametrize("rate", alternatives.CLICK_RATES)
def test_a_random_list_has_about_the_click_rate_asked_for(rate: float) -> None:
    users, rng = page(20, 5, rate, seed=1), np.random.default_rng(1)
    rewards = [reward(users, rng.permutation(20)[:5]) for _ in range(400)]
    # S/(1+S) is concave, so the mean is a little below the rate; its standard error is below 3 %
    assert 0.85 * rate < np.mean(rewards) < 1.1 * rate


@pytest.mark.parametrize("method", alternatives.methods(0.03))
def test_a_method_shows_distinct_items(method: str) -> None:
    policy, rng = alternatives.methods(0.03)[method](PolicyTask(5, 20, rounds=40)), np.random.default_rng(2)
    for round in range(40):
        ranking = policy.choose(rng)
        assert len(set(ranking.tolist())) == 5
        policy.learn(ranking, NO_CLICK if round % 3 else 0)


def test_an_ab_test_ends_with_the_list_that_had_the_most_clicks() -> None:
    policy, rng = ABTest(PolicyTask(2, 8, rounds=200)), np.random.default_rng(3)
    for round in range(100):
        policy.learn(policy.choose(rng), 0 if round % alternatives.LISTS == 7 else NO_CLICK)
    assert policy.choose(rng).tolist() == policy.lists[7].tolist()


def test_it_writes_results_with_the_policy_that_they_are_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alternatives, "PAGES", ((4, 2),))
    monkeypatch.setattr(alternatives, "CLICK_RATES", (0.1,))
    with interpreted():
        alternatives.write(tmp_path, replications=2, scale=0.0005)
    rows = json.loads((tmp_path / "traffic.json").read_text())["rows"]
    assert [row["items"] for row in rows] == [4]
    found = json.loads((tmp_path / "alternatives.json").read_text())
    assert found["policy"] == str(default_policy())
    assert [found["click_rate"] for found in found["pages"]] == [0.03, 0.3]
    assert all(set(found["share_of_best"]) == {"slotwise", *alternatives.methods(0.3)} for found in found["pages"])
    assert (tmp_path / "alternatives.svg").stat().st_size > 1_000
