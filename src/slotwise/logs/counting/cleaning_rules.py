"""The cleaning rules by name: the finding and its treatment."""

from __future__ import annotations

from typing import Literal

from slotwise.logs.reading.event_formats import EVENT_RULES

#: which of several clicks in one impression counts, or that the impression is left out
MultiClick = Literal["first", "last", "drop"]
MULTI_CLICK: tuple[MultiClick, ...] = ("first", "last", "drop")

#: sizes of the log; everything else in `RULES` is a finding
SIZES = ("rows", "impressions", "counted")
#: rules that guess what a log means
GUESSES = ("words_for_nothing", "items_named_nothing", "similar_items", "slots_from_0", "slots_from_later")
RULES = {
    "rows": "rows read",
    "impressions": "impressions found",
    "counted": "impressions counted",
    "null_impression": "rows without an impression: left out, they belong to nothing",
    "null_placement": "rows without a placement: left out, they belong to nothing",
    "null_weight": "rows that stand for no impression at all: left out",
    "null_time": "impressions without a time: left out, they belong to no period",
    "clicks_of_nothing": "of the rows left out so far, those with a click",
    "null_clicked": "rows that do not say whether they were clicked: taken as not clicked",
    "null_slot": "rows without a slot, not clicked: left out, the rest of their impression is kept",
    "null_item": "rows without an item, not clicked: left out, the rest of their impression is kept",
    "duplicate_rows": "rows that repeat another one (same impression, slot and item): counted once",
    "joined_clicks": "clicks in rows of their own, without a slot or an item: given to what their impression shows",
    "words_for_nothing": "slots or clicks that are a word such as NaN, None or -: taken as missing, or as no click",
    "items_named_nothing": "rows with an item called NaN, None, - or the like: taken for the name of an item",
    "similar_items": "rows with items whose ids look alike, such as 1, 1.0 and 001: counted as different items",
    "slots_from_0": "rows with a slot, and the lowest slot is 0: slots were counted from 0, so 1 was added",
    "slots_from_later": "rows with a slot, and the lowest slot is above 1: taken as the first, and called slot 1",
    "missing_slots": "impressions with a gap in their slots: the slots in the gap are taken as empty",
    "cut_lists": "impressions with a click that list hardly anything below the clicked item, unlike the others",
    "shorter_lists": "impressions with a click that list fewer items below the clicked one than the others",
    "conflicting_slots": "impressions with two items in one slot: left out, what was shown is not known",
    "repeated_items": "impressions with an item in two slots: left out, the model shows an item once",
    "click_not_shown": "impressions with a click on something that has no slot or item, or was not shown: left out",
    "empty_impressions": "impressions without any item: left out",
    "lost_placements": "placements of which no impression could be counted: left out",
    "rare_placements": "placements with the fewest rows, more than the maximum number (max-placements): left out",
    "multi_click_first": "impressions with clicks on several items: the first click counts",
    "multi_click_last": "impressions with clicks on several items: the last click counts",
    "multi_click_drop": "impressions with clicks on several items: left out",
    "multi_click_all": "impressions with clicks on several items: all clicks count",
    "multi_click_unordered": "impressions with clicks on several items and their order missing: left out",
    **EVENT_RULES,
}
