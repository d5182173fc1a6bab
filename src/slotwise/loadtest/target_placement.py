"""The placement that is driven: one made for the drive and removed after it, or one that is there and stays."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from slotwise.click_models import MNL
from slotwise.client import Client, ServiceProblem, ServiceUnreachable
from slotwise.core.errors import InvalidInput
from slotwise.loadtest.expected_counts import Counts, Ledger, differences
from slotwise.loadtest.visitor_segments import Audience
from slotwise.policies import PolicySpec, default_policy
from slotwise.policies.policy_registry import parse

MIN_WINDOW, MAX_WINDOW = 0.1, 60.0
#: how long after the last deadline everything must have been counted
SETTLE_SECONDS: Final = 15.0
LOOK_AGAIN_SECONDS: Final = 0.2


@dataclass(frozen=True)
class Verdict:
    """What the service counted, beside what the visitors were told."""

    #: in a line each
    differences: Sequence[str]
    #: why less than everything could be checked
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Driven:
    """A placement as it was before the first visitor came."""

    name: str
    items: Sequence[str]
    slots: int
    policy: PolicySpec
    window: float
    audience: Audience
    #: whether there was nothing before, and nobody else knows of it
    is_new: bool
    #: whether its items have features
    has_features: bool = False
    before: Counts = field(default_factory=Counts)
    before_by_segment: Mapping[tuple[str, str], Counts] = field(default_factory=dict)
    #: decisions of others that were not counted yet
    pending: int = 0

    @property
    def is_awaited(self) -> bool:
        """Whether its window is short enough to wait for the last deadline."""
        return self.window <= MAX_WINDOW

    def verdict(self, client: Client, ledger: Ledger) -> Verdict:
        """Wait for the last deadline, if it is near, and compare the counts."""
        estimates = self._settled(client) if self.is_awaited else client.estimates(self.name)
        everybody = Counts.published(estimates) - self.before
        more = {kind: everybody.decisions[kind] - ledger.decisions[kind] for kind in ("issued", "late")}
        others = not self.is_new and bool(self.pending or max(more.values()) > 0)
        wrong, notes = ledger.wrong_answers(), []
        if others:
            notes.append(
                f"others used {self.name} meanwhile ({more['issued']:,} more decisions, {self.pending:,} pending "
                "before): what is missing is listed, but nobody can tell whether anything was counted twice"
            )
        if not self.is_awaited:
            notes.append(
                f"the window of {self.name} is {self.window:,g} s, too long to wait for: only issued is checked"
            )
            return Verdict(
                [*differences(everybody.only_issued(), ledger.everybody.only_issued(), at_least=others), *wrong], notes
            )
        by_segment = self.counts_by_segment(client)
        found = differences(everybody, ledger.everybody, at_least=others) + wrong
        for (key, value), counts in by_segment.items():
            ours = ledger.by_segment[key, value]
            found += differences(
                counts - self.before_by_segment.get((key, value), Counts()), ours, f" of {key}:{value}", at_least=others
            )
        return Verdict([*found, *self._unequal_sums(Counts.published(estimates), by_segment, others)], notes)

    def _settled(self, client: Client) -> dict[str, Any]:
        """The estimates once nothing is pending, or as they are when nothing should be pending any more."""
        until = time.monotonic() + self.window + SETTLE_SECONDS
        while client.estimates(self.name)["decisions"]["pending"] and time.monotonic() < until:
            time.sleep(LOOK_AGAIN_SECONDS)
        # once more: its counts may be a moment ahead of its tally
        return client.estimates(self.name)

    def counts_by_segment(self, client: Client) -> dict[tuple[str, str], Counts]:
        """What the service has counted by now for each key and value that a visitor may have."""
        return {
            (key, value): Counts.published(client.estimates(self.name, {key: value}))
            for key, value in self.audience.pairs()
        }

    def _unequal_sums(
        self, everybody: Counts, by_segment: Mapping[tuple[str, str], Counts], others: bool
    ) -> Iterator[str]:
        """Where the segments do not add up to everybody; while others count, nobody can tell."""
        for key in () if others else self.audience.segments:
            if self.audience.is_whole(key):
                total = sum((counts for (one, _), counts in by_segment.items() if one == key), Counts())
                here, there = dict(total.lines()), dict(everybody.lines())
                for name in here | there:
                    if here.get(name, 0) != there.get(name, 0):
                        yield f"{name}: {here.get(name, 0):,} by {key} added up, {there.get(name, 0):,} of everybody"


@contextlib.contextmanager
def made(client: Client, users: MNL, policy: PolicySpec, window: float, audience: Audience | None) -> Iterator[Driven]:
    """A placement with items enough for the users, which is deleted in the end, whatever happens meanwhile.

    With an audience it tells segments apart and its items have features; the policy must be one that can.
    """
    name = f"drive-{random.randrange(16**8):08x}"
    items = [f"item-{number}" for number in range(users.items)]
    described: list[str | dict[str, Any]] = [*items]
    if audience is not None:
        described = [{"id": item, "features": features_of(number)} for number, item in enumerate(items)]
    try:
        client.put_placement(
            name,
            slots=users.slots,
            items=described,
            policy=str(policy),
            window_seconds=window,
            position_bias=users.position_bias.tolist() if policy.knows_bias else None,
            segments=None if audience is None else audience.segments,
        )
        yield Driven(
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
    """What is said of an item of a drive: a number and a text, neither of which tells what visitors like."""
    return {"number": float(number), "parity": "odd" if number % 2 else "even"}


def existing(client: Client, name: str) -> Driven:
    """A placement that is there, and its counts by now."""
    found = client.placement(name)
    window = found["window_seconds"]
    audience = Audience(found.get("segments") or {})
    if not found["items"]:
        raise InvalidInput(f"placement {name!r} has no items to show")
    driven = Driven(
        name,
        [item if isinstance(item, str) else item["id"] for item in found["items"]],
        found["slots"],
        parse(found["policy"]) if found["policy"] else default_policy(),
        float(window["at_most"] if isinstance(window, dict) else window),
        audience,
        is_new=False,
    )
    estimates = client.estimates(name)
    return replace(
        driven,
        before=Counts.published(estimates),
        before_by_segment=driven.counts_by_segment(client) if driven.is_awaited else {},
        pending=estimates["decisions"]["pending"],
    )


def tastes_for(driven: Driven, seed: int) -> MNL:
    """Users for as many items and slots, of whom nothing is known but the seed."""
    rng = random.Random(seed)
    return MNL(
        position_bias=[(slot + 1.0) ** -0.5 for slot in range(driven.slots)],
        attractiveness=[rng.uniform(0.02, 0.5) for _ in driven.items],
    )
