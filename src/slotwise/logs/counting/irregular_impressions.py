"""Impressions that have something odd about them, looked at row by row: put right, or left out and counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ibis
import ibis.expr.types as ir

from slotwise.logs.counting.group_by_impression import OPTIONAL, as_cleaned
from slotwise.logs.counting.impression_counts import impressions_in, total_of


def unique_rows(rows: ir.Table, keys: Sequence[str]) -> ir.Table:
    """Each slot and item of an impression once, clicked if any of its copies is, and when first and last."""
    rows = _joined(rows, keys)
    optional: dict[str, Any] = {}
    if "order" in rows.columns:
        clicked = ibis.ifelse(rows.clicked, rows.order, None)
        optional |= {"first": clicked.min(), "last": clicked.max()}
    for name in OPTIONAL:
        if name in rows.columns:
            optional[name] = rows[name].max()
    return rows.group_by([*keys, "slot", "item"]).aggregate(
        copies=rows.count(where=~rows.joined), joined=rows.joined.sum(), clicked=rows.clicked.any(), **optional
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


def judge(unique: ir.Table, keys: Sequence[str], rule: str) -> ir.Table:
    """The verdict on each odd impression: kept, or why it is left out."""
    placed = unique.slot.notnull() & unique.item.notnull()
    order = unique["first"] if "first" in unique.columns else ibis.null("float64")
    pages = unique.group_by(keys).aggregate(
        shown=placed.sum(),
        slots=unique.slot.nunique(where=placed),
        items=unique.item.nunique(where=placed),
        last=unique.slot.max(where=placed),
        clicks=unique.clicked.sum(),
        clicked_items=unique.item.nunique(where=unique.clicked),
        lost=(unique.clicked & ~placed).sum(),
        unordered=(unique.clicked & order.isnull()).sum(),
        **({"weight": unique.weight.max()} if "weight" in unique.columns else {}),
    )
    several = pages.clicks > 1
    # clicks without an order do no harm where all but one are copies of it
    verdict = ibis.cases(
        (pages.lost > 0, "click_not_shown"),
        (pages.slots < pages.shown, "conflicting_slots"),
        (pages["items"] < pages.shown, "repeated_items"),
        (several & ibis.literal(rule == "drop"), "multi_click_drop"),
        (several & (pages.unordered > 0) & ibis.literal(rule != "all"), "multi_click_unordered"),
        else_="kept",
    )
    gap = (pages.last > pages.shown).fill_null(False)
    return pages.select(
        *keys,
        *(["weight"] if "weight" in pages.columns else []),
        verdict=verdict,
        no_click=pages.clicks == 0,
        # an item that was shown twice is one
        several=(pages.clicked_items > 1) & (pages.lost == 0),
        ordered=pages.unordered == 0,
        gap=gap,
    )


def count_verdicts(unique: ir.Table, judged: ir.Table, counts: dict[str, int], rule: str) -> None:
    """Add to the counts how often each rule was needed."""
    (sums,) = (
        unique.aggregate(again=(unique.copies - 1).sum(where=unique.copies > 1), joined=unique.joined.sum())
        .to_pyarrow()
        .to_pylist()
    )
    counts["duplicate_rows"] += int(sums["again"] or 0)
    counts["joined_clicks"] += int(sums["joined"] or 0)
    is_kept = judged.verdict == "kept"
    verdicts = judged.group_by("verdict").aggregate(times=impressions_in(judged)).to_pyarrow().to_pylist()
    for row in verdicts:
        if row["verdict"] != "kept":
            counts[row["verdict"]] += int(row["times"])
    counts["missing_slots"] += total_of(judged, is_kept & judged.gap)
    counts[f"multi_click_{rule}"] += total_of(judged, is_kept & judged.several)


def mended_rows(unique: ir.Table, judged: ir.Table, keys: Sequence[str], rule: str) -> ir.Table:
    """The rows of the odd impressions that are kept, with at most one click each, unless all are to be."""
    good = judged.filter(judged.verdict == "kept").select(*keys, "no_click")
    rows = unique.inner_join(good, list(keys))
    if rule not in ("drop", "all"):
        rows = rows.mutate(turn=_turn(rows, keys, rule))
        rows = rows.mutate(clicked=rows.clicked & (rows.turn == 0))
    return as_cleaned(rows, keys, page_clicked=~rows.no_click)


def _turn(rows: ir.Table, keys: Sequence[str], rule: str) -> ir.Value:
    """0 for the first click of its impression, or for the last; where two come at the same time, for the upper one."""
    when = rows["first"] if rule == "first" else -rows["last"]
    return ibis.row_number().over(group_by=[rows[key] for key in keys], order_by=[~rows.clicked, when, rows.slot])


def find_first_clicks(unique: ir.Table, judged: ir.Table, keys: Sequence[str]) -> ir.Table:
    """The slot of the first click of each impression with several, whose order is known."""
    sound = judged.several & judged.ordered & (judged.verdict == "kept")
    rows = unique.semi_join(judged.filter(sound).select(*keys), list(keys))
    rows = rows.mutate(early=_turn(rows, keys, "first"))
    return rows.filter(rows.early == 0).select(*keys, "slot")
