"""Policies in worlds that change, from outside: what they are told, what they may show, and what is counted."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from slotwise import EMPTY, MNL, Goal, PolicyTask, get_policy, simulate
from slotwise.click_models import click_probabilities, regret
from slotwise.core.errors import InvalidInput, InvalidRanking
from slotwise.core.types import FloatArray, IntArray, Ranking
from slotwise.environments import Cycle, Delay, Jump, Segment, World
from slotwise.jit import interpreted
from slotwise.policies import choose, end_epoch, impose_rules, learn
from tests.simulation.worlds import BIAS, OTHER_TASTES, TASTES, Oracle, Telling, all_at_once, holding
from tests.statistical_assertions import assert_frequencies, assert_mean_is

#: the loop is compiled for each: one that is small, one that shows a list for an epoch, one that decides in every round
one_policy = pytest.mark.parametrize(
    "policy",
    [holding, pytest.param("epoch-ucb", marks=pytest.mark.long), pytest.param("pbm-ucb", marks=pytest.mark.long)],
    ids=["holding", "epoch-ucb", "pbm-ucb"],
)


def _kept(make: Callable[[PolicyTask], Any]) -> tuple[list[Any], Callable[[PolicyTask], Any]]:
    """What a function makes, in order: the first plays one round before anything else."""
    made: list[Any] = []

    def start(task: PolicyTask) -> Any:
        made.append(make(task))
        return made[-1]

    return made, start


@pytest.mark.usefixtures("interpreting")
def test_where_nothing_changes_numbers_are_those_of_the_users(small: MNL) -> None:
    world = World(position_bias=small.position_bias, attractiveness=small.attractiveness)
    arguments: dict[str, Any] = {"rounds": 300, "replications": 2, "seed": 3}
    plain, lived = (simulate(users, ["epoch-ucb", "toprank"], **arguments) for users in (small, world))
    for label, run in plain.items():
        assert np.array_equal(run.regret, lived[label].regret)
        assert run.tallies == lived[label].tallies


@one_policy
def test_compiled_is_plain(policy: Any) -> None:
    def regret_and_tallies() -> Any:
        results = simulate(all_at_once(), policy, rounds=200, replications=2, seed=5, record_at=[100, 200])
        (run,) = results.values()
        return run.regret.tolist(), run.tallies

    with interpreted():
        plain = regret_and_tallies()
    assert plain == regret_and_tallies()


@one_policy
def test_regret_never_falls_and_numbers_depend_on_the_seed_only(policy: Any) -> None:
    arguments: dict[str, Any] = {"rounds": 200, "replications": 3, "seed": 5, "record_at": [100, 200]}
    (alone,), (together,) = (simulate(all_at_once(), policy, jobs=jobs, **arguments).values() for jobs in (1, 2))
    assert (np.diff(alone.regret, axis=1) > 0.0).all()
    assert np.array_equal(alone.regret, together.regret)
    assert alone.tallies == together.tallies
    assert [tally.rounds for tally in alone.tallies] == [200] * 3
    (other,) = simulate(all_at_once(), policy, **(arguments | {"seed": 6})).values()
    assert not np.array_equal(other.regret, alone.regret)


SCHEDULED = World(
    position_bias=BIAS,
    segments=[Segment(0.7, TASTES[0]), Segment(0.3, TASTES[1], position_bias=[0.3, 0.9, 0.5])],
    delay=Delay(mean_rounds=4.0),
    arrivals=[0, 0, 0, 10, 5],
    departures=[40, 60, 50, None, 30],
    drift=[Jump(20, OTHER_TASTES), Jump(70, TASTES)],
    cycle=Cycle(amplitude=0.5, period=33.0, phases=[0.0, 0.2, 0.4, 0.6, 0.8]),
    step=4,
)


def test_the_oracle_has_no_regret() -> None:
    """At times there are fewer items than slots, and from round 60 on only one."""
    run = simulate(SCHEDULED, lambda task: Oracle(SCHEDULED), rounds=100, replications=3)["<lambda>"]
    assert np.abs(run.regret).max() < 1e-12


@pytest.mark.parametrize("wrong", ["segment", "round"])
def test_the_oracle_of_another_segment_or_time_has_regret(wrong: str) -> None:
    class Mistaken(Oracle):
        def attractiveness(self) -> FloatArray:
            if wrong == "segment":
                tastes: FloatArray = self.world.attractiveness[1 - self.segment]
                return tastes
            return self.world.attractiveness[self.segment]  # type: ignore[no-any-return]

    run = simulate(SCHEDULED, lambda task: Mistaken(SCHEDULED), rounds=100)["<lambda>"]
    assert run.mean > 1.0


def test_regret_is_against_the_best_list_of_each_segment() -> None:
    """Of a list that never changes, by shares of the visits that are told."""
    shown, world = [1, 0, 2], World(position_bias=BIAS, segments=[Segment(0.7, TASTES[0]), Segment(0.3, TASTES[1])])

    class Fixed(Telling):
        def choose(self, rng: np.random.Generator) -> Ranking:
            self.segments.append(self.segment)
            return np.array(shown)

        def learn(self, ranking: Ranking, clicked: int) -> None: ...

    made, start = _kept(Fixed)
    run = simulate(world, start, rounds=2_000)["start"]
    visits = np.bincount(made[-1].segments)
    users = [MNL(position_bias=BIAS, attractiveness=tastes) for tastes in TASTES]
    lost = [click_probabilities(one, shown)[-1] - click_probabilities(one, one.best_ranking())[-1] for one in users]
    assert run.mean == pytest.approx(visits @ lost)
    assert_frequencies([0.7, 0.3], visits)
    clicks = np.array([[tally.clicks[k, j] for k, j in enumerate(shown)] for tally in run.tallies])
    wanted = sum(visits[s] * click_probabilities(users[s], shown)[:-1] for s in range(2))
    error = np.sqrt(wanted)
    # Poisson is wider than what is drawn; 4.3 standard errors are exceeded once in 20,000 times, by each of three
    assert (np.abs(clicks[0] - wanted) < 4.3 * error).all()


def _due(delay: Delay, at: int) -> int:
    return -(-(at + 1 + delay.rounds) // delay.every) * delay.every


@pytest.mark.parametrize(
    "delay", [Delay(), Delay(rounds=1), Delay(rounds=100), Delay(every=7), Delay(rounds=5, every=10)], ids=str
)
def test_every_outcome_is_delivered_once_and_when_it_is_due(delay: Delay) -> None:
    world = World(position_bias=BIAS, attractiveness=np.linspace(0.1, 0.5, 12), delay=delay)
    made, start = _kept(Telling)
    simulate(world, start, rounds=400)
    telling = made[-1]
    # what is told before round 400 is not, as there is none; at once is at once
    assert telling.told == [(at, _due(delay, at)) for at in range(400) if delay == Delay() or _due(delay, at) < 400]
    assert telling.settled == [at for at, _ in telling.told if at in set(telling.expected)]
    assert telling.expected == ([] if delay == Delay() else list(range(400)))


def test_outcomes_with_random_delays_arrive_once_in_order_in_their_segment() -> None:
    """The delay of a round is geometric from 0 on: of 700 rounds that have been told by then, all but e⁻⁶⁰."""
    world = World(
        position_bias=BIAS,
        segments=[Segment(0.5, np.linspace(0.1, 0.5, 12)), Segment(0.5, np.linspace(0.1, 0.5, 12))],
        delay=Delay(mean_rounds=5.0),
    )
    made, start = _kept(Telling)
    simulate(world, start, rounds=1_000, seed=2)
    telling = made[-1]
    rounds, told = np.array(telling.told).T
    assert len(set(rounds)) == len(rounds)
    assert set(range(700)) <= set(rounds)
    assert (told > rounds).all()
    assert (np.diff(told) >= 0).all()
    assert all(a < b for a, b, same in zip(rounds, rounds[1:], np.diff(told) == 0, strict=False) if same)
    assert all(of == to for of, to in telling.told_to)
    assert set(telling.settled) <= set(telling.expected)
    delays = (told - rounds - 1)[rounds < 700]
    assert_mean_is(5.0, delays)
    assert_mean_is(30.0, (delays - 5.0) ** 2)


@pytest.mark.usefixtures("interpreting")
def test_nothing_is_learned_within_the_delay(small: MNL) -> None:
    """While nothing is known, every list is as likely as any other."""
    late = World(position_bias=BIAS, attractiveness=small.attractiveness, delay=Delay(rounds=50, every=7))
    found = simulate(late, "epoch-ucb", rounds=50, replications=400, seed=1)["epoch-ucb"].final_regret
    uniform = np.mean([regret(small, shown) for shown in itertools.permutations(range(4), 3)])
    assert_mean_is(50 * uniform, found)


@pytest.mark.long
def test_a_longer_delay_costs_more(small: MNL) -> None:
    costs = []
    for rounds in (0, 500, 2_000):
        delay = Delay(rounds=rounds, every=50)
        late = World(position_bias=BIAS, attractiveness=small.attractiveness, delay=delay)
        costs.append(simulate(late, "epoch-ucb", rounds=3_000, replications=20, seed=1)["epoch-ucb"].mean)
    assert costs == sorted(costs)


@pytest.mark.parametrize("id", ["thompson-sampling", "epoch-ucb", "mnl-bandit", "mnl-ts-pairs"])
def test_unavailable_items_are_never_shown(id: str) -> None:
    """Also by policies that hold a list, and where there are fewer items than slots."""
    world = World(
        position_bias=BIAS,
        attractiveness=TASTES[0],
        arrivals=[0, 0, 0, 10, 5],
        departures=[40, 60, 50, 90, None],
        delay=Delay(rounds=3),
    )
    oracle = Oracle(world)

    class Watching:
        def __init__(self, task: PolicyTask) -> None:
            with interpreted():
                self.policy = get_policy(id).start(task)
            self.excluded: set[int] = set()
            self.pin: list[int] = []

        def choose(self, rng: np.random.Generator) -> Ranking:
            shown: Ranking = choose(self.policy, rng)
            there = oracle.there()
            oracle.round += 1
            assert set(shown[shown != EMPTY].tolist()) <= set(there.tolist())
            assert (shown != EMPTY).tolist() == [slot < len(there) for slot in range(3)]
            assert self.excluded == set(range(5)) - set(there.tolist())
            return shown

        def learn(self, ranking: Ranking, clicked: int) -> None:
            learn(self.policy, ranking, clicked)

        def impose_rules(self, values: FloatArray, excluded: IntArray, pin: IntArray) -> None:
            self.excluded = set(excluded.tolist())
            impose_rules(self.policy, values, excluded, pin)

        def end_epoch(self) -> None:
            end_epoch(self.policy)

    def start(task: PolicyTask) -> Watching:
        oracle.round = 0
        return Watching(task)

    simulate(world, start, rounds=120)


@one_policy
def test_the_compiled_loop_shows_no_unavailable_item(policy: Any) -> None:
    world = World(
        position_bias=BIAS, attractiveness=TASTES[0], arrivals=[0, 0, 0, 10, 5], departures=[40, 60, 50, None, 30]
    )
    (run,) = simulate(world, policy, rounds=100).values()
    (tally,) = run.tallies
    shows = tally.passes + tally.clicks
    assert tally.rounds == 100
    # items 0 and 4 are there for 40 and 25 rounds, and in the last 40 rounds there is only item 3
    assert shows[:, 0].sum() <= 40
    assert shows[:, 4].sum() <= 25
    assert shows[0, 3] >= 40
    assert shows[1:, 3].sum() <= 50


def test_a_list_with_something_that_is_not_there_is_caught() -> None:
    world = World(position_bias=BIAS, attractiveness=TASTES[0], arrivals=[0, 0, 0, 10, 0])

    class Deaf(Telling):
        def impose_rules(self, values: FloatArray, excluded: IntArray, pin: IntArray) -> None: ...

    with pytest.raises(InvalidRanking, match=r"policy Deaf returned .*, or not all of available items"):
        simulate(world, Deaf, rounds=50)

    class Lazy(Deaf):
        def choose(self, rng: np.random.Generator) -> Ranking:
            return np.array([0, 1, EMPTY])

    with pytest.raises(InvalidRanking, match="policy Lazy returned a ranking"):
        simulate(world, Lazy, rounds=50)
    with pytest.raises(InvalidInput, match="Telling must make an object with impose_rules, as items come and go"):
        simulate(world, Telling, rounds=50)


def test_impossible_arguments_are_rejected_by_name() -> None:
    with pytest.raises(InvalidInput, match="toprank cannot take pins and exclusions per decision"):
        simulate(all_at_once(), "toprank", rounds=10)
    with pytest.raises(InvalidInput, match="epoch-ucb needs a known position_bias, and segments have their own"):
        simulate(SCHEDULED, "epoch-ucb", rounds=10)
    with pytest.raises(InvalidInput, match="a World does not support a goal"):
        simulate(all_at_once(), "epoch-ucb", rounds=10, goal=Goal())


def test_the_task_given_to_policies() -> None:
    settings: list[PolicyTask] = []
    rows = [["red", 1.0], ["blue", 3.0], ["red", 5.0], ["red", 1.0], ["blue", 5.0]]
    world = World(position_bias=BIAS, segments=[Segment(0.7, TASTES[0]), Segment(0.3, TASTES[1])], features=rows)

    def start(task: PolicyTask) -> Telling:
        settings.append(task)
        return Telling(task)

    simulate(world, start, rounds=30)
    told = settings[-1]
    assert (told.slots, told.items, told.rounds, told.segments, told.rules_per_decision) == (3, 5, 30, 2, False)
    assert told.features is not None
    assert told.features.shape == (5, 3)
    assert told.position_bias is not None
    assert told.position_bias.tolist() == BIAS


@pytest.mark.long
def test_a_start_is_absorbed() -> None:
    world = World(position_bias=BIAS, attractiveness=TASTES[0], delay=Delay(rounds=10))
    (seen,) = simulate(world, "epoch-ucb", rounds=4_000, seed=1)["epoch-ucb"].tallies
    cold, warm = (
        simulate(world, "epoch-ucb", rounds=500, replications=8, seed=2, start=start)["epoch-ucb"].mean
        for start in (None, seen)
    )
    assert warm < cold
