"""What is wrong with a log is put right or left out, impression by impression.

Most impressions are regular. A few cheap sums per impression find the others, and only these are looked at row by row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Unpack

import ibis
import ibis.expr.types as ir
import pyarrow as pa

from slotwise import checks
from slotwise.errors import InvalidInput
from slotwise.logs.counting.cleaning_rules import MULTI_CLICK, MultiClick
from slotwise.logs.counting.lost_clicks import refuse_lost
from slotwise.logs.counting.page_counts import PageCounts
from slotwise.logs.counting.row_checks import check_rows
from slotwise.logs.reading.columns import Columns
from slotwise.logs.reading.engine_functions import bit_count, duckdb_hash
from slotwise.logs.reading.layout import Layout
from slotwise.logs.reading.sources import ReadOptions, read_with_clicks

#: what a row may carry besides what is counted
OPTIONAL = ("propensity", "item_propensity", "weight")


@dataclass(frozen=True)
class CleanLog:
    """What is left of a log to count."""

    #: one row per shown item: keys, slot from 1, item, clicked, page_clicked (and propensity, weight)
    rows: ir.Table
    #: the columns that identify an impression: impression, or placement and impression
    keys: tuple[str, ...]
    #: how often each rule was needed
    counts: dict[str, int]
    #: by placement; under None where the log has none
    pages: dict[str | None, PageCounts]
    #: which of several clicks counts
    rule: MultiClick
    #: of the impressions with several clicks, by slot and item: shown, first, last; None if their order is not known
    several: pa.Table | None
    #: where all clicks are kept, the slot of the first in time of each impression with several; None if not known
    first_clicks: pa.Table | None = None


@contextmanager
def clean_log(
    source: Any,
    columns: Columns,
    multi_click: MultiClick | None = None,
    every_click: bool = False,
    **reading: Unpack[ReadOptions],
) -> Iterator[CleanLog]:
    """Read a log and clean it; the rows are there for as long as the block lasts."""
    with (
        read_with_clicks(source, **reading) as (table, clicks),
        cleaned(table, columns, multi_click, clicks, every_click) as log,
    ):
        yield log


@contextmanager
def cleaned(
    table: ir.Table,
    columns: Columns,
    multi_click: MultiClick | None = None,
    clicks: ir.Table | None = None,
    every_click: bool = False,
) -> Iterator[CleanLog]:
    """Apply the rules of `RULES`, and count; the rows are there for as long as the block lasts.

    Of several clicks in an impression the first or the last counts, or the impression is dropped. The default is the
    first where the log has their order, and to drop where it has not. With `every_click`, all of them are kept.
    """
    with ExitStack() as stack:

        def keep(made: ir.Table) -> ir.Table:
            kept = made.cache()
            stack.callback(kept.release)
            return kept

        layout = Layout.of(table, columns, clicks)
        rows = layout.rows(keep)
        # no tally can be counted by this one
        rule: Any = "all" if every_click else _rule(multi_click, ordered="order" in rows.columns)
        counts, first = check_rows(layout, rows)
        keys = tuple(name for name in ("placement", "impression") if name in rows.columns)
        usable = _usable(rows, keys, 1 - first)
        pages = keep(_pages(usable, keys))
        odd = keep(_odd(usable, pages, keys))
        any_odd = odd.count().to_pyarrow().as_py() > 0
        regular = pages.anti_join(odd, list(keys)) if any_odd else pages
        whole = _regular(usable, regular, odd, keys)
        totals: dict[str | None, PageCounts] = {}
        _count_pages(totals, regular.mutate(counted=ibis.literal(True), several=ibis.literal(False)), keys)
        counts["missing_slots"] += _total(regular, regular.gap)
        unique, several, first_clicks = None, None, None
        if any_odd:
            unique = keep(_unique(usable.semi_join(odd, list(keys)), keys))
            judged = keep(_judged(unique, keys, rule))
            _count_odd(unique, judged, counts, rule)
            _count_pages(totals, judged.mutate(counted=judged.verdict == "kept"), keys)
            whole = whole.union(_mended(unique, judged, keys, rule))
            if "first" in unique.columns and any(found.multi_click for found in totals.values()):
                several = _several(unique, judged, keys).to_pyarrow()
                first_clicks = _first_clicks(unique, judged, keys).to_pyarrow() if every_click else None
        refuse_lost(list(totals.values()), counts, unique, keys)
        counts["lost_placements"] = sum(not found.counted for found in totals.values())
        yield CleanLog(whole, keys, counts, totals, rule, several, first_clicks)


def _rule(multi_click: MultiClick | None, *, ordered: bool) -> MultiClick:
    if multi_click is None:
        return "first" if ordered else "drop"
    checks.one_of("multi_click", multi_click, MULTI_CLICK)
    if multi_click != "drop" and not ordered:
        raise InvalidInput(f"multi_click={multi_click} needs the order of the clicks: name the column that has it")
    return multi_click


def _usable(rows: ir.Table, keys: Sequence[str], shift: int) -> ir.Table:
    """The rows to use: items with a slot, and clicks on anything."""
    clicked = rows.clicked.fill_null(False)
    known = rows.impression.notnull()
    if "placement" in keys:
        known &= rows.placement.notnull()
    if "weight" in rows.columns:
        known &= rows.weight.fill_null(0) > 0
    said = known & ((rows.slot.notnull() & rows.item.notnull()) | clicked)
    return rows.filter(said).mutate(
        slot=lambda kept: kept.slot + shift, clicked=lambda kept: kept.clicked.fill_null(False)
    )


def _pages(usable: ir.Table, keys: Sequence[str]) -> ir.Table:
    """Per impression: whether it has no click, whether it is odd or may be, and whether its slots have a gap."""
    quick = usable.get_backend().name == "duckdb"
    items = _hashed_items(usable.item) if quick else {"items_0": usable.item.nunique()}
    pages = usable.group_by(keys).aggregate(
        shown=usable.count(),
        placed=usable.count(where=usable.slot.notnull() & usable.item.notnull()),
        last=usable.slot.max(),
        clicks=usable.count(where=usable.clicked),
        different=_own_bits(usable.slot.cast("uint64")) if quick else usable.slot.nunique(),
        **items,
        **({"weight": usable.weight.max()} if "weight" in usable.columns else {}),
    )
    return pages.select(
        *keys,
        *(["weight"] if "weight" in usable.columns else []),
        no_click=pages.clicks == 0,
        odd=(pages.clicks > 1) | (pages.placed < pages.shown) | (pages.different < pages.shown),
        # items that are different under one hash are different
        suspect=ibis.and_(*(pages[name] < pages.shown for name in items)),
        gap=pages.last > pages.shown,
    )


#: six bits of an item's hash from each of these on say which bit it sets. An impression in which two items share a bit
#: every time, one in thirty lists of ten, is looked at again. DuckDB's count(distinct …) over ten million groups takes
#: four times as long as all of this together
SHIFTS = (0, 6, 12, 18, 24)


def _hashed_items(item: ir.Value) -> dict[str, ir.Value]:
    """Under each hash, a lower bound on how many different items there are."""
    return {f"items_{shift}": _own_bits(duckdb_hash(item) >> shift) for shift in SHIFTS}


def _own_bits(number: ir.Value) -> ir.Value:
    return bit_count((ibis.literal(1, "uint64") << (number & 63)).bit_or())


def _odd(usable: ir.Table, pages: ir.Table, keys: Sequence[str]) -> ir.Table:
    """The keys of the impressions to look at row by row."""
    suspects = usable.semi_join(pages.filter(pages.suspect & ~pages.odd), list(keys))
    found = suspects.group_by(keys).aggregate(shown=suspects.count(), items=suspects.item.nunique())
    return pages.filter(pages.odd).select(*keys).union(found.filter(found["items"] < found.shown).select(*keys))


def _regular(usable: ir.Table, pages: ir.Table, odd: ir.Table, keys: Sequence[str]) -> ir.Table:
    """The rows of the impressions that have nothing odd about them."""
    # impressions without a click, usually most of them, are those without a mark: the table to join stays small
    clicked = pages.filter(~pages.no_click).select(*keys, odd=ibis.literal(False))
    marks = clicked.union(odd.mutate(odd=ibis.literal(True)))
    found = usable.left_join(marks, list(keys))
    regular = found.filter(~found.odd.fill_null(False))
    return _row(regular, keys, page_clicked=regular.odd.notnull())


def _row(rows: ir.Table, keys: Sequence[str], **made: Any) -> ir.Table:
    names = [*keys, "slot", "item", "clicked"]
    last = [name for name in OPTIONAL if name in rows.columns]
    return rows.mutate(**made).select(*names, "page_clicked", *last)


def _unique(rows: ir.Table, keys: Sequence[str]) -> ir.Table:
    """Each slot and item of an impression once, clicked if any of its copies is, and when first and last."""
    rows = _joined(rows, keys)
    rest: dict[str, Any] = {}
    if "order" in rows.columns:
        clicked = ibis.ifelse(rows.clicked, rows.order, None)
        rest |= {"first": clicked.min(), "last": clicked.max()}
    for name in OPTIONAL:
        if name in rows.columns:
            rest[name] = rows[name].max()
    return rows.group_by([*keys, "slot", "item"]).aggregate(
        copies=rows.count(where=~rows.joined), joined=rows.joined.sum(), clicked=rows.clicked.any(), **rest
    )


def _joined(rows: ir.Table, keys: Sequence[str]) -> ir.Table:
    """Give a click without a slot that of its item in the same impression, and one without an item that of its slot."""
    page = [rows[key] for key in keys]
    slot = rows.slot.coalesce(rows.slot.min().over(group_by=[*page, rows.item]))
    item = rows.item.coalesce(rows.item.min().over(group_by=[*page, rows.slot]))
    slot = ibis.ifelse(rows.item.isnull(), rows.slot, slot)
    item = ibis.ifelse(rows.slot.isnull(), rows.item, item)
    joined = (rows.slot.isnull() & slot.notnull()) | (rows.item.isnull() & item.notnull())
    return rows.mutate(slot=slot, item=item, joined=joined)


def _judged(unique: ir.Table, keys: Sequence[str], rule: str) -> ir.Table:
    """The verdict on each odd impression: kept, or why it is left out."""
    placed = unique.slot.notnull() & unique.item.notnull()
    order = unique["first"] if "first" in unique.columns else ibis.null("float64")
    found = unique.group_by(keys).aggregate(
        shown=placed.sum(),
        slots=unique.slot.nunique(where=placed),
        items=unique.item.nunique(where=placed),
        last=unique.slot.max(where=placed),
        clicks=unique.clicked.sum(),
        lost=(unique.clicked & ~placed).sum(),
        unordered=(unique.clicked & order.isnull()).sum(),
        **({"weight": unique.weight.max()} if "weight" in unique.columns else {}),
    )
    several = found.clicks > 1
    # clicks without an order do no harm where all but one are copies of it
    verdict = ibis.cases(
        (found.lost > 0, "click_not_shown"),
        (found.slots < found.shown, "conflicting_slots"),
        (found["items"] < found.shown, "repeated_items"),
        (several & ibis.literal(rule == "drop"), "multi_click_drop"),
        (several & (found.unordered > 0) & ibis.literal(rule != "all"), "multi_click_unordered"),
        else_="kept",
    )
    gap = (found.last > found.shown).fill_null(False)
    return found.select(
        *keys,
        *(["weight"] if "weight" in found.columns else []),
        verdict=verdict,
        no_click=found.clicks == 0,
        several=several & (found.lost == 0),
        ordered=found.unordered == 0,
        gap=gap,
    )


def _count_odd(unique: ir.Table, judged: ir.Table, counts: dict[str, int], rule: MultiClick) -> None:
    (found,) = (
        unique.aggregate(again=(unique.copies - 1).sum(where=unique.copies > 1), joined=unique.joined.sum())
        .to_pyarrow()
        .to_pylist()
    )
    counts["duplicate_rows"] += int(found["again"] or 0)
    counts["joined_clicks"] += int(found["joined"] or 0)
    kept = judged.verdict == "kept"
    verdicts = judged.group_by("verdict").aggregate(times=impressions_in(judged)).to_pyarrow().to_pylist()
    for row in verdicts:
        if row["verdict"] != "kept":
            counts[row["verdict"]] += int(row["times"])
    counts["missing_slots"] += _total(judged, kept & judged.gap)
    counts[f"multi_click_{rule}"] += _total(judged, kept & judged.several)


def impressions_in(table: ir.Table, where: ir.BooleanValue | None = None) -> ir.Value:
    """How many impressions the rows of a table stand for, each of them for one or for its weight."""
    if "weight" not in table.columns:
        return table.count(where=where)
    return table.weight.sum(where=where).coalesce(0)


def _total(pages: ir.Table, where: ir.BooleanValue) -> int:
    return int(pages.aggregate(total=impressions_in(pages, where)).to_pyarrow()["total"][0].as_py() or 0)


def _mended(unique: ir.Table, judged: ir.Table, keys: Sequence[str], rule: str) -> ir.Table:
    """The rows of the odd impressions that are kept, with at most one click each, unless all are to be."""
    good = judged.filter(judged.verdict == "kept").select(*keys, "no_click")
    rows = unique.inner_join(good, list(keys))
    if rule not in ("drop", "all"):
        rows = rows.mutate(turn=_turn(rows, keys, rule))
        rows = rows.mutate(clicked=rows.clicked & (rows.turn == 0))
    return _row(rows, keys, page_clicked=~rows.no_click)


def _turn(rows: ir.Table, keys: Sequence[str], rule: str) -> ir.Value:
    """0 for the first click of its impression, or for the last; where two come at the same time, for the upper one."""
    when = rows["first"] if rule == "first" else -rows["last"]
    return ibis.row_number().over(group_by=[rows[key] for key in keys], order_by=[~rows.clicked, when, rows.slot])


def _several(unique: ir.Table, judged: ir.Table, keys: Sequence[str]) -> ir.Table:
    """How often each slot and item was shown in impressions with several clicks, had the first one, and the last."""
    sound = judged.several & judged.ordered & judged.verdict.isin(["kept", "multi_click_drop"])
    rows = unique.semi_join(judged.filter(sound).select(*keys), list(keys))
    rows = rows.mutate(early=_turn(rows, keys, "first"), late=_turn(rows, keys, "last"))
    return rows.group_by([*(key for key in keys if key == "placement"), "slot", "item"]).aggregate(
        shown=impressions_in(rows),
        first=impressions_in(rows, rows.early == 0),
        last=impressions_in(rows, rows.late == 0),
    )


def _first_clicks(unique: ir.Table, judged: ir.Table, keys: Sequence[str]) -> ir.Table:
    """The slot of the first click of each impression with several, whose order is known."""
    sound = judged.several & judged.ordered & (judged.verdict == "kept")
    rows = unique.semi_join(judged.filter(sound).select(*keys), list(keys))
    rows = rows.mutate(early=_turn(rows, keys, "first"))
    return rows.filter(rows.early == 0).select(*keys, "slot")


def _count_pages(totals: dict[str | None, PageCounts], pages: ir.Table, keys: Sequence[str]) -> None:
    """Add the impressions of a table with counted, no_click and several, by placement."""
    grouped = pages.group_by("placement") if "placement" in keys else pages
    found = grouped.aggregate(
        impressions=impressions_in(pages),
        clicked=impressions_in(pages, ~pages.no_click),
        counted=impressions_in(pages, pages.counted),
        no_click=impressions_in(pages, pages.counted & pages.no_click),
        multi_click=impressions_in(pages, pages.several),
    )
    for row in found.to_pyarrow().to_pylist():
        mine = totals.setdefault(row.pop("placement", None), PageCounts())
        for name, count in row.items():
            setattr(mine, name, getattr(mine, name) + int(count or 0))
