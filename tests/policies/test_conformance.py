"""Every registered policy through the same checks: the next one is tested by being registered.

What one decision after the other shows is tested as it is written; that it is compiled to the last bit is a test of its
own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from slotwise import MNL, PolicyTask, Tally, available_policies, simulate
from slotwise.click_models import PositionBased, regret
from slotwise.environments import Delay, World
from slotwise.policies import PolicySpec, choose
from slotwise.testing import check_policy
from tests.plain_python import uncompiled
from tests.registered_components import compiled_first, is_compiled_first, variants
from tests.statistical_assertions import assert_frequencies, assert_mean_is

every_policy = pytest.mark.parametrize("chosen", variants(), ids=str)
every_compiled_policy = pytest.mark.parametrize("chosen", compiled_first(variants()), ids=str)

#: for a policy that takes the slots to be in decreasing order, they are
ORDERED = MNL(position_bias=[1.0, 0.5, 0.25], attractiveness=[0.9, 0.1, 0.5, 0.1, 0.1, 0.7])


def _task(users: MNL, rounds: int) -> PolicyTask:
    return PolicyTask(users.slots, users.items, rounds, users.position_bias)


@every_policy
def test_the_checks_for_third_parties_pass(chosen: PolicySpec) -> None:
    check_policy(chosen)


@pytest.mark.usefixtures("interpreting")
@every_compiled_policy
def test_late_outcomes_in_any_order_do_no_harm(chosen: PolicySpec) -> None:
    users = PositionBased(position_bias=[1.0, 0.5], attraction=[0.6, 0.5, 0.3, 0.1])
    world = World(users=users, delay=Delay(mean_rounds=5.0, every=3))
    run = simulate(world, chosen, rounds=60, seed=1, jobs=1)[str(chosen)]
    assert run.final_regret[0] >= 0.0


@pytest.mark.usefixtures("interpreting")
@every_compiled_policy
def test_the_first_ranking_favours_no_item(chosen: PolicySpec) -> None:
    users = ORDERED
    shown: list[Counter[int]] = [Counter() for _ in range(users.slots)]
    rng = np.random.default_rng(3)
    for _ in range(1_200):
        for slot, item in enumerate(choose(chosen.start(_task(users, 100)), rng).tolist()):
            shown[slot][item] += 1
    for counts in shown:
        assert_frequencies(np.full(users.items, 1 / users.items), [counts[item] for item in range(users.items)])


@every_compiled_policy
def test_relabelling_the_items_changes_nothing(chosen: PolicySpec) -> None:
    """Regret has the same mean whether the best items are listed first or last: paired over independent seeds."""
    forwards, backwards = (
        MNL(position_bias=[1.0, 0.5], attractiveness=attractiveness)
        for attractiveness in ([0.9, 0.6, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.6, 0.9])
    )
    one, other = (
        simulate(users, chosen, rounds=60, replications=400, seed=seed)[str(chosen)].final_regret
        for users, seed in ((forwards, 10), (backwards, 11))
    )
    assert_mean_is(0.0, one - other)


@every_compiled_policy
def test_a_seed_fixes_everything_with_any_number_of_workers(chosen: PolicySpec) -> None:
    one, two, other = (
        simulate(ORDERED, chosen, rounds=300, replications=5, seed=seed, jobs=jobs)[str(chosen)]
        for seed, jobs in ((7, 1), (7, 2), (8, 2))
    )
    assert np.array_equal(one.regret, two.regret)
    assert one.tallies == two.tallies
    assert not np.array_equal(one.regret, other.regret)


@pytest.mark.parametrize("chosen", compiled_first(one for one in variants() if "soon" not in one.limits), ids=str)
def test_better_than_a_random_ranking(chosen: PolicySpec) -> None:
    """Twenty replications, each better than the expected regret of uniformly random rankings."""
    rounds = 3_000
    rng = np.random.default_rng(4)
    at_random = rounds * np.mean([regret(ORDERED, rng.permutation(ORDERED.items)[:3]) for _ in range(2_000)])
    run = simulate(ORDERED, chosen, rounds=rounds, replications=20, seed=5)[str(chosen)]
    assert run.final_regret.max() < at_random


PLAIN = MNL(position_bias=[1.0, 0.4, 0.7], attractiveness=[0.8, 0.3, 0.5, 0.2, 0.6])
PLAIN_ROUNDS = 150
WARM = Tally(np.arange(15).reshape(3, 5) % 4, np.full((3, 5), 7))


def _regret_and_tallies() -> dict[str, Any]:
    return _regret_and_tallies_of([str(chosen) for chosen in variants() if is_compiled_first(chosen)])


def _regret_and_tallies_of_others() -> dict[str, Any]:
    return _regret_and_tallies_of([str(chosen) for chosen in variants() if not is_compiled_first(chosen)])


def _regret_and_tallies_of(labels: list[str]) -> dict[str, Any]:
    found = {}
    for label in labels:
        run = simulate(PLAIN, label, rounds=PLAIN_ROUNDS, replications=3, seed=6, jobs=1)[label]
        found[label] = [run.regret.tolist(), [[t.clicks.tolist(), t.passes.tolist()] for t in run.tallies]]
    return found


def _regret_after_a_warm_start() -> dict[str, Any]:
    found = {}
    for label in [str(chosen) for chosen in variants() if "tally" not in chosen.limits]:
        run = simulate(PLAIN, label, rounds=20, seed=6, jobs=1, start=WARM)[label]
        found[label] = [run.regret.tolist(), run.tallies[0].clicks.tolist()]
    return found


@pytest.mark.parametrize(
    "answers",
    [
        _regret_and_tallies,
        pytest.param(_regret_and_tallies_of_others, marks=pytest.mark.long),
        pytest.param(_regret_after_a_warm_start, marks=pytest.mark.long),
    ],
    ids=["compiled first", "others", "after a warm start"],
)
def test_compiled_equals_plain(answers: Callable[[], dict[str, Any]]) -> None:
    """To the last bit: the same functions, uncompiled, in a Python of their own."""
    assert uncompiled(__name__, answers.__name__) == answers()


def test_one_is_the_default_and_the_papers_are_there() -> None:
    assert sum(entry.default for entry in available_policies()) == 1
    assert {entry.id for entry in available_policies()} >= {
        "epoch-ucb", "epoch-ucb-w", "epoch-ucb-upb", "epoch-ucb-upb-star", "mnl-bandit", "toprank", "pbm-ucb",
    }  # fmt: skip
