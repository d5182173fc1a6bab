"""The test of whether slots act alike on all items: false alarms, power, and regret with and without what follows it.

Pages are played round by round, as in a simulation, or by the day, as a service learns: from the tally of a day. The
test is looked at after every round or day.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import joblib
import numpy as np
from scipy.optimize import linear_sum_assignment

from research.changing_pages.random_worlds import random_problem
from research.leaderboard.leaderboard_environments import ATTRACTIVENESS, BIAS, HIGH, USERS
from slotwise.click_models.base import click_probabilities, draw, may_click_several, reward
from slotwise.core.policy_task import PolicyTask
from slotwise.core.random import stream
from slotwise.core.types import NO_CLICK, FloatArray, Ranking
from slotwise.jit import jit, loop, record
from slotwise.policies.interface import choose, update_from_tally
from slotwise.policies.policy_registry import parse
from slotwise.simulation.loop import draw_outcome, outcome_of, teach

#: the service looks once a day, for a month
DAYS = 30
#: standard deviations of the log of the effects of pairs
SPREADS = (0.2, 0.5, 1.0)
SEED = 11


@record
class PairChoices:
    """Users who choose by multinomial logit, with odds of their own for each pair, slots × items."""

    odds: FloatArray
    slots: int
    items: int


@draw.register(PairChoices)
def _draw(users: PairChoices, ranking: Ranking, rng: np.random.Generator) -> int:
    total = 1.0
    for slot in range(len(ranking)):
        total += users.odds[slot, ranking[slot]]
    left = rng.random() * total - 1.0
    if left < 0.0:
        return NO_CLICK
    for slot in range(len(ranking) - 1):
        left -= users.odds[slot, ranking[slot]]
        if left < 0.0:
            return slot
    return len(ranking) - 1


@reward.register(PairChoices)
def _reward(users: PairChoices, ranking: Ranking) -> float:
    total = 0.0
    for slot in range(len(ranking)):
        total += users.odds[slot, ranking[slot]]
    return total / (1.0 + total)


@click_probabilities.register(PairChoices)
def _click_probabilities(users: PairChoices, ranking: Ranking) -> FloatArray:
    weights = np.append(users.odds[np.arange(len(ranking)), ranking], 1.0)
    return np.asarray(weights / weights.sum())


def pair_choices(rng: np.random.Generator, spread: float) -> PairChoices:
    """The leaderboard's page with an effect of each pair: log-normal with mean 1."""
    product = np.outer(BIAS, ATTRACTIVENESS)
    odds = product * np.exp(spread * rng.standard_normal(product.shape) - spread**2 / 2.0)
    return PairChoices(odds=odds, slots=len(BIAS), items=len(ATTRACTIVENESS))


def _of_leaderboard(name: str) -> Callable[[np.random.Generator], Any]:
    return lambda rng: USERS[name].part()["users"]  # noqa: ARG005


#: kinds of users who do not choose as the model says, from a generator
WRONG: dict[str, Callable[[np.random.Generator], Any]] = {
    **{f"pair effects, {spread:g}": partial(pair_choices, spread=spread) for spread in SPREADS},
    **{USERS[name].name: _of_leaderboard(name) for name in ("pbm", HIGH, "cascade", "dcm", "ubm")},
}


class Watched(NamedTuple):
    """A page that was played."""

    #: the round or day at which the test fired first, 0 if it did not
    fired: int
    #: the largest log of the evidence
    most: float
    regret: float


@loop
def _by_round(
    policy: Any, users: Any, outcome: Any, rounds: int, best: float, rng: np.random.Generator
) -> tuple[int, float, float]:
    fired, most, regret = 0, 0.0, 0.0
    for now in range(1, rounds + 1):
        ranking = choose(policy, rng)
        clicked = draw_outcome(outcome, users, ranking, rng)
        regret += best - reward(users, ranking)
        teach(outcome, policy, ranking, clicked)
        pairs = policy.posterior.counts.pairs
        most = max(most, pairs.evidence)
        if pairs.is_used and fired == 0:
            fired = now
    return fired, most, regret


@loop
def _one_day(
    policy: Any, users: Any, rounds: int, best: float, clicks: FloatArray, passes: FloatArray, rng: np.random.Generator
) -> float:
    regret = 0.0
    for _ in range(rounds):
        ranking = choose(policy, rng)
        clicked = draw(users, ranking, rng)
        regret += best - reward(users, ranking)
        if clicked != NO_CLICK:
            clicks[clicked, ranking[clicked]] += 1.0
        else:
            for slot in range(len(ranking)):
                passes[slot, ranking[slot]] += 1.0
    return regret


@jit
def _switch_off(policy: Any) -> None:
    policy.posterior.counts.pairs.check_at = np.inf


def play(
    users: Any, rounds: int, rng: np.random.Generator, *, by_day: bool = False, test: bool = True, options: str = ""
) -> Watched:
    """Play a page with the default policy; without `test`, it trusts the model."""
    policy = parse(f"thompson-sampling{options}").start(PolicyTask(users.slots, users.items, rounds))
    if not test:
        _switch_off(policy)
    best = _best_reward(users)
    if not by_day:
        return Watched(*_by_round(policy, users, outcome_of(users), rounds, best, rng))
    fired, most, regret = 0, 0.0, 0.0
    for day in range(1, DAYS + 1):
        clicks, passes = np.zeros((2, users.slots, users.items))
        regret += _one_day(policy, users, rounds // DAYS, best, clicks, passes, rng)
        update_from_tally(policy, clicks, passes)
        pairs = policy.posterior.counts.pairs
        most = max(most, pairs.evidence)
        if pairs.is_used and not fired:
            fired = day
    return Watched(fired, most, regret)


def _best_reward(users: Any) -> float:
    best = linear_sum_assignment(-users.odds)[1] if isinstance(users, PairChoices) else users.best_ranking()
    return float(reward(users, best))


@dataclass(frozen=True)
class CheckSize:
    """How much to run."""

    pages: int = 1_000
    wrong_pages: int = 40
    rounds: int = 20_000


def _false_alarm(number: int, by_day: bool) -> Watched:
    rng = np.random.default_rng(stream(SEED, number))
    problem = random_problem(rng)
    return play(problem.users, problem.rounds, rng, by_day=by_day)


def _wrong(kind: str, number: int, rounds: int) -> tuple[Watched, Watched, Watched | None]:
    """With the test, without it, and by the day if users click once."""
    make = WRONG[kind]
    found: list[Watched] = []
    for by_day, test in ((False, True), (False, False), (True, True)):
        rng = np.random.default_rng(stream(SEED + 1, number))
        users = make(rng)
        if by_day and may_click_several(users):
            return found[0], found[1], None
        found.append(play(users, rounds, rng, by_day=by_day, test=test))
    return found[0], found[1], found[2]


def tables(size: CheckSize, jobs: int = -1) -> str:
    """Both tables as text."""
    return "\n".join([*_false_alarms(size, jobs), "", *_power(size, jobs)]) + "\n"


def _false_alarms(size: CheckSize, jobs: int) -> Iterator[str]:
    yield "| pages of the model | pages | alarms | 95 % upper limit | evidence above 10 |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for name, by_day in (("looked at every round", False), ("a month of days, looked at daily", True)):
        found = joblib.Parallel(jobs)(joblib.delayed(_false_alarm)(number, by_day) for number in range(size.pages))
        alarms = sum(one.fired > 0 for one in found)
        high = sum(one.most > np.log(10.0) for one in found)
        yield f"| {name} | {size.pages} | {alarms} | {_upper_limit(alarms, size.pages):.2%} | {high} |"


def _upper_limit(count: int, total: int) -> float:
    from scipy.stats import beta

    return float(beta.ppf(0.975, count + 1, total - count)) if count < total else 1.0


def _power(size: CheckSize, jobs: int) -> Iterator[str]:
    yield "| users | noticed | median round | noticed by tallies of days | regret, test off | regret |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    for kind in WRONG:
        found = joblib.Parallel(jobs)(
            joblib.delayed(_wrong)(kind, number, size.rounds) for number in range(size.wrong_pages)
        )
        watched, trusting, daily = zip(*found, strict=True)
        when = [one.fired for one in watched if one.fired]
        by_day = "–" if daily[0] is None else f"{np.mean([one.fired > 0 for one in daily]):.0%}"
        yield (
            f"| {kind} | {len(when) / len(watched):.0%} | {f'{np.median(when):,.0f}' if when else '–'} | {by_day} "
            f"| {_mean(trusting)} | {_mean(watched)} |"
        )


def _mean(found: tuple[Watched, ...]) -> str:
    regret = np.array([one.regret for one in found])
    return f"{regret.mean():,.0f} ± {regret.std(ddof=1) / np.sqrt(len(regret)):,.0f}"
