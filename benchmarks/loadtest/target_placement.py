"""The placement of a load test: a temporary one, or an existing one."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from benchmarks.loadtest.expected_counts import ExpectedCounts, OutcomeCounts, differences
from benchmarks.loadtest.visitor_segments import Audience
from slotwise.click_models import MNL
from slotwise.client import Client, ServiceProblem, ServiceUnreachable
from slotwise.core.errors import InvalidInput
from slotwise.policies import PolicySpec, default_policy
from slotwise.policies.policy_registry import parse

MIN_WINDOW, MAX_WINDOW = 0.1, 60.0
#: time after the last deadline within which all decisions must be counted
SETTLE_SECONDS: Final = 15.0
POLL_SECONDS: Final = 0.2


@dataclass(frozen=True)
class CountCheck:
    """The comparison of the service's counts with the visitors'."""

    #: one per line
    differences: Sequence[str]
    #: reasons why the check is partial
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class TargetPlacement:
    """A placement before the first visitor."""

    name: str
    items: Sequence[str]
    slots: int
    policy: PolicySpec
    window: float
    audience: Audience
    #: whether it is temporary, so that nobody else uses it
    is_new: bool
    #: whether its items have features
    has_features: bool = False
    before: OutcomeCounts = field(default_factory=OutcomeCounts)
    before_by_segment: Mapping[tuple[str, str], OutcomeCounts] = field(default_factory=dict)
    #: pending decisions of others
    pending: int = 0

    @property
    def has_short_window(self) -> bool:
        """Whether the load test waits for the last deadline."""
        return self.window <= MAX_WINDOW

    def check(self, client: Client, expected: ExpectedCounts) -> CountCheck:
        """Wait for the last deadline, if it is near, and compare the counts."""
        estimates = self._settled(client) if self.has_short_window else client.estimates(self.name)
        everybody = OutcomeCounts.published(estimates) - self.before
        surplus = {kind: everybody.decisions[kind] - expected.decisions[kind] for kind in ("issued", "late")}
        others = not self.is_new and bool(self.pending or max(surplus.values()) > 0)
        wrong, notes = expected.wrong_answers(), []
        if others:
            notes.append(
                f"others used {self.name} meanwhile ({surplus['issued']:,} more decisions, {self.pending:,} pending "
                "before): missing counts are listed, but decisions that were counted twice cannot be detected"
            )
        if not self.has_short_window:
            notes.append(
                f"the window of {self.name} is {self.window:,g} s, too long to wait for: only issued is checked"
            )
            issued = differences(everybody.only_issued(), expected.everybody.only_issued(), at_least=others)
            return CountCheck([*issued, *wrong], notes)
        by_segment = self.counts_by_segment(client)
        lines = differences(everybody, expected.everybody, at_least=others) + wrong
        for (key, value), counts in by_segment.items():
            service = counts - self.before_by_segment.get((key, value), OutcomeCounts())
            visitors = expected.by_segment[key, value]
            lines += differences(service, visitors, f" of {key}:{value}", at_least=others)
        return CountCheck([*lines, *self._unequal_sums(OutcomeCounts.published(estimates), by_segment, others)], notes)

    def _settled(self, client: Client) -> dict[str, Any]:
        """Return the estimates once no decision is pending, or after a time limit."""
        until = time.monotonic() + self.window + SETTLE_SECONDS
        while client.estimates(self.name)["decisions"]["pending"] and time.monotonic() < until:
            time.sleep(POLL_SECONDS)
        # again: the counts may be a moment ahead of the tally
        return client.estimates(self.name)

    def counts_by_segment(self, client: Client) -> dict[tuple[str, str], OutcomeCounts]:
        """Return the service's counts for each key and value of the visitors' contexts."""
        return {
            (key, value): OutcomeCounts.published(client.estimates(self.name, {key: value}))
            for key, value in self.audience.pairs()
        }

    def _unequal_sums(
        self, everybody: OutcomeCounts, by_segment: Mapping[tuple[str, str], OutcomeCounts], others: bool
    ) -> Iterator[str]:
        """Yield the differences between the sum of the segments and all visitors, unless others use the placement."""
        for key in () if others else self.audience.segments:
            if self.audience.is_whole(key):
                total = sum((counts for (name, _), counts in by_segment.items() if name == key), OutcomeCounts())
                here, there = dict(total.lines()), dict(everybody.lines())
                for kind in here | there:
                    if here.get(kind, 0) != there.get(kind, 0):
                        yield f"{kind}: {here.get(kind, 0):,} by {key} added up, {there.get(kind, 0):,} of everybody"


@contextlib.contextmanager
def temporary_placement(
    client: Client, users: MNL, policy: PolicySpec, window: float, audience: Audience | None
) -> Iterator[TargetPlacement]:
    """Create a placement with the users' items, and delete it at the end.

    With an audience it has segments, and its items have features; the policy must support them.
    """
    name = f"loadtest-{random.randrange(16**8):08x}"
    items = [f"item-{number}" for number in range(users.items)]
    settings: list[str | dict[str, Any]] = [*items]
    if audience is not None:
        settings = [{"id": item, "features": features_of(number)} for number, item in enumerate(items)]
    try:
        client.put_placement(
            name,
            slots=users.slots,
            items=settings,
            policy=str(policy),
            window_seconds=window,
            position_bias=users.position_bias.tolist() if policy.knows_bias else None,
            segments=None if audience is None else audience.segments,
        )
        yield TargetPlacement(
            name,
            items,
            users.slots,
            policy,
            window,
            audience or Audience(),
            is_new=True,
            has_features=audience is not None,
        )
    finally:
        with contextlib.suppress(ServiceUnreachable, ServiceProblem):
            client.delete_placement(name)


def features_of(number: int) -> dict[str, float | str]:
    """Return an item's features: a number and a text, which are independent of its attractiveness."""
    return {"number": float(number), "parity": "odd" if number % 2 else "even"}


def existing_placement(client: Client, name: str) -> TargetPlacement:
    """Return an existing placement with its current counts."""
    definition = client.placement(name)
    window = definition["window_seconds"]
    audience = Audience(definition.get("segments") or {})
    if not definition["items"]:
        raise InvalidInput(f"placement {name!r} has no items to show")
    target = TargetPlacement(
        name,
        [item if isinstance(item, str) else item["id"] for item in definition["items"]],
        definition["slots"],
        parse(definition["policy"]) if definition["policy"] else default_policy(),
        float(window["at_most"] if isinstance(window, dict) else window),
        audience,
        is_new=False,
    )
    estimates = client.estimates(name)
    return replace(
        target,
        before=OutcomeCounts.published(estimates),
        before_by_segment=target.counts_by_segment(client) if target.has_short_window else {},
        pending=estimates["decisions"]["pending"],
    )


def draw_users(target: TargetPlacement, seed: int) -> MNL:
    """Draw users for the placement's items and slots."""
    rng = random.Random(seed)
    return MNL(
        position_bias=[(slot + 1.0) ** -0.5 for slot in range(target.slots)],
        attractiveness=[rng.uniform(0.02, 0.5) for _ in target.items],
    )
