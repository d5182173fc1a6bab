"""When and for whom: what a store adds up by period and segment."""

from __future__ import annotations

import threading
from dataclasses import replace

from slotwise.service.storage import Store, open_store
from slotwise.service.storage.accumulator import delay_class, delay_class_end
from slotwise.service.storage.count_rows import Counters, CountPeriod, TallyRow
from slotwise.service.storage.decision_types import DAY, HOUR, IssuedDecision, Outcome, Report, hour_of, new_id

#: the beginning of a day
NOW = 1_700_006_400.0
MOBILE = '{"device":"mobile"}'


def decision(issued: float = NOW, segment: str = "", window: float = 10.0) -> IssuedDecision:
    return IssuedDecision(new_id(issued), "home", ("a", "b"), "learned", issued, issued + window, segment=segment)


def _counted(store: Store) -> tuple[list[TallyRow], Counters, Counters, dict[tuple[int, str], int]]:
    by_pair = dict[tuple[int, str], int]()
    for row in store.period_tally("home"):
        by_pair[row.slot, row.item] = by_pair.get((row.slot, row.item), 0) + row.shows
    return (
        sorted(store.tally("home"), key=repr),
        sum(store.counters()["home"].values(), Counters()),
        sum((of.counters for of in store.period_counters("home")), Counters()),
        by_pair,
    )


def test_a_decision_counts_in_the_hour_in_which_it_was_issued(url: str) -> None:
    store = open_store(url)
    store.put_placement("home", "{}")
    late = decision(NOW + HOUR - 1.0, MOBILE, window=2 * HOUR)
    store.write([decision(), late], [])
    store.write([], [Report(late.id, Outcome("clicked", "b", ("a",), 2.5), NOW + HOUR + 5.0)])
    store.finalise(NOW + 9 * HOUR, 10)
    assert {row.period for row in store.period_tally("home")} == {CountPeriod(hour_of(NOW))}
    by_segment = {of.segment: of.counters for of in store.period_counters("home")}
    assert by_segment == {
        "": Counters(issued=1, no_click=1, silent=1),
        MOBILE: Counters(issued=1, clicked=1, several=1, value=2.5, squares=6.25),
    }
    assert store.counters_of("home") == {(segment, "learned"): counted for segment, counted in by_segment.items()}
    clicked = {row.item: row for row in store.tally("home") if row.clicks}
    # more than half of the list was clicked, so that clicked items are passed as well; the value is of the first click
    assert clicked["b"] == TallyRow(1, "b", 1, 1, 1, 1, 2.5, 6.25, MOBILE)
    assert (clicked["a"].clicks, clicked["a"].passes, clicked["a"].valued) == (1, 1, 0)
    store.close()


def test_merging_hours_into_days_leaves_every_sum_as_it_was(url: str) -> None:
    store = open_store(url)
    store.put_placement("home", "{}")
    store.write([decision(NOW + hour * HOUR, segment) for hour in range(50) for segment in ("", MOBILE)], [])
    store.finalise(NOW + 9 * DAY, 1000)
    before = _counted(store)
    assert store.merge_hours(NOW + 2 * DAY, 100) == 2
    assert _counted(store) == before
    starts = {row.period for row in store.period_tally("home")}
    merged = {CountPeriod(int(NOW), 24), CountPeriod(int(NOW) + DAY, 24)}
    assert starts == merged | {CountPeriod(int(NOW) + 2 * DAY), CountPeriod(int(NOW) + 2 * DAY + HOUR)}
    assert {of.period for of in store.period_counters("home")} == starts
    assert store.merge_hours(NOW + 2 * DAY, 100) == 0
    # what comes for a day that is merged is added to it by the next merge
    store.write([decision(NOW + HOUR)], [])
    store.finalise(NOW + 9 * DAY, 1000)
    before = _counted(store)
    assert store.merge_hours(NOW + DAY, 100) == 1
    assert _counted(store) == before
    assert {row.period for row in store.period_tally("home")} == starts
    store.close()


def test_hours_are_merged_while_others_count(url: str) -> None:
    store = open_store(url)
    store.put_placement("home", "{}")
    problems: list[BaseException] = []

    def count(number: int) -> None:
        mine = open_store(url)
        try:
            for turn in range(15):
                one = decision(NOW + turn % 3 * HOUR)
                mine.write([one], [])
                mine.write([], [Report(one.id, Outcome("clicked", "a"), NOW)])
                mine.finalise(NOW + 9 * DAY, 3)
                # late
                mine.write([], [Report(one.id, Outcome("no_click"), NOW + 9 * DAY)])
        except BaseException as problem:
            problems.append(problem)
        finally:
            mine.close()

    threads = [threading.Thread(target=count, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        store.merge_hours(NOW + 9 * DAY, 100)
    for thread in threads:
        thread.join()
    assert not problems
    store.finalise(NOW + 9 * DAY, 1000)
    _, total, by_period, by_pair = _counted(store)
    assert total == by_period
    assert (total.issued, total.final, total.late) == (30, 30, 30)
    assert by_pair == {(0, "a"): 30, (1, "b"): 30}
    store.close()


def test_delays_are_measured_only_on_decisions_that_wait_for_the_whole_window(url: str) -> None:
    store = open_store(url)
    store.put_placement("home", "{}")
    whole = [replace(decision(window=600.0), waits_seconds=600.0) for _ in range(3)]
    short = decision(window=60.0)
    store.write([*whole, short], [])
    store.write([], [Report(one.id, Outcome("clicked", "a"), NOW + 50.0) for one in [*whole[:2], short]])
    store.finalise(NOW + HOUR, 10)
    assert store.delays("home", 600.0) == {delay_class(50.0): 2}
    assert store.delays("home", 601.0) == {}
    assert delay_class_end(delay_class(50.0) - 1) < 50.0 <= delay_class_end(delay_class(50.0))
    store.close()
