"""No decision is counted twice or lost, whatever happens in whatever order: one machine, two databases."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from slotwise.service.storage import Store, open_store
from slotwise.service.storage.accumulator import delay_class
from slotwise.service.storage.alerts_table import PendingAlert
from slotwise.service.storage.count_rows import COUNTERS, TALLY_COUNTS
from slotwise.service.storage.decision_types import (
    Event,
    IssuedDecision,
    Once,
    Outcome,
    Report,
    RewardTerms,
    Sticky,
    new_id,
)
from slotwise.service.storage.placements_table import Change
from tests.postgres import Postgres
from tests.service.storage.model import Alert, Model

PLACEMENTS = ("home", "shop")
ITEMS = ("a", "b", "c")
WORKERS = 2
#: a minute before midnight, UTC
START = 1_700_006_340.0
SEGMENTS = ("", '{"device":"mobile"}')
LONGEST = 60.0

workers = st.integers(0, WORKERS - 1)
#: multiples of a half, whose sums are exact
values = st.sampled_from([None, 0.0, 0.5, 2.5])
#: what events are worth, and for how long after the deadline they come
rewards = st.sampled_from([None, ('{"click": 0.5, "cart": 2, "purchase": null}', 90.0), ('{"cart": 1.5}', 0.0)])
bare_events = st.builds(Event, st.sampled_from(["cart", "cart", "purchase", "click"]), values)
events = st.lists(
    st.builds(Event, st.sampled_from(["cart", "purchase"]), values, st.sampled_from(["e", "f", "g"])),
    min_size=1,
    max_size=3,
).map(tuple)
with_events = st.lists(bare_events, max_size=2).map(tuple)
outcomes = st.one_of(
    st.builds(Outcome, st.just("clicked"), st.sampled_from(ITEMS), events=with_events),
    st.builds(Outcome, st.just("no_click"), events=with_events),
    st.builds(Outcome, st.just("clicked"), st.sampled_from(ITEMS), value=values),
    st.builds(
        Outcome,
        st.just("clicked"),
        st.sampled_from(ITEMS),
        st.lists(st.sampled_from(ITEMS), max_size=2).map(tuple),
        values,
    ),
    st.sampled_from([Outcome("no_click"), Outcome("not_shown"), Outcome("clicked", "nobody knows")]),
)

placements = st.sampled_from(PLACEMENTS)
definitions = st.sampled_from(["{}", '{"other": 1}', '{"mode": "held"}'])
topics, states = st.sampled_from(["guardrail carts", "state"]), st.sampled_from(["broken", "broken", "holds"])
#: of a change: whichever version it is at, that one, an older one, or that there be none
expected = st.sampled_from(["any", "current", "older", "none"])
wishes = st.fixed_dictionaries(
    {
        "placement": placements,
        "items": st.permutations(ITEMS).flatmap(
            lambda items: st.sampled_from([2, 2, 1]).map(lambda slots: tuple(items[:slots]))
        ),
        "arm": st.sampled_from(["learned", "learned", "holdout", "shadow"]),
        "window": st.sampled_from([0.5, 2.0, LONGEST]),
        "segment": st.sampled_from(SEGMENTS),
        "reward": rewards,
        "once": st.none() | st.builds(Once, st.sampled_from(["k", "l"]), st.sampled_from(["r", "r", "s"])),
        "sticky": st.none()
        | st.tuples(
            st.sampled_from(["v", "w"]),
            st.sampled_from(["t", "t", "u"]),
            st.sampled_from([1.0, 50.0]),
            st.sampled_from([ITEMS, ITEMS, ITEMS[:2]]),
            st.sampled_from([{}, {}, {"a": 2}]),
        ),
    }
)


class Crash(BaseException):
    """As if the process ended here."""


class Machine(RuleBasedStateMachine):
    fresh: Callable[[], str]
    issued: Bundle[str] = Bundle("issued")

    @initialize()
    def begin(self) -> None:
        self.url = type(self).fresh()
        self.now = START
        self.model = Model()
        self.stores: list[Store] = [open_store(self.url) for _ in range(WORKERS)]
        for name in PLACEMENTS:
            assert self.stores[0].put_placement(name, "{}").verdict == "created"
            assert self.stores[1].put_placement(name, "{}").verdict == "same"
            self.model.put(name, "{}", None)
            self.model.placements[name].changes.clear()

    @rule(target=issued, worker=workers, wanted=st.lists(wishes, min_size=1, max_size=4))
    def decide(self, worker: int, wanted: list[dict[str, Any]]) -> Any:
        """Also with keys that were used and for visitors who come again, in one transaction or in several."""
        decisions = [self.decision(**wish) for wish in wanted]
        shown, _ = self.stores[worker].write(decisions, [])
        due = [self.model.issue(decision) for decision in decisions]
        assert [_seen(decision) for decision in shown] == [_seen(decision) for decision in due]
        return multiple(*(decision.id for decision in shown if decision.fate in ("issued", "repeated")))

    def decision(
        self,
        placement: str,
        items: tuple[str, ...],
        arm: Any,
        window: float,
        segment: str,
        once: Once | None,
        sticky: tuple[str, str, float, tuple[str, ...], dict[str, int]] | None,
        reward: tuple[str, float] | None = None,
    ) -> IssuedDecision:
        return IssuedDecision(
            new_id(self.now),
            placement,
            items,
            arm,
            self.now,
            self.now + window,
            once,
            None if sticky is None else Sticky(sticky[0], sticky[1], self.now + sticky[2], *sticky[3:]),
            segment=segment,
            waits_seconds=LONGEST if window == LONGEST else None,
            reward=None if reward is None else RewardTerms(reward[0], self.now + window + reward[1]),
        )

    @rule(
        target=issued,
        worker=workers,
        items=st.permutations(ITEMS).map(lambda items: tuple(items[:2])),
        allowed=st.sampled_from([ITEMS, ITEMS, ITEMS[:2]]),
    )
    def come_back(self, worker: int, items: tuple[str, ...], allowed: tuple[str, ...]) -> Any:
        """The same visitor under the same terms, which by chance alone is rare."""
        sticky: Any = ("v", "t", 50.0, allowed, {})
        wish = {"placement": "home", "items": items, "arm": "learned", "window": 2.0, "segment": ""}
        return self.decide(worker, [{**wish, "once": None, "sticky": sticky}])

    @rule(worker=workers)
    def begin_anew(self, worker: int) -> None:
        """Nothing of a placement that was deleted is left in one of the same name."""
        self.drop(worker, "home", "any", False)
        self.put(worker, "home", "{}", "none")

    def at(self, name: str, which: str) -> int | None:
        found = self.model.placements.get(name)
        version = found.version if found else 0
        return {"any": None, "current": version, "older": version - 1, "none": 0}[which]

    @rule(worker=workers, name=placements, definition=definitions, which=expected)
    def put(self, worker: int, name: str, definition: str, which: str) -> None:
        at = self.at(name, which)
        done = self.stores[worker].put_placement(name, definition, Change(self.now, definition), at=at)
        assert done == self.model.put(name, definition, at)

    @rule(worker=workers, name=placements, which=expected, in_pieces=st.booleans())
    def drop(self, worker: int, name: str, which: str, in_pieces: bool) -> None:
        at = self.at(name, which)
        last: str | None = "" if in_pieces else None
        while last is not None:
            last = self.stores[worker].drop_final(name, last, 2)
        if in_pieces:
            self.model.drop_final(name)
        assert self.stores[worker].drop_placement(name, at=at) == self.model.drop(name, at)

    @rule(worker=workers, reports=st.lists(st.tuples(issued, outcomes), min_size=1, max_size=4))
    def report(self, worker: int, reports: list[tuple[str, Outcome]]) -> None:
        """Also twice, against each other, late and again: the ids are few."""
        _, receipts = self.stores[worker].write([], [Report(id, outcome, self.now) for id, outcome in reports])
        wanted = [self.model.report(id, outcome, self.now) for id, outcome in reports]
        assert [receipt.verdict for receipt in receipts] == wanted

    @rule(worker=workers, reports=st.lists(st.tuples(issued, events), min_size=1, max_size=3))
    def add_events(self, worker: int, reports: list[tuple[str, tuple[Event, ...]]]) -> None:
        """Before and after the decision is final, with ids that were used, with other bodies, and after the days."""
        _, receipts = self.stores[worker].write([], [Report(id, None, self.now, new) for id, new in reports])
        assert [receipt.verdict for receipt in receipts] == [
            self.model.add_events(id, new, self.now) for id, new in reports
        ]

    @rule(
        target=issued,
        worker=workers,
        item=st.sampled_from(ITEMS[:2]),
        seconds=st.sampled_from([0.0, 3.0, 100.0]),
        new=events,
    )
    def buy_later(self, worker: int, item: str, seconds: float, new: tuple[Event, ...]) -> Any:
        """A click that is counted, and events after that: rare by chance alone."""
        reward = RewardTerms('{"click": 0.5, "cart": 2, "purchase": null}', self.now + 50.0)
        id = new_id(self.now)
        decision = IssuedDecision(id, "home", ("a", "b"), "learned", self.now, self.now + 1.0, reward=reward)
        shown, _ = self.stores[worker].write([decision], [])
        due = self.model.issue(decision)
        assert shown[0].fate == due.fate
        if due.fate != "issued":
            return multiple()
        self.report(worker, [(id, Outcome("clicked", item))])
        self.now += seconds
        self.finalise(worker, 500)
        self.add_events(worker, [(id, new)])
        return multiple(id)

    @rule(worker=workers, outcome=outcomes)
    def report_of_nothing(self, worker: int, outcome: Outcome) -> None:
        _, (receipt,) = self.stores[worker].write([], [Report(new_id(self.now), outcome, self.now)])
        assert receipt.verdict == "unknown_decision"

    @rule(seconds=st.sampled_from([0.5, 1.0, 2.0, 100.0, -5.0, 3600.0, 86_400.0]))
    def move_the_clock(self, seconds: float) -> None:
        self.now += seconds

    @rule(worker=workers, at_once=st.sampled_from([1, 3, 500]))
    def finalise(self, worker: int, at_once: int) -> None:
        counted = 0
        while found := self.stores[worker].finalise(self.now, at_once):
            counted += found
        assert counted == self.model.finalise(self.now)
        store = self.stores[worker]
        assert not store.all("SELECT * FROM keys WHERE deadline <= ?", (self.now,)), "a key outlives its decision"

    @rule(worker=workers, seconds=st.sampled_from([0.0, 3.0]))
    def compact(self, worker: int, seconds: float) -> None:
        assert self.stores[worker].compact(self.now - seconds, 100) == self.model.compact(self.now - seconds)

    @rule(worker=workers, ids=st.lists(issued, min_size=1, max_size=3, unique=True))
    def fill_propensities(self, worker: int, ids: list[str]) -> None:
        """Also of decisions that are gone, and of those whose visitor has seen the list before."""
        found = [(id, (float(len(self.model.known)), float(number))) for number, id in enumerate(ids)]
        self.stores[worker].fill_propensities(found)
        for id, propensities in found:
            self.model.fill(id, propensities)
        for id in self.model.known:
            logged = self.stores[worker].logged(id)
            assert logged is not None
            assert logged.propensities == self.model.propensities(id)

    @rule(worker=workers, days=st.sampled_from([-1, 0, 1]))
    def merge(self, worker: int, days: int) -> None:
        """Also hours that are not over, to which something is added afterwards."""
        before = self.now - days * 86_400.0
        merged = 0
        while found := self.stores[worker].merge_hours(before, 1):
            merged += found
        assert merged == self.model.merge(before)

    @rule(worker=workers, name=st.sampled_from(PLACEMENTS), start=st.sampled_from([0, 3600]), text=st.text(max_size=3))
    def store_hourly_summary(self, worker: int, name: str, start: int, text: str) -> None:
        text = text.replace("\0", "")
        self.stores[worker].store_hourly_summary(name, start, text)
        kept = self.model.ends.setdefault((name, start), text)
        assert self.stores[worker].hourly_summaries(name, start, start + 1) == [(start, kept)]

    @rule(worker=workers, name=placements, topic=topics, state=states, is_reported=st.booleans())
    def note_state(self, worker: int, name: str, topic: str, state: str, is_reported: bool) -> None:
        """Also of a placement that is gone."""
        message = f"{state} at {self.now}" if is_reported else None
        self.stores[worker].note_state(name, topic, state, message, self.now)
        self.model.note_state(name, topic, state, message, self.now)

    @rule(worker=workers, seconds=st.sampled_from([0.0, 5.0, 10.0]))
    def send_alerts(self, worker: int, seconds: float) -> None:
        """No message is claimed twice before its next attempt."""
        self.now += seconds
        for now in (self.now, self.now + 1.0):
            assert {*self.stores[worker].claim_alerts(now, 20)} == self.model.claim_alerts(now)

    @rule(worker=workers, name=placements, topic=topics, state=states)
    def finish_alert(self, worker: int, name: str, topic: str, state: str) -> None:
        """Also of a state that has passed."""
        self.stores[worker].finish_alert(PendingAlert(name, topic, state, ""))
        self.model.finish_alert(name, topic, state)

    @rule(
        worker=workers,
        data=st.data(),
        what=st.sampled_from(["write", "write", "events", "finalise", "merge", "put", "drop", "note"]),
        bought=issued,
    )
    def crash(self, worker: int, data: st.DataObject, what: str, bought: str) -> None:
        """In the middle of a transaction, at any of its statements; nothing of it was acknowledged."""
        store = self.stores[worker]
        left = data.draw(st.integers(1, 9), label="statements before the crash")

        def counting(run: Callable[..., Any]) -> Callable[..., Any]:
            def counted(*arguments: Any) -> Any:
                nonlocal left
                left -= 1
                if left == 0:
                    raise Crash
                return run(*arguments)

            return counted

        store.all = counting(store.all)  # type: ignore[method-assign]
        id = new_id(self.now)
        try:
            if what == "merge":
                store.merge_hours(self.now + 86_400.0, 100)
            elif what == "finalise":
                store.finalise(self.now, 500)
                self.model.finalise(self.now)
            elif what == "events":
                new = (Event("cart", None, f"crash {id}"),)
                store.write([], [Report(bought, None, self.now, new)])
                self.model.add_events(bought, new, self.now)
            elif what == "note":
                store.note_state("home", "state", f"after {id}", "message", self.now)
                self.model.note_state("home", "state", f"after {id}", "message", self.now)
            elif what == "put":
                store.put_placement("home", '{"new": 1}', Change(self.now, ""))
                self.model.put("home", '{"new": 1}', None)
            elif what == "drop":
                store.drop_placement("home")
                self.model.drop("home", None)
            else:
                sticky = Sticky("v", "t", self.now + 50.0, ITEMS)
                decision = IssuedDecision(
                    id, "home", ("a", "b"), "learned", self.now, self.now + 1.0, once=Once("k", "r"), sticky=sticky
                )
                store.write([decision], [Report(id, Outcome("no_click"), self.now)])
                self.model.issue(decision)
        except Crash:
            pass
        store.close()
        self.stores[worker] = open_store(self.url)
        if what == "merge":
            # a day at a time: those before the crash are merged, and the next time all are
            while self.stores[worker].merge_hours(self.now + 86_400.0, 1):
                pass
            self.model.merge(self.now + 86_400.0)

    @rule(worker=workers)
    def restart(self, worker: int) -> None:
        secret = self.stores[worker].secret()
        self.stores[worker].close()
        self.stores[worker] = open_store(self.url)
        assert self.stores[worker].secret() == secret

    @invariant()
    def nothing_is_lost_or_counted_twice(self) -> None:
        if not hasattr(self, "stores"):
            return
        store = self.stores[0]
        tally = {
            (name, row.segment, row.slot, row.item): tuple(getattr(row, count) for count in TALLY_COUNTS)
            for name in PLACEMENTS
            for row in store.tally(name)
        }
        assert tally == self.model.tally()
        counted = Counter[str]()
        assert store.counters().keys() <= self.model.placements.keys(), "counters of what was deleted"
        for arms in store.counters().values():
            for counters in arms.values():
                counted.update({name: getattr(counters, name) for name in COUNTERS})
        assert +counted == self.model.counted()
        by_segment = Counter[str]()
        for name in PLACEMENTS:
            for counters in store.counters_of(name).values():
                by_segment.update(dict(zip(COUNTERS, counters.all(), strict=True)))
        assert by_segment == counted
        assert _periods(store) == +self.model.periods
        for name in PLACEMENTS:
            assert store.reported(name) == self.model.waiting(name)
            assert store.delays(name, LONGEST) == Counter(map(delay_class, self.model.delays(name, LONGEST)))

    @invariant()
    def states_are_known(self) -> None:
        if not hasattr(self, "stores"):
            return
        rows = self.stores[0].all("SELECT placement, topic, state, message, since, next_try, attempts FROM alerts")
        assert {row[:2]: Alert(*row[2:]) for row in rows} == self.model.alerts

    @invariant()
    def placements_are_at_their_versions(self) -> None:
        if not hasattr(self, "stores"):
            return
        store = self.stores[-1]
        wanted = {name: found.version for name, found in self.model.placements.items()}
        assert {found.placement: found.version for found in store.versions()} == wanted
        for name in PLACEMENTS:
            known = self.model.placements.get(name)
            listed = [change.version for change in store.changes(name, 1000)]
            assert listed == (known.changes[::-1] if known else [])
            if known:
                assert store.definition(name) == known.definition

    def teardown(self) -> None:
        if not hasattr(self, "stores"):
            return
        self.now += 1000.0
        self.finalise(0, 500)
        self.nothing_is_lost_or_counted_twice()
        for store in self.stores:
            store.close()


def _seen(decision: IssuedDecision) -> tuple[Any, ...]:
    """All that a caller may be told of it; of one that was not issued, only why."""
    if decision.fate in ("issued", "repeated"):
        return decision.fate, decision.id, decision.items, decision.arm, decision.issued, decision.deadline
    return (decision.fate,)


def _periods(store: Store) -> Counter[tuple[Any, ...]]:
    found = Counter[tuple[Any, ...]]()
    for name in PLACEMENTS:
        for row in store.period_tally(name):
            key = (name, row.period.start, row.period.hours, row.segment, row.arm, row.slot, row.item)
            found.update({(*key, "clicks"): row.clicks, (*key, "passes"): row.passes, (*key, "shows"): row.shows})
        for events in store.event_counts(name):
            found[name, events.period.start, events.period.hours, "event", events.arm, events.event] += events.decisions
        for of in store.period_counters(name):
            for counter, count in zip(COUNTERS, of.counters.all(), strict=True):
                found[name, of.period.start, of.period.hours, of.segment, of.arm, counter] += count  # type: ignore[assignment]
    return +found


def _run(fresh: Callable[[], str], examples: int) -> None:
    class Here(Machine):
        pass

    Here.fresh = staticmethod(fresh)
    run_state_machine_as_test(
        Here,
        settings=settings(
            max_examples=examples,
            stateful_step_count=30,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_on_sqlite() -> None:
    # where a file system in memory is, it is used: what is tested here is not the disk
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else None))
    files = iter(range(1_000_000))
    try:
        _run(lambda: f"sqlite:///{folder}/{next(files)}.db", 60)
    finally:
        shutil.rmtree(folder)


@pytest.mark.usefixtures("postgres")
def test_on_postgresql(postgres: Postgres) -> None:
    _run(postgres.fresh, 40)
