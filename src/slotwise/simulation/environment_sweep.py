"""`sweep`: policies in many environments, one after the other, with one table of results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from slotwise.core.errors import InvalidInput
from slotwise.environments import Problem
from slotwise.simulation.progress import Bar
from slotwise.simulation.results import Results, Table
from slotwise.simulation.runner import RECORDED_ROUNDS, PolicyLike, SimulationPlan


@dataclass(frozen=True, eq=False, repr=False)
class SweepResults(Table, Mapping[str, Results]):
    """The `Results` of each environment, by its name; printed, one table after the other.

    Parameters
    ----------
    results : dict of str to Results
        The results of the environments that were run.
    interrupted : bool
        Whether Ctrl-C ended the sweep: later environments and policies are missing then.
    """

    results: dict[str, Results]
    interrupted: bool = False

    def __getitem__(self, environment: str) -> Results:
        return self.results[environment]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __repr__(self) -> str:
        tables = [f"{name}: {results}" for name, results in self.items()]
        return "\n\n".join([*tables, *(["Interrupted: the rest was not run."] if self.interrupted else [])])

    def columns(self) -> dict[str, Any]:
        """Return the columns of all `Results`, one below the other."""
        parts = [results.columns() for results in self.values()]
        return {name: np.concatenate([part[name] for part in parts]) for name in (parts[0] if parts else ())}


def sweep(
    environments: Mapping[str, object],
    policies: PolicyLike | Sequence[PolicyLike],
    *,
    rounds: int | None = None,
    replications: int = 1,
    seed: int = 0,
    jobs: int = -1,
    record_at: int | Iterable[int] = RECORDED_ROUNDS,
    progress: bool | None = None,
) -> SweepResults:
    """Simulate policies in many environments; all arguments are checked before anything runs.

    Parameters
    ----------
    environments : mapping of str to users or Problem
        Environments as `simulate` takes them, or problems with rounds and a goal of their own, by name.
    policies : str, PolicySpec, callable, or a sequence of them
        As for `simulate`.
    rounds : int, optional
        Rounds of each replication. By default those of the problem; environments that are no problems need a number.
    replications, seed, jobs, record_at
        As for `simulate`. Every environment has the same seed, and so the numbers that `simulate` gives alone.
    progress : bool, optional
        Whether to show a progress bar on stderr; by default on a terminal only.

    Returns
    -------
    SweepResults
        The `Results` of each environment. After Ctrl-C it has the finished policies, and reports that.

    Examples
    --------
    >>> from slotwise import sweep
    >>> from slotwise.environments import paper_problems
    >>> found = sweep(paper_problems(), ["epoch-ucb", "toprank"], rounds=200, replications=2, record_at=1)
    >>> list(found), found["b"].rounds
    (['a', 'b', 'c'], 200)
    >>> found.to_frame().groupby(["environment", "policy"]).regret.mean().shape
    (6,)
    """
    if not isinstance(environments, Mapping) or not environments:
        raise InvalidInput(f"environments must be a mapping with at least one entry, got {environments!r}")
    plans = {}
    for name, given in environments.items():
        problem = given if isinstance(given, Problem) else None
        horizon = problem.rounds if rounds is None and problem is not None else rounds
        if horizon is None:
            raise InvalidInput(f"rounds must be given, as the environment {name} is no Problem with rounds of its own")
        try:
            plans[name] = SimulationPlan.checked(
                given if problem is None else problem.users,
                policies,
                horizon,
                None if problem is None else problem.goal,
                None,
                replications,
                seed,
                jobs,
                record_at,
                environment=str(name),
            )
        except InvalidInput as error:
            raise InvalidInput(f"environment {name}: {error}") from None
    results: dict[str, Results] = {}
    interrupted = False
    with Bar(progress) as bar, bar.task("sweep", sum(len(plan.policies) for plan in plans.values())) as step:
        try:
            for name, plan in plans.items():
                for run in plan.runs(bar, prefix=f"{name}, "):
                    done = results[name].runs if name in results else {}
                    results[name] = plan.results({**done, run.policy: run})
                    step()
        except KeyboardInterrupt:
            interrupted = True
            bar.say("interrupted; the policies that were done are kept")
    return SweepResults(results, interrupted)
