from __future__ import annotations

from slotwise.demo.recent_lists import MAX_LISTS, RecentLists


def test_nothing_was_shown_yet() -> None:
    assert RecentLists().typical() == []


def test_no_item_is_named_twice_though_it_leads_in_two_slots() -> None:
    recent = RecentLists()
    for shown in (["a", "b"], ["a", "c"], ["b", "a"], ["c", "a"]):
        recent.add(shown)
    places = recent.typical()
    assert len({place.item for place in places}) == len(places) == 2
    assert sum(place.share for place in places) == 0.75


def test_only_the_last_lists_count() -> None:
    recent = RecentLists()
    for _ in range(MAX_LISTS):
        recent.add(["old", "b"])
    for _ in range(MAX_LISTS):
        recent.add(["new", "b"])
    assert [(place.item, place.share) for place in recent.typical()] == [("new", 1.0), ("b", 1.0)]


def test_a_shorter_list_is_shown_as_it_is() -> None:
    recent = RecentLists()
    recent.add(["a"])
    assert [place.item for place in recent.typical()] == ["a"]
