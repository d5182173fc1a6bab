"""What can be seen row by row, before impressions are put together: missing values, and slots that make no sense."""

from __future__ import annotations

from typing import Any

import ibis.expr.types as ir

from slotwise.errors import InvalidInput
from slotwise.logs.counting.cleaning_rules import RULES
from slotwise.logs.reading.columns import Columns, count_empty, misread

#: a slot beyond this means that the wrong column was named
MOST_SLOTS = 1_000
#: slots are taken to be counted from 0 if slot 0 has at least this many rows for each row of slot 1
STRAY = 0.1


def check_rows(table: ir.Table, rows: ir.Table, columns: Columns) -> tuple[dict[str, int], int]:
    """What can be counted row by row, and the lowest slot; refuses a log whose slots or clicks make no sense."""
    # for a Parquet file these are known without reading it
    given = {
        name: rows[name].count()
        for name in ("placement", "impression", "slot", "item", "clicked")
        if name in rows.columns
    }
    found = _one(rows.aggregate(rows=rows.count(), first=rows.slot.min(), last=rows.slot.max(), **given))
    counts = dict.fromkeys(RULES, 0) | {"rows": found["rows"]}
    for column, wrong in misread(table, columns).items():
        example = table.filter(wrong).select(value=table[column].cast("string")).limit(1).to_pyarrow().to_pylist()
        if example:
            kinds = {columns.slot: "a whole number", columns.clicked: "true or false, 1 or 0"}
            what = kinds.get(column, "a number" if column == columns.propensity else "a number or a time")
            raise InvalidInput(f"{column} must be {what}, got {example[0]['value']!r}")
    if any(found[name] < found["rows"] for name in given):
        counts |= _nulls(rows)
    counts["empty_impressions"] = count_empty(table, columns)
    first, last = found["first"], found["last"]
    if first is None:
        raise InvalidInput(f"the log has no slot in any of its {counts['rows']:,} rows")
    if first < 0:
        raise InvalidInput(f"{columns.slot} must be counted from 0 or 1, got {first}")
    if last > MOST_SLOTS:
        raise InvalidInput(f"{columns.slot} must be at most {MOST_SLOTS}, got {last}: is it the column of the slots?")
    if first == 0:
        _refuse_stray_zero(rows, columns.slot)
    counts["slots_from_0"] = int(first == 0)
    counts["slots_from_later"] = max(0, first - 1)
    return counts, first


def _refuse_stray_zero(rows: ir.Table, name: str) -> None:
    """A slot 0 that is hardly ever filled is a mistake, and would put all slots off by one."""
    found = _one(rows.aggregate(zero=rows.count(where=rows.slot == 0), one=rows.count(where=rows.slot == 1)))
    if found["zero"] < STRAY * found["one"]:
        raise InvalidInput(
            f"{name} must be counted from 0 or from 1, got {found['zero']:,} rows of 0 beside {found['one']:,} of 1"
        )


def _nulls(rows: ir.Table) -> dict[str, int]:
    clicked = rows.clicked.fill_null(False)
    known = rows.impression.notnull()
    questions = {"null_impression": rows.count(where=~known)}
    if "placement" in rows.columns:
        questions["null_placement"] = rows.count(where=known & rows.placement.isnull())
        known &= rows.placement.notnull()
    questions |= {
        "null_clicked": rows.count(where=known & rows.clicked.isnull()),
        "null_slot": rows.count(where=known & rows.slot.isnull() & ~clicked),
        "null_item": rows.count(where=known & rows.slot.notnull() & rows.item.isnull() & ~clicked),
    }
    return _one(rows.aggregate(**questions))


def _one(answers: ir.Table) -> dict[str, Any]:
    (row,) = answers.to_pyarrow().to_pylist()
    return dict(row)
