"""Candidate items are learned from their first counted outcome, once, by any worker; the least seen are dropped."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from slotwise.service.storage import Store, open_store
from slotwise.service.storage.candidate_items import CandidateItem, CandidateTotals
from slotwise.service.storage.decision_types import (
    CandidateTerms,
    HourlyCap,
    IssuedDecision,
    Outcome,
    Report,
    new_id,
)

NOW = 1_000_000.0
DEADLINE = NOW + 60.0


def _decision(
    items: Sequence[str], *, at_most: int = 3, caps: tuple[HourlyCap, ...] = (), price: float = 1.0
) -> IssuedDecision:
    """A list in which all items but `own` are candidate items."""
    features = {item: {"price": price} for item in ("unseen", *items) if item != "own"}
    terms = CandidateTerms(features, at_most)
    return IssuedDecision(new_id(NOW), "home", tuple(items), "learned", NOW, DEADLINE, caps=caps, candidates=terms)


def _count(store: Store, *lists: Sequence[str], at_most: int = 3) -> None:
    store.write([_decision(items, at_most=at_most) for items in lists], [])
    while store.finalise(DEADLINE, 100):
        pass


@pytest.fixture
def store(url: str) -> Store:
    store = open_store(url)
    store.put_placement("home", "{}")
    return store


def _seen(store: Store) -> dict[str, int]:
    return {candidate.item: candidate.seen for candidate in store.candidate_items("home")}


def test_they_are_learned_once_from_counted_outcomes(store: Store, url: str) -> None:
    clicked, silent, unseen, last, capped = (
        _decision(items, caps=caps, at_most=9)
        for items, caps in [
            (("own", "x"), ()),
            (("x", "y"), ()),
            (("z", "own"), ()),
            (("v", "w"), (HourlyCap("bot", 1),)),
            (("w", "v"), (HourlyCap("bot", 1),)),
        ]
    )
    other = open_store(url)
    store.write([clicked, silent, unseen, last], [])
    other.write([capped], [])
    assert not store.candidate_items("home")
    reports = [Report(clicked.id, Outcome("clicked", "x"), NOW), Report(unseen.id, Outcome("not_shown"), NOW)]
    other.write([], [*reports, reports[0]])
    for worker in (store, other, store):
        worker.finalise(DEADLINE, 2)
    assert _seen(store) == {"x": 2, "y": 1, "v": 1, "w": 1}
    other.close()
    store.close()


def test_the_least_seen_are_dropped_with_their_counts(store: Store) -> None:
    _count(store, ["a", "b"], ["a", "b"], ["a", "c"])
    assert _seen(store) == {"a": 3, "b": 2, "c": 1}
    _count(store, ["own", "d"])
    assert _seen(store) == {"a": 3, "b": 2, "d": 2}
    assert store.candidate_totals("home") == CandidateTotals(learned=3, dropped=1, dropped_seen=1)
    assert {row.item for row in store.tally("home")} == {"own", "a", "b", "d"}
    # the history still has it
    assert {row.item for row in store.period_tally("home")} == {"own", "a", "b", "c", "d"}
    # it comes back with counts of its own only
    _count(store, ["c"])
    assert sum(row.shows for row in store.tally("home") if row.item == "c") == 1
    store.close()


def test_new_items_stay_long_enough_to_be_seen_again(store: Store) -> None:
    """Without a start at the number of the last dropped item, each new one would be dropped at once."""
    _count(store, *[["a", "b", "c"]] * 5)
    for item in "defg":
        _count(store, [item])
        assert item in _seen(store)
    # one that is seen again and again gets a place for good
    _count(store, *[["h"]] * 20)
    _count(store, ["i"], ["j"])
    assert "h" in _seen(store)
    assert store.candidate_totals("home").learned == len(_seen(store)) == 3
    store.close()


def test_more_at_once_than_are_held(store: Store) -> None:
    _count(store, ["a", "b", "c", "d", "e"], ["e", "d"])
    assert set(_seen(store)) == {"a", "d", "e"}
    assert store.candidate_totals("home") == CandidateTotals(learned=3, dropped=2)
    _count(store, ["a"], at_most=1)
    # the new limit holds with the next count
    assert _seen(store) == {"a": 2}
    store.close()


def test_the_last_features_are_kept(store: Store) -> None:
    store.write([_decision(["a"], price=2.0)], [])
    store.finalise(DEADLINE, 100)
    store.write([_decision(["a"], price=5.0)], [])
    store.finalise(DEADLINE, 100)
    (candidate,) = store.candidate_items("home")
    version = store.version("home")
    assert version is not None
    assert candidate == CandidateItem("a", {"price": 5.0}, 2, since=1)
    assert store.candidate_items("home", since=version.revision - 1) == [candidate]
    store.write([_decision(["a"], price=5.0)], [])
    store.finalise(DEADLINE, 100)
    assert store.candidate_items("home", since=version.revision) == []
    store.close()


def test_they_move_and_go_with_their_placement(store: Store, url: str) -> None:
    _count(store, ["a", "b", "c"], ["d", "a"])
    export = store.carry_out("home")
    store.drop_placement("home")
    assert not store.candidate_items("home")
    store.carry_in(export)
    assert store.carry_out("home").candidate_totals == export.candidate_totals
    assert _seen(store) == {item.item: item.seen for item in export.candidate_items}
    store.close()
