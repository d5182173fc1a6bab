"""Checks of single rows, before impressions are grouped: missing values and invalid slots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ibis.expr.types as ir

from slotwise.core.errors import InvalidInput
from slotwise.logs.counting.cleaning_rules import RULES
from slotwise.logs.reading.layout import TIMES, Layout
from slotwise.logs.reading.value_parsing import is_word_for_nothing

#: a slot beyond this means that the wrong column was named
MAX_SLOTS = 1_000
#: slots are taken to be counted from 0 if slot 0 has at least this many rows for each row of slot 1
STRAY = 0.1


def check_rows(layout: Layout, rows: ir.Table) -> tuple[dict[str, int], int, int, bool]:
    """Return counts over rows, the lowest and the highest slot, and whether no row has a gap.

    Refuses slots or clicks that make no sense.
    """
    columns = layout.columns
    # for a Parquet file these are known without reading it
    given = {
        name: rows[name].count()
        for name in ("placement", "impression", "slot", "item", "clicked", "weight")
        if name in rows.columns
    }
    totals = _one(rows.aggregate(rows=rows.count(), first=rows.slot.min(), last=rows.slot.max(), **given))
    counts = dict.fromkeys(RULES, 0) | {"rows": totals["rows"]}
    if not totals["rows"]:
        empty = layout.count_empty()
        raise InvalidInput(f"none of the log's {empty:,} lists has an item" if empty else "the log has no rows")
    counts["words_for_nothing"] = _refuse_misread(layout)
    _refuse_weights(layout)
    complete = "weight" not in given and all(totals[name] == totals["rows"] for name in given)
    if not complete:
        counts |= _nulls(rows)
        if not layout.wide and not totals["clicked"]:
            raise InvalidInput(
                f"{columns.clicked} is empty in all {totals['rows']:,} rows: is it the column of the clicks?"
            )
    counts["empty_impressions"] = layout.count_empty()
    first, last = totals["first"], totals["last"]
    if first is None:
        raise InvalidInput(f"the log has no slot in any of its {counts['rows']:,} rows")
    if first < 0:
        raise InvalidInput(f"{columns.slot} must be counted from 0 or 1, got {first}")
    if last > MAX_SLOTS:
        raise InvalidInput(f"{columns.slot} must be at most {MAX_SLOTS}, got {last}: is it the column of the slots?")
    if first == 0:
        _refuse_mixed_slots(rows, columns.slot)
    counts["slots_from_0"] = totals["slot"] if first == 0 else 0
    counts["slots_from_later"] = totals["slot"] if first > 1 else 0
    return counts, first, last, complete


def _refuse_misread(layout: Layout) -> int:
    """Refuse values that make no sense; return how many slots and clicks are words for nothing."""
    _refuse_wrong(layout, layout.misread())
    words = layout.count_words_for_nothing() if layout.wide else 0
    if layout.texts:
        # text takes long to parse, and there are few different slots and clicks
        layout = layout.distinct_slots_and_clicks()
        times = layout.table[TIMES]
        counts = {name: times.sum(where=is_word_for_nothing(layout[name])) for name in layout.texts}
        words = sum(int(count or 0) for count in _one(layout.table.aggregate(**counts)).values())
    if not layout.wide:
        _refuse_wrong(layout, layout.misread_slots_and_clicks())
    return words


def _refuse_wrong(layout: Layout, checks: Mapping[str, tuple[ir.BooleanValue, str]]) -> None:
    # the least of the wrong values, so that the error is the same each time
    values = {name: layout[name].min(where=wrong).cast("string") for name, (wrong, _) in checks.items()}
    for name, value in _one(layout.table.aggregate(**values)).items() if values else ():
        if value is not None:
            raise InvalidInput(f"{name} must be {checks[name][1]}, got {value!r}")


def _refuse_weights(layout: Layout) -> None:
    weight = layout.columns.weight
    if weight is not None:
        lowest = layout.table.aggregate(low=layout[weight].cast("float64").min()).to_pyarrow()["low"][0].as_py()
        if lowest is not None and lowest < 0:
            raise InvalidInput(f"{weight} must be a number of impressions, got {lowest:g}")


def _refuse_mixed_slots(rows: ir.Table, name: str) -> None:
    """A log whose lists begin partly at 0 and partly at 1 would put many slots off by one."""
    totals = _one(rows.aggregate(zero=rows.count(where=rows.slot == 0), one=rows.count(where=rows.slot == 1)))
    if totals["zero"] < STRAY * totals["one"]:
        raise InvalidInput(
            f"{name} must be counted from 0 or from 1, got {totals['zero']:,} rows of 0 and {totals['one']:,} of 1"
        )
    if totals["zero"] > (1.0 - STRAY) * totals["one"]:
        return
    by = ["placement"] if "placement" in rows.columns else []
    lists = rows.group_by([*by, "impression"]).aggregate(first=rows.slot.min(), last=rows.slot.max())
    begin = {"zero": lists["first"] == 0, "one": lists["first"] == 1, "later": lists["first"] > 1}
    counts = {name: lists.count(where=where) for name, where in begin.items()}
    ends = {f"last_{name}": lists["last"].max(where=begin[name]).fill_null(-1) for name in ("zero", "one")}
    pages = (lists.group_by(by) if by else lists).aggregate(**counts, **ends)
    # lists that fill only some slots begin anywhere, and lists with an empty first slot do not reach further down
    fills_some = (pages.later > STRAY * pages.one) | (pages.last_zero == 0)
    from_one = pages.one.sum(where=~fills_some & (pages.last_one > pages.last_zero))
    begins = _one(pages.aggregate(zero=pages.zero.sum(), one=from_one.fill_null(0)))
    if begins["one"] > STRAY * begins["zero"]:
        raise InvalidInput(
            f"{name} must be counted from 0 or from 1 in all impressions, got {begins['zero']:,} that begin at 0 and "
            f"{begins['one']:,} that begin at 1: add 1 to the slots of the former"
        )


def _nulls(rows: ir.Table) -> dict[str, int]:
    clicked = rows.clicked.fill_null(False)
    is_identified = rows.impression.notnull()
    questions = {"null_impression": rows.count(where=~is_identified)}
    if "placement" in rows.columns:
        questions["null_placement"] = rows.count(where=is_identified & rows.placement.isnull())
        is_identified &= rows.placement.notnull()
    if "weight" in rows.columns:
        questions["null_weight"] = rows.count(where=is_identified & ~(rows.weight.fill_null(0) > 0))
        is_identified &= rows.weight.fill_null(0) > 0
    questions |= {
        "clicks_of_nothing": rows.count(where=~is_identified & clicked),
        "null_clicked": rows.count(where=is_identified & rows.clicked.isnull()),
        "null_slot": rows.count(where=is_identified & rows.slot.isnull() & ~clicked),
        "null_item": rows.count(where=is_identified & rows.slot.notnull() & rows.item.isnull() & ~clicked),
    }
    return _one(rows.aggregate(**questions))


def _one(answers: ir.Table) -> dict[str, Any]:
    (row,) = answers.to_pyarrow().to_pylist()
    return dict(row)
