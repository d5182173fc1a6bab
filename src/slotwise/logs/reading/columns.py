"""The layouts of click logs: whatever the columns are called and however they are laid out, one row per shown item."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import ibis
import ibis.expr.types as ir

from slotwise.errors import InvalidInput
from slotwise.logs.reading import values

#: whether anybody saw the list
_SHOWN = "shown"


@dataclass(frozen=True)
class Columns:
    """What the columns of a log are called.

    In a *long* log each row is one shown item. In a *wide* log each row is one impression, `item` a list of the items
    from the first slot on, and `clicked` the item that was clicked, or null, or a list in the order of the clicks.
    A wide log needs no slot and may go without an impression. Where it has a column `shown` of true and false, the
    lists that nobody saw count as empty.
    """

    impression: str = "impression"
    slot: str = "slot"
    item: str = "item"
    clicked: str = "clicked"
    #: the page, query or place; the items and slots of each are fitted on their own
    placement: str | None = None
    #: the order or time of the clicks, from which the first or the last of several is known
    order: str | None = None
    #: the probability with which the whole list was shown
    propensity: str | None = None


def one_row_per_item(table: ir.Table, columns: Columns, keep: Callable[[ir.Table], ir.Table]) -> ir.Table:
    """One row per shown item: placement (if there are any), impression, slot, item, clicked, order, propensity.

    Values that are missing are null. So are slots and clicks that make no sense: `misread` finds these. `keep` makes a
    table of what must be computed only once.
    """
    columns, wide = _found(table, columns)
    return _from_wide(table, columns, keep) if wide else _from_long(table, columns)


def misread(table: ir.Table, columns: Columns) -> dict[str, ir.BooleanValue]:
    """By column, where the table holds something that is not a slot, a click, a number or a time."""
    columns, wide = _found(table, columns)
    found: dict[str, ir.BooleanValue] = {}
    for name in (columns.order, columns.propensity):
        if name is not None and table[name].type().is_string():
            found[name] = values.is_given(table[name]) & values.as_number(table[name], name).isnull()
    if not wide:
        slot, clicked = table[columns.slot], table[columns.clicked]
        # not asked where the type leaves no doubt: it would mean reading the whole log
        if not slot.type().is_integer():
            found[columns.slot] = values.is_given(slot) & values.as_slot(slot, columns.slot).isnull()
        if not clicked.type().is_boolean():
            found[columns.clicked] = values.is_given(clicked) & values.as_click(clicked, columns.clicked).isnull()
    return found


def count_empty(table: ir.Table, columns: Columns) -> int:
    """How many impressions of a wide log show nothing: they have no rows."""
    columns, wide = _found(table, columns)
    if not wide:
        return 0
    items = _items(table, columns)
    return int(table.count(where=(items.length() == 0).fill_null(True)).to_pyarrow().as_py())


def _from_long(table: ir.Table, columns: Columns) -> ir.Table:
    return table.select(
        **_page(table, columns),
        impression=values.as_key(table[columns.impression], columns.impression),
        slot=values.as_slot(table[columns.slot], columns.slot),
        item=values.as_text(table[columns.item]),
        clicked=values.as_click(table[columns.clicked], columns.clicked),
        **_optional(table, columns),
    )


def _from_wide(table: ir.Table, columns: Columns, keep: Callable[[ir.Table], ir.Table]) -> ir.Table:
    """Unfold the lists; a click on what is not in its list becomes a clicked row without slot and item."""
    lists = table.select(
        **_page(table, columns),
        impression=values.as_key(table[columns.impression], columns.impression)
        if columns.impression in table.columns
        else ibis.row_number(),
        items=_items(table, columns),
        chosen=_chosen(table, columns),
        **_optional(table, columns),
    )
    if columns.impression not in table.columns:
        # numbered once: a second read of the log may come in another order
        lists = keep(lists)
    names = [name for name in ("placement", "impression", "propensity") if name in lists.columns]
    unfolded = lists.unnest("items", offset="place")
    item = unfolded["items"].nullif("")
    clicked = unfolded.chosen.contains(item).fill_null(False)
    shown = unfolded.select(
        *names,
        slot=(unfolded.place + 1).cast("int64"),
        item=item,
        clicked=clicked,
        order=ibis.ifelse(clicked, unfolded.chosen.index(item), None).cast("float64"),
    )
    choices = lists.unnest("chosen")
    stray = choices.chosen.nullif("").notnull() & ~choices["items"].contains(choices.chosen).fill_null(False)
    lost = choices.filter(stray).select(
        *names,
        slot=ibis.null("int64"),
        item=ibis.null("string"),
        clicked=ibis.literal(True),
        order=ibis.null("float64"),
    )
    return shown.union(lost)


def _items(table: ir.Table, columns: Columns) -> ir.Value:
    items = values.as_items(table[columns.item], columns.item)
    if _SHOWN not in table.columns or not table[_SHOWN].type().is_boolean():
        return items
    return ibis.ifelse(table[_SHOWN].fill_null(True), items, ibis.literal([], "array<string>"))


def _chosen(table: ir.Table, columns: Columns) -> ir.Value:
    """The clicked items; the name of an item that was shown is that one, whatever signs of a list are in it."""
    clicked, items = table[columns.clicked], table[columns.item]
    chosen = values.as_clicked_items(clicked, columns.clicked)
    if not (clicked.type().is_string() and items.type().is_array()):
        return chosen
    is_one = items.cast("array<string>").contains(clicked).fill_null(False)
    return ibis.ifelse(is_one, ibis.array([clicked]), chosen)


def _found(table: ir.Table, columns: Columns) -> tuple[Columns, bool]:
    """The columns as they are in this table, and whether it is wide."""
    names = {field.name: getattr(columns, field.name) for field in fields(columns)}
    if columns.item == Columns.item and "item" not in table.columns and "items" in table.columns:
        names["item"] = "items"
    item = names["item"]
    # lists written as text are looked for only where their column was named, or nothing else can be meant
    text = columns.slot == Columns.slot and columns.slot not in table.columns and item != Columns.item
    wide = item in table.columns and (table[item].type().is_array() or text)
    optional = {"impression", "slot"} if wide else set()
    for role, name in names.items():
        if name is not None and name not in table.columns and role not in optional:
            raise InvalidInput(f"the log has no column {name!r} for the {role}, it has {', '.join(table.columns)}")
    return Columns(**names), wide


def _page(table: ir.Table, columns: Columns) -> dict[str, Any]:
    return {} if columns.placement is None else {"placement": values.as_text(table[columns.placement])}


def _optional(table: ir.Table, columns: Columns) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if columns.order is not None:
        found["order"] = values.as_number(table[columns.order], columns.order)
    if columns.propensity is not None:
        found["propensity"] = values.as_number(table[columns.propensity], columns.propensity)
    return found
