"""`make bench`: speeds as ratios within one run on one machine, each the median of several turns."""

from __future__ import annotations

import functools
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from benchmarks import dashboard, logs, neighbours, service, service_goals, startup
from slotwise import MNL, Goal, PolicyTask, available_policies, get_policy, simulate
from slotwise.click_models import draw
from slotwise.environments import paper_problems
from slotwise.jit import jit
from slotwise.optimize.list_solver import arrange
from slotwise.optimize.solver_factory import make_lists
from slotwise.policies import choose, learn, update_from_tally
from slotwise.policies.interface import set_segment
from slotwise.ranker import Learner

TURNS = 5
ROUNDS = 1_000_000


def main() -> None:
    # what is measured must not depend on how far a compiler has come
    os.environ["SLOTWISE_COMPILE"] = "first"
    problems = paper_problems()
    print(f"Python {sys.version.split()[0]}, numba {numba.__version__}, one core unless said otherwise\n")
    rates = _against_bare_loops(problems["a"].users)
    _every_policy(problems["a"].users, rates)
    _sensitivities(problems["c"].users)
    _sampling(problems["a"].users)
    _lived()
    _items()
    _lists()
    _ranker()
    startup.main()
    logs.main()
    print()
    service.main()
    service.a_year()
    service_goals.main()
    neighbours.main()
    dashboard.main()


def _against_bare_loops(users: MNL) -> float:
    """Epoch-UCB on (a) beside a compiled loop that only draws, and a NumPy loop of the same algorithm."""
    ranking = np.arange(users.slots)

    def drawing() -> float:
        return _rate(lambda: _only_draw(users, ranking, np.random.default_rng(1), ROUNDS), ROUNDS)

    def simulating() -> float:
        return ROUNDS / simulate(users, "epoch-ucb", rounds=ROUNDS, jobs=1)["epoch-ucb"].seconds

    def in_numpy() -> float:
        return _rate(lambda: _numpy_epoch_ucb(users, 20_000), 20_000)

    _only_draw(users, ranking, np.random.default_rng(1), 10)
    turns = [(simulating(), drawing(), in_numpy()) for _ in range(TURNS)]
    ours, bare, plain = (statistics.median(column) for column in zip(*turns, strict=True))
    print(f"epoch-ucb on (a)                      {ours / 1e6:7.2f} million rounds/s")
    print(f"  a compiled loop that only draws     {bare / 1e6:7.2f} million rounds/s")
    print(f"  a NumPy loop of the same algorithm  {plain / 1e6:7.3f} million rounds/s")
    _verdict("epoch-ucb / only drawing", statistics.median(o / b for o, b, _ in turns), 0.12, "aim 0.25")
    _verdict("epoch-ucb / NumPy", statistics.median(o / p for o, _, p in turns), 20.0)
    return float(ours)


@jit
def _only_draw(users: Any, ranking: Any, rng: Any, rounds: int) -> int:
    clicks = 0
    for _ in range(rounds):
        clicks += draw(users, ranking, rng) >= 0
    return clicks


def _numpy_epoch_ucb(users: MNL, rounds: int) -> float:
    """Algorithm 2 as one would write it in NumPy."""
    rng = np.random.default_rng(1)
    bias, attractiveness = users.position_bias, users.attractiveness
    by_bias = np.argsort(-bias)
    clicks, exposure = np.zeros(users.items), np.zeros(users.items)
    epoch, regret, ranking, in_epoch = 0, 0.0, np.zeros(users.slots, int), np.zeros(users.slots)
    weight = float(np.sort(bias) @ np.sort(attractiveness)[-users.slots :])
    best = weight / (1 + weight)
    running = False
    for _ in range(rounds):
        if not running:
            epoch += 1
            c = max(0.0, np.log(users.items * epoch**2 / 2))
            with np.errstate(divide="ignore", invalid="ignore"):
                mean = clicks / exposure
                index = mean + np.sqrt(4 * np.minimum(1, 2 * mean) * c / exposure) + 4 * c / exposure
            index[exposure == 0] = np.inf
            order = np.lexsort((rng.random(users.items), -index))
            ranking[by_bias] = order[: users.slots]
            in_epoch[:] = 0
            running = True
        weights = bias * attractiveness[ranking]
        total = weights.sum()
        regret += best - float(total / (1 + total))
        drawn = np.searchsorted(np.cumsum(weights), rng.random() * (1 + total), side="right")
        if drawn < users.slots:
            in_epoch[drawn] += 1
        else:
            clicks[ranking] += in_epoch
            exposure[ranking] += bias
            running = False
    return regret


def _every_policy(users: MNL, epoch_ucb: float) -> None:
    print("\nevery policy on (a)                  million rounds/s   of epoch-ucb's")
    for entry in [*available_policies(), get_policy("epoch-ucb-upb-star", sensitivity="analytic")]:
        rounds = 20_000 if "upb" in entry.id else 500_000
        seconds = simulate(users, entry, rounds=rounds, replications=3, jobs=1)[str(entry)].seconds / 3
        rate = rounds / seconds
        print(f"  {entry!s:<40} {rate / 1e6:8.2f} {rate / epoch_ucb:14.2f}")


def _sensitivities(users: MNL) -> None:
    seconds = {}
    for method in ("analytic", "finite-difference"):
        chosen = get_policy("epoch-ucb-upb-star", sensitivity=method)
        run = simulate(users, chosen, rounds=8_000, replications=4, jobs=1)[str(chosen)]
        seconds[method] = run.seconds / 4
    print(f"\nepoch-ucb-upb-star on (c), a replication: analytic {seconds['analytic']:.3f} s,", end=" ")
    print(f"finite differences {seconds['finite-difference']:.3f} s")
    _verdict("finite differences / analytic", seconds["finite-difference"] / seconds["analytic"], 10.0)
    print(f"  40 replications of (c) on one core: {40 * seconds['finite-difference'] / 60:.1f} minutes")


#: the policies of our own that sample, biases unknown; the first is the default
SAMPLING = ("thompson-sampling",)


def _sampling(users: MNL) -> None:
    """Rounds a second beside Epoch-UCB's, turn by turn, and the cost of a decision among many items."""
    print("\nsampling, biases unknown, on (a)")
    rates: dict[str, list[float]] = {id: [] for id in ("epoch-ucb", *SAMPLING)}
    for _ in range(TURNS):
        for id, found in rates.items():
            found.append(ROUNDS / simulate(users, id, rounds=ROUNDS, jobs=1)[id].seconds)
    for id in SAMPLING:
        ratio = statistics.median(ours / base for ours, base in zip(rates[id], rates["epoch-ucb"], strict=True))
        print(f"  {id:<34} {statistics.median(rates[id]) / 1e6:7.2f} million rounds/s")
        if id == SAMPLING[0]:
            _verdict(f"{id} / epoch-ucb", ratio, 1 / 3)
        else:
            print(f"  {id} / epoch-ucb: {ratio:.3g}")
    print("\none choose and learn among items all shown, K = 10    J = 1,000      J = 100,000")
    for id in SAMPLING:
        small, large = (_decision_among_shown(id, items) for items in (1_000, 100_000))
        print(f"  {id:<34} {small * 1e6:24.1f} µs {large * 1e6:12.1f} µs")
        _verdict(f"100 µs / {id}, J = 1,000", 100e-6 / small, 1.0)
        _verdict(f"10 ms / {id}, J = 100,000", 10e-3 / large, 1.0)


def _lived() -> None:
    """A decision where visitors are of several crowds and items have features, each visit of another crowd."""
    rng, slots, items, segments, features = np.random.default_rng(1), 10, 1_000, 8, 20
    task = PolicyTask(slots, items, 1_000_000, segments=segments, features=rng.standard_normal((items, features)))
    started = get_policy("thompson-sampling").start(task)
    gamma = np.outer(np.linspace(1.0, 0.3, slots), rng.exponential(0.1, items) + 1e-3)
    for segment in range(segments):
        set_segment(started, segment)
        passes = rng.integers(1, 50, (slots, items)).astype(np.float64)
        update_from_tally(started, rng.poisson(passes * gamma).astype(np.float64), passes)
    _decide_for(started, rng, segments, 120)
    count = 2_000
    cost = 1 / _rate(lambda: _decide_for(started, rng, segments, count), count)
    print(
        f"\none choose and learn of thompson-sampling, J = 1,000, K = 10, 8 segments, 20 features: {cost * 1e6:.1f} µs"
    )


@jit
def _decide_for(started: Any, rng: Any, segments: int, rounds: int) -> None:
    for turn in range(rounds):
        set_segment(started, turn % segments)
        ranking = choose(started, rng)
        learn(started, ranking, -1)


def _decision_among_shown(id: str, items: int) -> float:
    """A decision once every item has been in every slot now and then."""
    rng, slots = np.random.default_rng(1), 10
    users = MNL(position_bias=np.linspace(1.0, 0.3, slots), attractiveness=rng.exponential(0.1, items) + 1e-3)
    started = get_policy(id).start(PolicyTask(slots, items, 1_000_000))
    passes = rng.integers(1, 50, (slots, items)).astype(np.float64)
    clicks = rng.poisson(passes * np.outer(users.position_bias, users.attractiveness)).astype(np.float64)
    update_from_tally(started, clicks, passes)
    # past the first rounds, in which what changes slowly is found anew each time
    _decide(started, rng, 120)
    count = max(50, 5_000_000 // items // slots)
    return 1 / _rate(lambda: _decide(started, rng, count), count)


def _items() -> None:
    """The cost of a decision as the items grow a hundredfold; linear is 100, and the small case has overheads."""
    print("\none choose and learn, K = 5                   J = 100       J = 10,000   ratio (linear: 100)")
    for entry in available_policies():
        if "upb" in entry.id or entry.id == "toprank":
            continue
        costs = [_decision_cost(entry.id, items) for items in (100, 10_000)]
        print(f"  {entry.id:<34} {costs[0] * 1e6:10.2f} µs {costs[1] * 1e6:12.1f} µs {costs[1] / costs[0]:10.0f}")


def _decision_cost(id: str, items: int) -> float:
    rng = np.random.default_rng(1)
    started = get_policy(id).start(PolicyTask(5, items, 1_000_000, np.linspace(1.0, 0.5, 5)))
    decide = _decide
    decide(started, rng, 3 * items)
    count = max(200, 2_000_000 // items // 5)
    return 1 / _rate(lambda: decide(started, rng, count), count)


@jit
def _decide(started: Any, rng: Any, rounds: int) -> None:
    for _ in range(rounds):
        ranking = choose(started, rng)
        learn(started, ranking, -1)


def _lists() -> None:
    """One list from given parameters: for clicks, and for a goal with everything in it."""
    rng, slots = np.random.default_rng(1), 10
    bias, ranking = np.linspace(1.0, 0.3, slots), np.zeros(slots, np.int64)
    print("\none list, K = 10                             J = 1,000      J = 100,000")
    costs: dict[str, list[float]] = {}
    for items in (1_000, 100_000):
        attractiveness = rng.exponential(0.2, items)
        groups = rng.integers(50, size=items).tolist()
        worth = rng.exponential(1.0, items)
        goal = Goal(worth, pin={3: 2, 7: 5}, exclude=[1], groups=groups, max_per_group=dict.fromkeys(range(50), 2))
        either = {
            "for clicks": make_lists(slots, items, bias),
            "for value": make_lists(slots, items, bias, Goal(worth)),
            "for value, pins and groups": make_lists(slots, items, bias, goal),
        }
        for name, lists in either.items():
            _arrange_often(lists, attractiveness, bias, ranking, rng, 2)
            turns = max(10, 200_000 // items)
            work = functools.partial(_arrange_often, lists, attractiveness, bias, ranking, rng, turns)
            costs.setdefault(name, []).append(1 / _rate(work, turns))
    for name, (small, large) in costs.items():
        print(f"  {name:<34} {small * 1e6:10.1f} µs {large * 1e6:12.1f} µs")
    _verdict("10 ms / a list for value, pins and groups", 0.01 / costs["for value, pins and groups"][1], 1.0)


@jit
def _arrange_often(lists: Any, attractiveness: Any, bias: Any, ranking: Any, rng: Any, count: int) -> None:
    for turn in range(count):
        # as between two decisions: a few things change
        attractiveness[turn * 7919 % len(attractiveness)] *= 1.01
        arrange(lists, attractiveness, bias, ranking, rng)


def _ranker() -> None:
    """Decisions of the default policy by name, without rules and with other ones each time, and its estimates."""
    print("\na ranker's decision, K = 10, by processor time        J = 1,000      J = 100,000")
    sizes = (1_000, 100_000)
    learners = [_warm_learner(items) for items in sizes]
    kinds: dict[str, Callable[[Learner, int], object]] = {
        "no rules": lambda learner, _: learner.choose(),
        "an item excluded": lambda learner, turn: learner.choose(exclude=[learner.items[turn]]),
        "an item pinned": lambda learner, turn: learner.choose(pin={learner.items[turn]: 2}),
    }
    for what, decide in kinds.items():
        small, large = (_processor_time(decide, learner) for learner in learners)
        print(f"  {what:<34} {small * 1e6:24.1f} µs {large * 1e6:12.1f} µs")
        _verdict(f"10 ms / {what}, J = 100,000", 10e-3 / large, 1.0)
    seconds = [1 / _rate(learner.estimates, 1) for learner in learners]
    print(f"  {'estimates, in seconds':<34} {seconds[0]:27.2f} {seconds[1]:15.2f}")


def _warm_learner(items: int) -> Learner:
    rng, slots = np.random.default_rng(1), 10
    learner = Learner([f"item {number}" for number in range(items)], slots, rng=rng)
    passes = rng.integers(1, 50, (slots, items))
    gamma = np.outer(np.linspace(1.0, 0.3, slots), rng.exponential(0.1, items) + 1e-3)
    learner.update_from_tally(rng.poisson(passes * gamma), passes)
    # compiled, and the caches of the estimates filled and emptied again
    learner.estimates()
    learner.set_value("item 0", 1.0)
    return learner


def _processor_time(decide: Callable[[Learner, int], object], learner: Learner) -> float:
    for turn in range(20):
        decide(learner, turn)
    start = time.process_time()
    for turn in range(100):
        decide(learner, turn)
    return (time.process_time() - start) / 100


def _rate(work: Callable[[], object], count: int) -> float:
    start = time.perf_counter()
    work()
    return count / (time.perf_counter() - start)


def _verdict(what: str, ratio: float, wanted: float, more: str = "") -> None:
    word = "ok" if ratio >= wanted else "TOO SLOW"
    print(f"  {what}: {ratio:.3g}   (at least {wanted:g}{', ' + more if more else ''}: {word})")


if __name__ == "__main__":
    main()
