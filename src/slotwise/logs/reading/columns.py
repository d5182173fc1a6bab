"""The columns of a click log: their names, and whether a table has them."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, fields
from typing import NamedTuple, TypedDict

import ibis
import ibis.expr.types as ir

from slotwise.core.errors import InvalidInput
from slotwise.logs.reading.file_sniffing import hint_of_header


@dataclass(frozen=True)
class Columns:
    """The names of the columns of a log.

    In a *long* log each row is one shown item. In a *wide* log each row is one impression, `item` a list of the items
    from the first slot on, and `clicked` the item that was clicked, or null, or a list in the order of the clicks, or a
    list with true or false for each of the items. A wide log needs no slot and may go without an impression. Where
    it has a column `shown` of true and false, the lists that nobody saw count as empty. A field of a column of structs
    is named with a dot: `items.id`.

    Parameters
    ----------
    impression
        The id of the impression.
    slot
        The slot, counted from 0 or from 1.
    item
        The id of the item; in a wide log the list of items.
    clicked
        Whether the item was clicked; in a wide log the clicked items.
    placement
        The page, query or place; each has its own items and slots.
    order
        The order or time of the clicks, which determines the first and the last click.
    propensity
        The probability with which the whole list was shown.
    weight
        The number of impressions that a row stands for, in an aggregated log.
    item_propensity
        The probability of the item to be shown in its slot; in a wide log a list.
    value
        The value of the clicks on the item, for judgements by value; in a wide log a list.
    """

    impression: str = "impression"
    slot: str = "slot"
    item: str = "item"
    clicked: str = "clicked"
    placement: str | None = None
    order: str | None = None
    propensity: str | None = None
    weight: str | None = None
    item_propensity: str | None = None
    value: str | None = None


class Strata(NamedTuple):
    """The columns of the strata within a placement: segment and time."""

    #: each is a segment's value, such as a device or a country; all of them together name the segment
    segment: tuple[str, ...] = ()
    time: str | None = None


class ColumnNames(TypedDict, total=False):
    """The fields of `Columns`, as arguments."""

    impression: str
    slot: str
    item: str
    clicked: str
    placement: str | None
    order: str | None
    propensity: str | None
    weight: str | None
    item_propensity: str | None
    value: str | None


def column(table: ir.Table, name: str) -> ir.Value:
    """A column, or a field of one: `items.id` is the list of the ids in a list of structs."""
    if name in table.columns:
        return table[name]
    parent, _, field = name.partition(".")
    values = table[parent]
    return values.map(lambda element: element[field]) if values.type().is_array() else values[field]


def has_column(table: ir.Table, name: str) -> bool:
    """Whether there is such a column, or such a field of one."""
    if name in table.columns:
        return True
    parent, _, field = name.partition(".")
    if not field or parent not in table.columns:
        return False
    kind = table[parent].type()
    kind = kind.value_type if kind.is_array() else kind
    return bool(kind.is_struct()) and field in kind.names


def recognise_columns(table: ir.Table, columns: Columns, *, clicks_elsewhere: bool = False) -> tuple[Columns, bool]:
    """Return the columns by their names in this table, and whether a row is a whole impression.

    Raises if a column is missing.
    """
    if columns.propensity is not None and columns.item_propensity is not None:
        raise InvalidInput(
            "propensity is of whole lists and item_propensity of items in slots, give one of them, got "
            f"{columns.propensity!r} and {columns.item_propensity!r}"
        )
    names = {field.name: getattr(columns, field.name) for field in fields(columns)}
    names["item"], wide = _items_of(table, columns)
    optional = {"impression", "slot"} if wide else set()
    if clicks_elsewhere:
        optional = {"slot"} & optional | {"clicked", "order", "value"}
    for role, name in names.items():
        if name is not None and role not in optional:
            refuse_missing(table, role, name)
    return Columns(**names), wide


def _items_of(table: ir.Table, columns: Columns) -> tuple[str, bool]:
    """Return the name of the column of items, and whether it holds lists."""
    renamed = columns.item == Columns.item and "item" not in table.columns and "items" in table.columns
    item = "items" if renamed else columns.item
    # lists written as text are looked for only where their column was named, or nothing else can be meant
    text = columns.slot == Columns.slot and columns.slot not in table.columns and item != Columns.item
    return item, has_column(table, item) and (column(table, item).type().is_array() or text)


def without_clicks(table: ir.Table, columns: Columns) -> ir.Table:
    """Return the log with all clicks removed, for questions on its lists alone."""
    _, wide = _items_of(table, columns)
    return table.mutate(**{columns.clicked: ibis.null("string") if wide else ibis.literal(False)})


def refuse_missing(table: ir.Table, role: str, name: str) -> None:
    """Raise if a table lacks this column; the error suggests a similar one."""
    if has_column(table, name):
        return
    near = difflib.get_close_matches(name.casefold(), [present.casefold() for present in table.columns], n=1)
    meant = next((present for present in table.columns if near and present.casefold() == near[0]), None)
    hint = f"; is it {meant!r}?" if meant else hint_of_header(table.columns)
    raise InvalidInput(f"the log has no column {name!r} for the {role}, it has {', '.join(table.columns)}{hint}")


def item_of_clicks(clicks: ir.Table, columns: Columns) -> str:
    """The column of a table of clicks that holds the clicked item: that of the log, or `item` or `clicked`."""
    names = (columns.item, Columns.item, columns.clicked)
    return next((name for name in names if has_column(clicks, name)), columns.item)


def refuse_incomplete_clicks(clicks: ir.Table, columns: Columns) -> None:
    """Refuse a table of clicks that cannot be joined to the log."""
    if columns.weight is not None:
        raise InvalidInput(f"clicks of their own belong to single impressions, got them with weight={columns.weight!r}")
    for name in (columns.impression, item_of_clicks(clicks, columns)):
        if not has_column(clicks, name):
            raise InvalidInput(
                f"the table of clicks has no column {name!r} to join it to the log by, it has "
                f"{', '.join(clicks.columns)}"
            )
