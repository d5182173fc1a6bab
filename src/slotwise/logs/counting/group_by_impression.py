"""Impressions gathered by the engine, wherever their rows stand in the log.

Most impressions are regular. A few cheap sums per impression find the others, and only these are looked at row by row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ibis
import ibis.expr.types as ir

from slotwise.logs.reading.sql_functions import bit_count, duckdb_hash, spark_set

#: optional columns of a row
OPTIONAL = ("propensity", "item_propensity", "weight", "value")


def gather(usable: ir.Table, keys: Sequence[str], *, several_clicks: bool = False) -> ir.Table:
    """Per impression: whether it has no or several clicks, is odd or may be, and whether its slots have a gap.

    With `several_clicks`, an impression is not odd because of them.
    """
    engine = usable.get_backend().name
    items = _hashed_items(usable.item) if engine == "duckdb" else {"items_0": _different(usable.item, engine)}
    pages = usable.group_by(keys).aggregate(
        shown=usable.count(),
        placed=usable.count(where=usable.slot.notnull() & usable.item.notnull()),
        last=usable.slot.max(),
        clicks=usable.count(where=usable.clicked),
        different=_own_bits(usable.slot.cast("uint64")) if engine == "duckdb" else _different(usable.slot, engine),
        **items,
        **({"weight": usable.weight.max()} if "weight" in usable.columns else {}),
    )
    return pages.select(
        *keys,
        *(["weight"] if "weight" in usable.columns else []),
        no_click=pages.clicks == 0,
        several=pages.clicks > 1,
        odd=ibis.or_(
            *([] if several_clicks else [pages.clicks > 1]),
            pages.placed < pages.shown,
            pages.different < pages.shown,
        ),
        # items that are different under one hash are different
        suspect=ibis.and_(*(pages[name] < pages.shown for name in items)),
        gap=pages.last > pages.shown,
    )


#: six bits of an item's hash from each of these on determine the bit that it sets. An impression in which two items
#: share a bit every time, one in thirty lists of ten, is checked again. DuckDB's count(distinct …) over ten million
#: groups takes four times as long as all of this together
SHIFTS = (0, 6, 12, 18, 24)


def _hashed_items(item: ir.Value) -> dict[str, ir.Value]:
    """Under each hash, a lower bound on how many different items there are."""
    return {f"items_{shift}": _own_bits(duckdb_hash(item) >> shift) for shift in SHIFTS}


def _different(column: ir.Value, engine: str) -> ir.Value:
    """How many different values there are."""
    return spark_set(column.cast("string")).length() if engine == "pyspark" else column.nunique()


def _own_bits(number: ir.Value) -> ir.Value:
    return bit_count((ibis.literal(1, "uint64") << (number & 63)).bit_or())


def odd_keys(usable: ir.Table, pages: ir.Table, keys: Sequence[str]) -> ir.Table:
    """The keys of the impressions to look at row by row."""
    suspects = usable.semi_join(pages.filter(pages.suspect & ~pages.odd), list(keys))
    counts = suspects.group_by(keys).aggregate(shown=suspects.count(), items=suspects.item.nunique())
    return pages.filter(pages.odd).select(*keys).union(counts.filter(counts["items"] < counts.shown).select(*keys))


def regular_rows(usable: ir.Table, pages: ir.Table, odd: ir.Table, keys: Sequence[str]) -> ir.Table:
    """The rows of the impressions that have nothing odd about them."""
    # impressions without a click, usually most of them, are those without a mark: the table to join stays small
    clicked = pages.filter(~pages.no_click).select(*keys, odd=ibis.literal(False))
    marks = clicked.union(odd.mutate(odd=ibis.literal(True)))
    joined = usable.left_join(marks, list(keys))
    regular = joined.filter(~joined.odd.fill_null(False))
    return as_cleaned(regular, keys, page_clicked=regular.odd.notnull())


def as_cleaned(rows: ir.Table, keys: Sequence[str], **columns: Any) -> ir.Table:
    """The columns of a cleaned log, some of them made."""
    names = [*keys, "slot", "item", "clicked"]
    last = [name for name in OPTIONAL if name in rows.columns]
    return rows.mutate(**columns).select(*names, "page_clicked", *last)
