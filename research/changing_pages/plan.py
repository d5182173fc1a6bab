"""The plan of the study of changing pages: its parts, each a list of cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from research.changing_pages import families
from research.changing_pages.cells import Cell, Way, chunks, family, task_of
from research.changing_pages.families import Case
from slotwise.core.errors import InvalidInput
from slotwise.environments import further_problems, paper_problems, problem
from slotwise.policies.policy_registry import parse

#: the policy that the study is about, and another on the same posterior, which it is compared with
OURS, PLAIN = "thompson-sampling", "epsilon-ts"
POLICIES = (OURS, PLAIN)
JOINT = "exact-posterior-sampling"
#: what `--quick` runs of each part
QUICK = (OURS, PLAIN)
QUICK_ROUNDS, QUICK_REPLICATIONS = 24, 2
QUICK_PROBLEMS = "abi"

RANDOM_FAMILIES = {"stationary": families.stationary, "lived": families.lived}
#: replications on one random problem
EACH = 4

#: segments, items, slots and rounds, and how far tastes are apart
CROWDS = ((4, 12, 4, 20_000), (12, 30, 5, 50_000))
APART = (0.0, 0.2, 0.5, 1.0)
WAYS: tuple[Way, ...] = ("untold", "apart", "told")

NEWCOMERS = (1, 3, 10)
COUNTED, LATE = 3_000, 2_000
NEW_ITEMS_AT_MOST = (0.1, 0.2, 0.5, 1.0)

EXPLAINED = (0.5, 0.0, 0.95)
TASTES = (families.STAY, families.REVERSED, families.NEW_ORDERS)
MEMORIES = ("none", "auto", "100000", "30000", "10000", "3000")
LONG_ROUNDS = 10_000_000


@dataclass(frozen=True)
class Plan:
    """The seed, and how much of it to run."""

    #: not that of the choice
    seed: int = 2
    #: of every policy on every row, or of problems where each replication is on one of its own; each part has its own
    replications: int | None = None
    quick: bool = False
    #: only the policy that the study is about, in all its settings, and the one that all are compared with
    few: bool = False

    def rounds(self, rounds: int) -> int:
        return min(rounds, QUICK_ROUNDS) if self.quick else rounds

    def count(self, usual: int) -> int:
        if self.replications is not None:
            return self.replications
        return QUICK_REPLICATIONS if self.quick else usual

    def some(self, wanted: Sequence[Any], quick: int) -> list[Any]:
        """All of them, or as many as `--quick` takes."""
        return list(wanted[:quick] if self.quick else wanted)

    def policies(self, wanted: Sequence[str]) -> list[str]:
        """All of them, or as many as `--quick` or `--few` take."""
        if self.quick:
            return [one for one in wanted if one in QUICK]
        return [one for one in wanted if not self.few or one in QUICK or one.startswith(f"{OURS}:")]

    def cells(
        self,
        part: str,
        row: str,
        policy: str,
        drawn: partial[Case],
        usual: int,
        *,
        size: int,
        each: int | None = 1,
        **more: Any,
    ) -> list[Cell]:
        """A policy on a row: `usual` problems with `each` replications, or replications of one, kept `size` at once."""
        total = self.count(usual) * (each or 1)
        return [
            Cell(part, row, policy, drawn, self.seed, first, last, each, **more) for first, last in chunks(total, size)
        ]


def problems(plan: Plan) -> list[Cell]:
    """(a) to (k), biases unknown."""
    return [
        cell
        for id, one in (paper_problems() | further_problems()).items()
        if not plan.quick or id in QUICK_PROBLEMS
        for policy in plan.policies(POLICIES)
        for cell in plan.cells("problems", id, policy, _named(plan, id, one.rounds), 1_000, size=50, each=None)
    ]


def clicky(plan: Plan) -> list[Cell]:
    """(i) for 300,000 rounds: nearly every round has a click."""
    drawn = _named(plan, "i", 300_000)
    return [
        cell
        for policy in plan.policies((*POLICIES, JOINT))
        for cell in plan.cells("clicky", "i", policy, drawn, 20, size=2, each=None)
    ]


def segments(plan: Plan) -> list[Cell]:
    """Segments, more or less alike: one tally for all, one each, and pooled."""
    return [
        cell
        for crowds, items, slots, rounds in plan.some(CROWDS, 1)
        for apart in plan.some(APART, 2)
        for drawn in [
            family(families.segments, crowds=crowds, items=items, slots=slots, rounds=plan.rounds(rounds), apart=apart)
        ]
        for policy in plan.policies((OURS,))
        for way in WAYS
        for cell in plan.cells(
            "segments", f"{crowds}, {items}, {slots}, {rounds:,} | {apart}", policy, drawn, 200, size=10, way=way
        )
    ]


def newcomers(plan: Plan) -> list[Cell]:
    """Items that nothing is known of, while outcomes are late."""
    limited = [f"{OURS}:new_items_at_most={value}" for value in NEW_ITEMS_AT_MOST]
    late, counted = plan.rounds(LATE) // (4 if plan.quick else 1), plan.rounds(COUNTED)
    return [
        cell
        for new in plan.some(NEWCOMERS, 2)
        for drawn in [family(families.newcomers, new=new, counted=counted, late=late, rounds=plan.rounds(20_000))]
        for policy in (*limited[:: 3 if plan.quick else 1], *plan.policies([one for one in POLICIES if one != OURS]))
        for cell in plan.cells("newcomers", str(new), policy, drawn, 100, size=10, way="watched")
    ]


def features(plan: Plan) -> list[Cell]:
    """Items with features, which explain half of their attractiveness, nothing of it, or nearly all."""
    items = 20 if plan.quick else 200
    return [
        cell
        for explained in plan.some(EXPLAINED, 2)
        for used in (False, True)
        for drawn in [
            family(families.features, explained=explained, used=used, items=items, rounds=plan.rounds(20_000))
        ]
        for policy in plan.policies((OURS,))
        for cell in plan.cells(
            "features", f"{explained:.0%} {'used' if used else 'not used'}", policy, drawn, 200, size=10
        )
    ]


def forgetting(plan: Plan) -> list[Cell]:
    """(a) for 200,000 rounds, with tastes that stay or change."""
    return [
        cell
        for tastes in TASTES
        for drawn in [family(families.forgetting, tastes=tastes, rounds=plan.rounds(200_000))]
        for half_life in plan.some(MEMORIES, 2)
        for cell in plan.cells("forgetting", tastes, f"{OURS}:half_life={half_life}", drawn, 40, size=4)
    ]


def random(plan: Plan) -> list[Cell]:
    """Random problems, stationary and changing, that nothing is chosen on."""
    compared = [*POLICIES, f"{OURS}:half_life=auto"]
    return [cell for kind in RANDOM_FAMILIES for cell in _on_random("random", kind, plan, compared)]


def _on_random(part: str, kind: str, plan: Plan, compared: Sequence[str]) -> list[Cell]:
    drawn = family(RANDOM_FAMILIES[kind], at_most=plan.rounds(10**9))
    return [
        cell
        for policy in plan.policies(compared)
        if why_not(policy, drawn(plan.seed, 0)) is None
        for cell in plan.cells(part, kind, policy, drawn, 100, size=5 * EACH, each=EACH)
    ]


def long(plan: Plan) -> list[Cell]:
    """Ten million rounds of (a) and (b)."""
    recorded = recorded_long(plan)
    return [
        cell
        for id in "ab"
        for policy in (OURS, PLAIN)
        for cell in plan.cells(
            "long", id, policy, _named(plan, id, LONG_ROUNDS), 10, size=1, each=None, recorded=recorded
        )
    ]


def recorded_long(plan: Plan) -> tuple[int, ...]:
    """Four rounds a decade, of the last four decades."""
    rounds = plan.rounds(LONG_ROUNDS)
    return tuple(sorted({max(1, round(rounds * 10.0 ** (-quarter / 4.0))) for quarter in range(17)}))


def shop(plan: Plan) -> list[Cell]:
    """All at once."""
    drawn = _named(plan, "shop", problem("shop").rounds)
    forgetful = [f"{policy}{',' if ':' in policy else ':'}half_life=auto" for policy in POLICIES]
    return [
        cell
        for policy in plan.policies((*POLICIES, *forgetful))
        if why_not(policy, drawn(plan.seed, 0)) is None
        for cell in plan.cells("shop", "shop", policy, drawn, 20, size=1, each=None)
    ]


PARTS: dict[str, Callable[[Plan], list[Cell]]] = {
    one.__name__: one for one in (problems, clicky, segments, newcomers, features, forgetting, random, long, shop)
}


def why_not(policy: str, case: Case) -> str | None:
    """Why a policy cannot act there, if it cannot."""
    try:
        parse(policy).check(task_of(case))
    except InvalidInput as problem:
        return str(problem)
    return None


def left_out(plan: Plan) -> dict[str, str]:
    """Of all that are compared, those that cannot act in the changing worlds or the shop, and why."""
    cases = [families.lived(plan.seed, number, at_most=10**9) for number in range(20)]
    cases.append(families.named(plan.seed, 0, name="shop", rounds=1_000))
    return {policy: why for policy in POLICIES for case in cases if (why := why_not(policy, case)) is not None}


def _named(plan: Plan, id: str, rounds: int) -> partial[Case]:
    return family(families.named, name=id, rounds=plan.rounds(rounds))
