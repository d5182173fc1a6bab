"""Checks of single rows, before impressions are grouped: missing values and invalid slots."""

from __future__ import annotations

from typing import Any

import ibis.expr.types as ir

from slotwise.core.errors import InvalidInput
from slotwise.logs.counting.cleaning_rules import RULES
from slotwise.logs.reading.layout import Layout

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
    _refuse_misread(layout)
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
        _refuse_stray_zero(rows, columns.slot)
    counts["slots_from_0"] = int(first == 0)
    counts["slots_from_later"] = max(0, first - 1)
    return counts, first, last, complete


def _refuse_misread(layout: Layout) -> None:
    checks = layout.misread()
    if checks:
        # the least of the wrong values, so that the error is the same each time
        values = {name: layout[name].cast("string").min(where=wrong) for name, (wrong, _) in checks.items()}
        for name, value in _one(layout.table.aggregate(**values)).items():
            if value is not None:
                raise InvalidInput(f"{name} must be {checks[name][1]}, got {value!r}")
    weight = layout.columns.weight
    if weight is not None:
        lowest = layout.table.aggregate(low=layout[weight].cast("float64").min()).to_pyarrow()["low"][0].as_py()
        if lowest is not None and lowest < 0:
            raise InvalidInput(f"{weight} must be a number of impressions, got {lowest:g}")


def _refuse_stray_zero(rows: ir.Table, name: str) -> None:
    """A slot 0 that is hardly ever filled is a mistake, and would put all slots off by one."""
    totals = _one(rows.aggregate(zero=rows.count(where=rows.slot == 0), one=rows.count(where=rows.slot == 1)))
    if totals["zero"] < STRAY * totals["one"]:
        raise InvalidInput(
            f"{name} must be counted from 0 or from 1, got {totals['zero']:,} rows of 0 and {totals['one']:,} of 1"
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
