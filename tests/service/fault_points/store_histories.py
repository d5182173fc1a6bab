"""Histories of a store, one transaction a step, and the state after each step without faults."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple
from typing import Any, Final

from slotwise.service.storage import Store
from slotwise.service.storage.alerts_table import PendingAlert
from slotwise.service.storage.decision_types import (
    Arm,
    Event,
    HourlyCap,
    IssuedDecision,
    Once,
    Outcome,
    Report,
    RewardTerms,
    Sticky,
    least_id,
)
from slotwise.service.storage.placements_table import Change

#: ten seconds before midnight, UTC
NOW: Final = 1_700_006_390.0
DAY: Final = 86_400.0
Step = Callable[[Store], object]
#: what there is, in an order of its own
State = list[Any]


def decision(number: int, at: float, **options: Any) -> IssuedDecision:
    id = f"{least_id(at)}{number:020x}"
    arm: Arm = "holdout" if number % 5 == 0 else "learned"
    items = (("a", "b"), ("b", "c"), ("c", "a"))[number % 3]
    segment = '{"device":"mobile"}' if number % 2 else ""
    return IssuedDecision(id, "home", items, arm, at, at + 5.0, segment=segment, **options)


#: events are accepted until well after the decisions are counted
REWARD: Final = RewardTerms('{"click": 0.5, "cart": 2, "purchase": null}', NOW + 60.0)
BOUGHT: Final = Event("purchase", 39.0, "order-1")
FIRST = [
    decision(1, NOW, once=Once("k", "r")),
    decision(2, NOW, sticky=Sticky("v", "t", NOW + 60.0, ("a", "b", "c"))),
    *(decision(number, NOW + 1.0, caps=(HourlyCap("v", 1),)) for number in (3, 4)),
    *(decision(number, NOW + 2.0) for number in range(5, 12)),
    *(decision(number, NOW + 2.0, reward=REWARD) for number in (13, 14)),
]
SECOND = [
    decision(20, NOW + 20.0, once=Once("l", "r")),
    decision(21, NOW + 20.0, sticky=Sticky("v", "t", NOW + 60.0, ("a", "b", "c"))),
]


def _reports(at: float) -> list[Report]:
    clicked = Outcome("clicked", FIRST[0].items[0], FIRST[0].items[1:], 2.5)
    return [
        Report(FIRST[0].id, clicked, at),
        Report(FIRST[1].id, Outcome("no_click"), at),
        Report(FIRST[4].id, Outcome("not_shown"), at),
        Report(FIRST[-1].id, Outcome("clicked", FIRST[-1].items[0], events=(Event("cart"),)), at),
    ]


def _events(at: float) -> list[Report]:
    """For a decision that was clicked, and for one of which nothing else is reported."""
    return [Report(FIRST[-number].id, None, at, (BOUGHT,)) for number in (1, 2)]


def _again(store: Store) -> object:
    """A key that was used, a duplicate, a conflict, and a click after a no-click."""
    reports = [
        _reports(NOW + 3.0)[0],
        Report(FIRST[0].id, Outcome("not_shown"), NOW + 3.0),
        Report(FIRST[1].id, Outcome("clicked", FIRST[1].items[1]), NOW + 3.0),
    ]
    return store.write([decision(12, NOW + 3.0, once=Once("k", "r"))], reports)


LIFE: Final[Sequence[Step]] = (
    lambda store: store.put_placement("home", "{}", Change(NOW, "{}")),
    lambda store: store.write(FIRST, []),
    lambda store: store.write([], _reports(NOW + 2.5)),
    _again,
    lambda store: store.write([], [_events(NOW + 4.0)[1]]),
    lambda store: store.finalise(NOW + 8.0, 100),
    lambda store: store.write([], _events(NOW + 9.0)),
    lambda store: store.fill_propensities([(FIRST[5].id, (0.5, 0.25))]),
    lambda store: store.write(SECOND, [Report(FIRST[5].id, Outcome("no_click"), NOW + 20.0)]),
    lambda store: store.note_state("home", "guardrail cart", "broken", "{}", NOW + 21.0),
    lambda store: store.put_placement("home", '{"mode": "held"}', Change(NOW + 21.0, "{}")),
    lambda store: store.claim_alerts(NOW + 21.0, 20),
    lambda store: store.finish_alert(PendingAlert("home", "guardrail cart", "broken", "{}")),
    lambda store: store.write([], [Report(SECOND[1].id, Outcome("clicked", SECOND[1].items[0]), NOW + 22.0)]),
    lambda store: store.finalise(NOW + 30.0, 100),
    lambda store: store.merge_hours(NOW + DAY, 1),
    lambda store: store.compact(NOW + DAY, 5),
    lambda store: store.store_hourly_summary("home", 0, "summary"),
)
END: Final[Sequence[Step]] = (
    *LIFE[:3],
    lambda store: store.drop_final("home", "", 100),
    lambda store: store.drop_placement("home"),
    lambda store: store.put_placement("home", "{}", Change(NOW, "{}")),
    lambda store: store.write(SECOND, []),
)
HISTORIES: Final = {"life": LIFE, "end": END}


def state(store: Store) -> State:
    """Everything that is committed."""
    with store.snapshot():
        return [
            sorted(map(astuple, store.tally("home"))),
            sorted(map(astuple, store.period_tally("home"))),
            sorted(map(astuple, store.period_counters("home"))),
            sorted(store.event_counts("home")),
            sorted((*key, *counters.all()) for key, counters in store.counters_of("home").items()),
            sorted(map(astuple, store.versions())),
            [astuple(change) for change in store.changes("home", 100)],
            *(
                sorted(store.all(f"SELECT * FROM {table}"), key=str)
                for table in ("decisions", "keys", "visitors", "alerts")
            ),
            *(sorted(store.all(f"SELECT * FROM {table}")) for table in ("visitor_hours", "hourly_summaries", "gone")),
        ]


def states(store: Store, history: Sequence[Step]) -> list[State]:
    """The state before the first step, and after each."""
    found = [state(store)]
    for step in history:
        step(store)
        found.append(state(store))
    return found
