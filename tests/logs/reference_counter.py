"""The rules for click logs once more, in plain Python, and logs in which everything is wrong that can be."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pyarrow as pa

from slotwise.logs import RULES, LogTally

PAGE_COUNTS = ("impressions", "clicked", "counted", "no_click", "multi_click")
COLUMNS = ("page", "impression", "slot", "item", "clicked", "turn")


def dirty_rows(
    seed: int, impressions: int = 400, from_zero: bool = False, together: float = 0.0, in_order: bool = True
) -> list[list[Any]]:
    """Rows of COLUMNS, most of them regular; a share of the impressions have their rows together, in order of ids."""
    rng = np.random.default_rng(seed)
    rows: list[list[Any]] = []
    scattered: list[list[Any]] = []
    for impression in range(impressions) if in_order else rng.permutation(impressions).tolist():
        length = rng.integers(2, 6)
        items, clicked = rng.permutation(9)[:length], rng.integers(-3, length)
        shown: list[list[Any]] = [
            [f"page {impression % 2}", impression, slot + 1, f"i{items[slot]}", bool(slot == clicked), None]
            for slot in range(length)
        ]
        if clicked >= 0:
            shown[clicked][5] = 1.0
        spoil(shown, int(rng.integers(25)), rng)
        if rng.random() < together:
            rows += shown
        else:
            scattered += shown
    rng.shuffle(scattered)
    rows += scattered
    for row in rows:
        if from_zero and row[2] is not None:
            row[2] -= 1
    return rows


def spoil(shown: list[list[Any]], how: int, rng: np.random.Generator) -> None:
    first, second = shown[0], shown[1]
    if how == 0:
        shown += [list(first), list(first)]
    elif how == 1:
        shown.append([*first[:4], not first[4], 2.0])
    elif how == 2:
        first[2] = None
    elif how == 3:
        first[3] = None
    elif how == 4:
        second[2] = first[2]
    elif how == 5:
        second[3] = first[3]
    elif how == 6:
        first[4:], second[4:] = [True, 5.0], [True, 3.0]
    elif how == 7:
        first[4:], second[4:] = [True, 3.0], [True, 3.0]
    elif how == 8:
        first[4:], second[4:] = [True, None], [True, 3.0]
    elif how == 9:
        second[4] = None
    elif how == 10:
        first[1] = None
    elif how == 11:
        first[0] = None
    elif how == 12:
        del shown[0]
    elif how == 13:
        first[2:] = [None, "stray", True, 1.0]
    elif how == 14:
        first[2] = 40 + rng.integers(30)
    elif how == 15:
        shown.append([*first[:2], None, first[3], True, 2.0])
    elif how == 16:
        shown.append([*first[:3], None, True, 2.0])


def table(rows: list[list[Any]]) -> pa.Table:
    kinds = (pa.string(), pa.int64(), pa.int64(), pa.string(), pa.bool_(), pa.float64())
    values = zip(*rows, strict=True) if rows else [()] * len(COLUMNS)
    return pa.table(
        {name: pa.array(list(column), kind) for name, column, kind in zip(COLUMNS, values, kinds, strict=True)}
    )


class Plain:
    """A reference counter, slow and simple."""

    def __init__(self, rows: list[list[Any]], rule: str) -> None:
        self.counts = Counter(dict.fromkeys(RULES, 0))
        self.clicks: dict[str, Counter[tuple[int, str]]] = defaultdict(Counter)
        self.passes: dict[str, Counter[tuple[int, str]]] = defaultdict(Counter)
        self.shown: dict[str, Counter[tuple[int, str]]] = defaultdict(Counter)
        self.pages: dict[str, Counter[str]] = defaultdict(Counter)
        self.rule = rule
        from_zero = any(row[2] == 0 for row in rows)
        assert from_zero or any(row[2] == 1 for row in rows)
        self.counts["slots_from_0"] = sum(row[2] is not None for row in rows) if from_zero else 0
        pages: dict[tuple[str, int], dict[tuple[Any, Any], list[Any]]] = defaultdict(dict)
        for page, impression, slot, item, clicked, turn in rows:
            self.counts["rows"] += 1
            missing = "impression" if impression is None else "placement" if page is None else None
            if missing is not None:
                self.counts[f"null_{missing}"] += 1
                self.counts["clicks_of_nothing"] += bool(clicked)
                continue
            if clicked is None:
                self.counts["null_clicked"] += 1
            if not clicked and (slot is None or item is None):
                self.counts["null_slot" if slot is None else "null_item"] += 1
                continue
            pair = slot if slot is None else slot + from_zero, item
            copies = pages[page, impression].setdefault(pair, [0, False, None])
            copies[0] += 1
            copies[1] = copies[1] or bool(clicked)
            if clicked and turn is not None:
                earliest = turn if copies[2] is None else min(copies[2], turn)
                latest = turn if copies[2] is None else max(copies[2], turn)
                copies[2] = latest if rule == "last" else earliest
        for (page, _), pairs in pages.items():
            self._count_page(page, pairs)
        self.counts["impressions"] = sum(page["impressions"] for page in self.pages.values())
        self.counts["counted"] = sum(page["counted"] for page in self.pages.values())

    def _join(self, pairs: dict[tuple[Any, Any], list[Any]]) -> None:
        """Clicks without a slot or an item go where their impression shows it."""
        placed = [pair for pair in pairs if None not in pair]
        for slot, item in [pair for pair in pairs if None in pair and pair != (None, None)]:
            homes = [pair for pair in placed if slot in pair or item in pair]
            if homes:
                copies, _, turn = pairs.pop((slot, item))
                home = pairs[min(homes)]
                turns = [one for one in (turn, home[2]) if one is not None]
                home[1], home[2] = True, (max if self.rule == "last" else min)(turns, default=None)
                self.counts["joined_clicks"] += copies

    def _count_page(self, page: str, pairs: dict[tuple[Any, Any], list[Any]]) -> None:
        mine = self.pages[page]
        mine["impressions"] += 1
        mine["clicked"] += any(clicked for _, clicked, _ in pairs.values())
        self._join(pairs)
        self.counts["duplicate_rows"] += sum(copies - 1 for copies, _, _ in pairs.values())
        hit = [(turn, pair) for pair, (_, clicked, turn) in pairs.items() if clicked]
        slots, items = [slot for slot, _ in pairs], [item for _, item in pairs]
        if any(None in pair for _, pair in hit):
            self.counts["click_not_shown"] += 1
            return
        mine["multi_click"] += len({item for _, (_, item) in hit}) > 1
        if len(set(slots)) < len(slots):
            self.counts["conflicting_slots"] += 1
        elif len(set(items)) < len(items):
            self.counts["repeated_items"] += 1
        elif len(hit) > 1 and self.rule == "drop":
            self.counts["multi_click_drop"] += 1
        elif len(hit) > 1 and any(turn is None for turn, _ in hit):
            self.counts["multi_click_unordered"] += 1
        else:
            if len(hit) > 1:
                self.counts[f"multi_click_{self.rule}"] += 1
                sign = 1 if self.rule == "first" else -1
                hit = [min(hit, key=lambda one: (sign * one[0], one[1][0]))]
            self.counts["missing_slots"] += max(slots) > len(slots)
            mine["counted"] += 1
            mine["no_click"] += not hit
            self.shown[page].update(list(pairs))
            self.clicks[page].update(pair for _, pair in hit)
            if not hit:
                self.passes[page].update(list(pairs))

    def check(self, found: dict[str, LogTally]) -> None:
        """Refuse, by an assertion, any tally that is not this one."""
        assert list(found) == sorted(self.shown)
        for page, tally in found.items():
            assert dict(tally.cleaning) == dict(self.counts)
            assert {name: getattr(tally, name) for name in PAGE_COUNTS} == {
                name: self.pages[page][name] for name in PAGE_COUNTS
            }
            assert tally.item_ids == tuple(sorted({item for _, item in self.shown[page]}))
            assert tally.slots == max(slot for slot, _ in self.shown[page])
            for matrix, wanted in (
                (tally.clicks, self.clicks[page]),
                (tally.passes, self.passes[page]),
                (tally.showings, self.shown[page]),
            ):
                cells = {
                    (int(slot) + 1, tally.item_ids[item]): int(matrix[slot, item]) for slot, item in np.argwhere(matrix)
                }
                assert cells == {pair: count for pair, count in wanted.items() if count}
