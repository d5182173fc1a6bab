"""`simulate`: replications from independent seeds, spread over threads, processes or machines by joblib."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np

from slotwise.core import validation
from slotwise.core.errors import InvalidInput, InvalidRanking
from slotwise.core.policy_task import MAX_ROUNDS, PolicyTask
from slotwise.core.random import stream
from slotwise.core.tally import Tally
from slotwise.core.types import FloatArray, IntArray
from slotwise.jit import is_ours, is_record, plain, uncached
from slotwise.jit.interpreter_mode import is_interpreting
from slotwise.optimize import Goal
from slotwise.policies.policy_registry import PolicySpec, apply_tally, parse
from slotwise.simulation.adapters import CheckedPolicy
from slotwise.simulation.environment_kinds import Environment, environment_of
from slotwise.simulation.loop import trace
from slotwise.simulation.policy_run import Run
from slotwise.simulation.progress import Bar
from slotwise.simulation.results import Results

RECORDED_ROUNDS = 200
#: target time of a stretch of compiled rounds: Ctrl-C waits at most about this long
STRETCH_SECONDS = 0.2

#: a registered policy, its id, or a function or class from a PolicyTask to an object with `choose` and `learn`
PolicyLike = str | PolicySpec | Callable[[PolicyTask], Any]


def simulate(
    users: object,
    policies: PolicyLike | Sequence[PolicyLike],
    *,
    rounds: int,
    goal: Goal | None = None,
    start: Tally | None = None,
    replications: int = 1,
    seed: int = 0,
    jobs: int = -1,
    record_at: int | Iterable[int] = RECORDED_ROUNDS,
    progress: bool | None = None,
) -> Results:
    """Simulate policies in an environment and return their regret.

    Parameters
    ----------
    users : MNL, another click model or World
        The environment. In a `World` outcomes are delayed, items come and go, segments differ and attractiveness
        drifts. A plain Python object with the methods of `slotwise.click_models` works too, at the speed of plain
        Python. If users can click several slots in a round, policies with `learn_clicks` learn all clicks, and others
        the first.
    policies : str, PolicySpec, callable, or a sequence of them
        Ids of registered policies, `get_policy(id, option=…)`, or functions or classes that take a `PolicyTask` and
        return an object with `choose(rng)` and `learn(ranking, clicked)`.
    rounds : int
        Rounds of each replication.
    goal : Goal, optional
        Values and constraints. Regret is then in expected value, against the best list that the goal allows.
    start : Tally, optional
        Counts that every policy absorbs before its first round. The tallies of the results do not include them.
    replications : int
        Replications of each policy.
    seed : int
        Replication i of every policy has the i-th stream of the seed.
    jobs : int
        Parallel jobs, -1 for one per core. The numbers depend neither on it nor on joblib's backend.
    record_at : int or iterable of int
        A number of evenly spaced rounds, or the rounds. The last round is always recorded.
    progress : bool, optional
        Whether to show a progress bar on stderr; by default on a terminal only.

    Returns
    -------
    Results
        A `Run` per policy.

    Examples
    --------
    >>> from slotwise import MNL, simulate
    >>> users = MNL(position_bias=[1.0, 0.2, 0.9], attractiveness=[0.05, 0.1, 0.15, 0.2])
    >>> results = simulate(users, ["epoch-ucb", "toprank"], rounds=2_000, replications=4, seed=1)
    >>> results["epoch-ucb"].mean < results["toprank"].mean
    True
    >>> seen = sum(results["toprank"].tallies)
    >>> warm = simulate(users, "epoch-ucb", rounds=2_000, replications=4, seed=2, start=seen)
    >>> warm["epoch-ucb"].mean < results["epoch-ucb"].mean
    True
    """
    plan = SimulationPlan.checked(users, policies, rounds, goal, start, replications, seed, jobs, record_at)
    with Bar(progress) as bar:
        runs = {run.policy: run for run in plan.runs(bar)}
    return plan.results(runs)


@dataclass(frozen=True)
class SimulationPlan:
    """A simulation in one environment, checked before anything runs."""

    users: object
    policies: Mapping[str, PolicyLike]
    task: PolicyTask
    start: Tally | None
    replications: int
    seed: int
    jobs: int
    points: IntArray
    environment: str

    @classmethod
    def checked(
        cls,
        users: object,
        policies: PolicyLike | Sequence[PolicyLike],
        rounds: int,
        goal: Goal | None,
        start: Tally | None,
        replications: int,
        seed: int,
        jobs: int,
        record_at: int | Iterable[int],
        environment: str | None = None,
    ) -> SimulationPlan:
        """Return the plan for the arguments of `simulate`; raise InvalidInput for those that cannot be run."""
        kind = environment_of(users)
        task = kind.task(validation.whole_number("rounds", rounds, at_least=1, at_most=MAX_ROUNDS), goal)
        validation.whole_number("replications", replications, at_least=1)
        validation.whole_number("seed", seed, at_least=0)
        if jobs != -1:
            validation.whole_number("jobs", jobs, at_least=1)
        points = recorded_rounds(record_at, task.horizon)
        wanted = [policies] if isinstance(policies, str) or not isinstance(policies, Sequence) else policies
        labelled = _labelled(wanted)
        for chosen in labelled.values():
            if isinstance(chosen, PolicySpec):
                kind.check_policy(chosen)
                chosen.check(task)
            if start is not None:
                _started(chosen, task, start)
        name = type(users).__name__ if environment is None else environment
        return cls(users, labelled, task, start, int(replications), int(seed), jobs, points, name)

    def runs(self, bar: Bar, prefix: str = "") -> Iterator[Run]:
        """Run policy after policy, and yield each when all of its replications are done."""
        for label, chosen in self.policies.items():
            with bar.task(prefix + label, self.replications, passing=bool(prefix)) as step:
                done = []
                for replication in run_replications(
                    self.users,
                    chosen,
                    self.task,
                    seed=self.seed,
                    indices=range(self.replications),
                    jobs=self.jobs,
                    points=self.points,
                    start=self.start,
                ):
                    done.append(replication)
                    step()
            yield Run.of(label, self.points, done)

    def results(self, runs: dict[str, Run]) -> Results:
        """Return the results of these runs."""
        return Results(runs, self.task.horizon, self.replications, self.seed, self.environment)


@dataclass(frozen=True)
class Replication:
    """One replication of one policy."""

    index: int
    #: cumulative regret at the recorded rounds
    regret: FloatArray
    clicks: IntArray
    passes: IntArray
    seconds: float

    def numbers(self) -> dict[str, Any]:
        """Return the arrays to store: every field except the index."""
        return {name: np.asarray(value) for name, value in vars(self).items() if name != "index"}

    @classmethod
    def of_numbers(cls, index: int, numbers: Mapping[str, Any]) -> Replication:
        """Return the replication with these `numbers`."""
        arrays = {name: numbers[name] for name in ("regret", "clicks", "passes")}
        return cls(index, **arrays, seconds=float(numbers["seconds"]))


def run_replications(
    users: object,
    policy: PolicyLike,
    task: PolicyTask,
    *,
    seed: int,
    indices: Sequence[int],
    jobs: int,
    points: IntArray,
    start: Tally | None = None,
) -> Iterator[Replication]:
    """Run the replications with these indices and yield each when it ends, in any order."""
    if not indices:
        return
    environment = environment_of(users)
    # once: it may have to be searched for
    best = environment.best_reward(task)
    # a round before anything else: compiling is not simulating, and threads would wait for each other
    _Simulation(environment, policy, task, best, np.random.default_rng(0), points, start).play(1)
    # plain Python runs in this thread, as other threads do not know that they are not to compile
    workers = 1 if is_interpreting() else jobs
    tasks = [
        joblib.delayed(_replicate)(environment, policy, task, best, seed, index, points, start) for index in indices
    ]
    yield from parallel(workers, prefer="threads")(tasks)


def parallel(jobs: int, prefer: str | None = None) -> joblib.Parallel:
    """Run tasks on joblib's current backend and yield each when it ends; all at the end if the backend cannot."""
    try:
        return joblib.Parallel(n_jobs=jobs, prefer=prefer, return_as="generator_unordered", batch_size=1)
    except ValueError:  # multiprocessing and Ray have no generators
        return joblib.Parallel(n_jobs=jobs, prefer=prefer, return_as="list", batch_size=1)


def _replicate(
    environment: Environment,
    policy: PolicyLike,
    task: PolicyTask,
    best: float,
    seed: int,
    index: int,
    points: IntArray,
    start: Tally | None,
) -> Replication:
    begin = time.perf_counter()
    rng = np.random.default_rng(stream(seed, index))
    simulation = _Simulation(environment, policy, task, best, rng, points, start)
    left, stretch = task.horizon, 256
    while left > 0:
        since = time.perf_counter()
        simulation.play(min(stretch, left))
        left -= min(stretch, left)
        if time.perf_counter() - since < STRETCH_SECONDS / 4:
            stretch *= 4
    trace = simulation.trace
    return Replication(index, trace.regret, trace.clicks, trace.passes, time.perf_counter() - begin)


class _Simulation:
    """One policy, one replication of its environment and its trace, either all compiled or all plain."""

    def __init__(
        self,
        environment: Environment,
        policy: PolicyLike,
        task: PolicyTask,
        best: float,
        rng: np.random.Generator,
        points: IntArray,
        start: Tally | None,
    ) -> None:
        self.label = _label(policy)
        episode = environment.start(task, rng)
        self.loop, self.state, self.arguments = episode.loop, episode.state, episode.arguments
        self.requirement = episode.requirement
        self.trace = trace(task.slots, task.items, best, points)
        self.policy = _started(policy, episode.task, start)
        if not is_record(self.policy) or not is_record(self.state):
            own = not is_record(self.policy)
            self.policy = CheckedPolicy(self.policy, self.label, episode.task) if own else plain(self.policy)
            self.state, self.trace = plain(self.state), plain(self.trace)
            self.arguments = tuple(plain(value) for value in self.arguments)
            self.loop = getattr(self.loop, "py_func", self.loop)
        elif not (is_ours(self.policy) and is_ours(self.state)):
            self.loop = uncached(self.loop)

    def play(self, rounds: int) -> None:
        if not self.loop(self.policy, self.state, *self.arguments, self.trace, rounds):
            raise InvalidRanking(
                f"policy {self.label} returned a ranking that is not {self.trace.clicks.shape[0]} distinct items "
                f"out of 0 to {self.trace.clicks.shape[1] - 1}{self.requirement}"
            )


def _started(policy: PolicyLike, task: PolicyTask, start: Tally | None) -> object:
    if isinstance(policy, PolicySpec):
        return policy.start(task, start)
    started = policy(task)  # type: ignore[operator]
    if start is not None:
        apply_tally(_label(policy), started, start, task)
    return started


def _labelled(policies: Sequence[PolicyLike]) -> dict[str, PolicyLike]:
    chosen: dict[str, PolicyLike] = {}
    if not policies:
        raise InvalidInput("policies must name at least one policy, got none")
    for given in policies:
        policy = parse(given) if isinstance(given, str) else given
        if not callable(policy) and not isinstance(policy, PolicySpec):
            raise InvalidInput(f"policies must be ids or functions of a PolicyTask, got {policy!r}")
        if _label(policy) in chosen:
            raise InvalidInput(f"policies must differ, got {_label(policy)} twice")
        chosen[_label(policy)] = policy
    return chosen


def _label(policy: PolicyLike) -> str:
    return str(policy) if isinstance(policy, str | PolicySpec) else getattr(policy, "__name__", type(policy).__name__)


def recorded_rounds(record_at: int | Iterable[int], rounds: int) -> IntArray:
    """Return the rounds to record at: evenly spaced or given, always with the last one."""
    if isinstance(record_at, Iterable):
        points = np.array([validation.whole_number("record_at", point, at_least=1) for point in record_at], np.int64)
        if points.size and points.max() > rounds:
            raise InvalidInput(f"record_at must not be after the last round, {rounds}, got {points.max()}")
    else:
        count = validation.whole_number("record_at", record_at, at_least=1)
        points = np.linspace(0, rounds, min(count, rounds) + 1).round().astype(np.int64)[1:]
    return np.unique(np.append(points, rounds))
