"""The hourly cap per visitor: only so many of their decisions are learned from, in any batch and by any worker."""

from __future__ import annotations

from slotwise.service.storage import open_store
from slotwise.service.storage.count_rows import Counters
from slotwise.service.storage.decision_types import HOUR, HourlyCap, IssuedDecision, Outcome, Report, new_id

START = 1_000_000.0 * HOUR + 10.0


def _decision(visitor: str | None, now: float = START) -> IssuedDecision:
    caps = () if visitor is None else (HourlyCap(visitor, 3),)
    return IssuedDecision(new_id(now), "home", ("a", "b"), "learned", now, now + 60.0, caps=caps)


def test_decisions_beyond_the_cap_are_kept_and_not_counted(url: str) -> None:
    """One click each: 3 of the 7 of one visitor count, and everything of the others."""
    store, other = open_store(url), open_store(url)
    store.put_placement("home", "{}")
    batches: list[list[str | None]] = [["bot", "bot", "shy"], ["bot", None, None, None, None], ["bot"] * 4]
    decisions: list[IssuedDecision] = []
    for worker, visitors in zip((store, other, store), batches, strict=True):
        decisions += worker.write([_decision(visitor) for visitor in visitors], [])[0]
    capped = [decision for decision in decisions if decision.capped]
    assert [decision.caps[0].visitor for decision in capped] == ["bot"] * 4
    receipts = store.write([], [Report(decision.id, Outcome("clicked", "b"), START + 1) for decision in decisions])[1]
    assert {receipt.verdict for receipt in receipts} == {"recorded"}
    store.finalise(START + 60.0, 100)
    counted = sum(store.counters()["home"].values(), Counters())
    assert counted == Counters(issued=12, clicked=8, capped=4)
    assert (counted.final, counted.pending) == (12, 0)
    assert sum(row.clicks for row in store.tally("home")) == 8
    assert sum(row.clicks for row in store.period_tally("home")) == 8
    # the decision and its outcome are kept, and are not part of the log
    kept = store.logged(capped[0].id)
    assert kept is not None
    assert kept.decision.capped
    assert kept.outcome == Outcome("clicked", "b")
    assert len(store.log("", "g", 100)) == 8
    # a new hour
    ((fresh,), _) = store.write([_decision("bot", START + HOUR)], [])
    assert not fresh.capped
    store.finalise(START + 3 * HOUR, 100)
    assert store.all("SELECT COUNT(*) FROM visitor_hours") == [(0,)]
    store.write([_decision("bot", START + 3 * HOUR)], [])
    store.drop_placement("home")
    assert store.all("SELECT COUNT(*) FROM visitor_hours") == [(0,)]
    store.close()
    other.close()


def test_a_decision_beyond_either_cap_is_not_counted(url: str) -> None:
    """One network with many visitors, and one visitor in many networks; a decision counts for both caps."""
    store = open_store(url)
    store.put_placement("home", "{}")
    pairs = [("v", "n"), ("v", "n"), ("v", "m"), ("w", "n"), ("w", "m"), ("x", "m")]
    decisions = [
        IssuedDecision(
            new_id(START), "home", ("a",), "learned", START, START + 60.0, caps=(HourlyCap(v, 2), HourlyCap(n, 2))
        )
        for v, n in pairs
    ]
    issued = [*store.write(decisions[:2], [])[0], *store.write(decisions[2:], [])[0]]
    assert [decision.capped for decision in issued] == [False, False, True, True, False, True]
    store.close()
