"""The shapes of click logs: whatever the columns are called and however they are laid out, one row a shown item."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import ibis
import ibis.expr.types as ir

from slotwise.errors import InvalidInput
from slotwise.logs.reading.engine_functions import unix_micros

TRUE = ("1", "true", "t", "yes", "y")
FALSE = ("0", "false", "f", "no", "n")
#: put between the items of a list that is written as text, and in no item: the unit separator of ASCII
SEPARATOR = "\x1f"


@dataclass(frozen=True)
class Columns:
    """What the columns of a log are called.

    In a *long* log each row is one shown item. In a *wide* log each row is one impression, `item` a list of the items
    from the first slot on, and `clicked` the item that was clicked, or null, or a list in the order of the clicks.
    A wide log needs no slot and may go without an impression.
    """

    impression: str = "impression"
    slot: str = "slot"
    item: str = "item"
    clicked: str = "clicked"
    #: the page, query or place whose items and slots are fitted by themselves
    placement: str | None = None
    #: the order or time of the clicks, from which the first or the last of several is known
    order: str | None = None
    #: the probability with which the whole list was shown
    propensity: str | None = None


def rows(table: ir.Table, columns: Columns, keep: Callable[[ir.Table], ir.Table]) -> ir.Table:
    """One row a shown item: placement (if there are any), impression, slot, item, clicked, order, propensity.

    Values that are missing are null. So are slots and clicks that make no sense: `misread` finds these. `keep` makes a
    table of what must be computed only once.
    """
    columns, wide = _found(table, columns)
    return _of_wide(table, columns, keep) if wide else _of_long(table, columns)


def misread(table: ir.Table, columns: Columns) -> dict[str, ir.BooleanValue]:
    """By column, where the table holds something that is no slot, no click, no number or time."""
    columns, wide = _found(table, columns)
    found: dict[str, ir.BooleanValue] = {}
    for name in (columns.order, columns.propensity):
        if name is not None and table[name].type().is_string():
            found[name] = _given(table[name]) & _number(table[name], name).isnull()
    if not wide:
        slot, clicked = table[columns.slot], table[columns.clicked]
        # not asked where the type leaves no doubt: it would take a reading of the whole log
        if not slot.type().is_integer():
            found[columns.slot] = _given(slot) & _slot(slot, columns.slot).isnull()
        if not clicked.type().is_boolean():
            found[columns.clicked] = _given(clicked) & _clicked(clicked, columns.clicked).isnull()
    return found


def empty(table: ir.Table, columns: Columns) -> int:
    """How many impressions of a wide log show nothing: they have no rows."""
    columns, wide = _found(table, columns)
    if not wide:
        return 0
    items = _texts(table[columns.item], columns.item)
    return int(table.count(where=(items.length() == 0).fill_null(True)).to_pyarrow().as_py())


def _of_long(table: ir.Table, columns: Columns) -> ir.Table:
    return table.select(
        **_page(table, columns),
        impression=_key(table[columns.impression], columns.impression),
        slot=_slot(table[columns.slot], columns.slot),
        item=_text(table[columns.item]),
        clicked=_clicked(table[columns.clicked], columns.clicked),
        **_optional(table, columns),
    )


def _of_wide(table: ir.Table, columns: Columns, keep: Callable[[ir.Table], ir.Table]) -> ir.Table:
    """Unfold the lists; a click on what is not in its list becomes a clicked row without slot and item."""
    lists = table.select(
        **_page(table, columns),
        impression=_key(table[columns.impression], columns.impression)
        if columns.impression in table.columns
        else ibis.row_number(),
        items=_texts(table[columns.item], columns.item),
        chosen=_chosen(table[columns.clicked], columns.clicked),
        **_optional(table, columns),
    )
    if columns.impression not in table.columns:
        # numbered once: a second reading of the log may come in another order
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


def _found(table: ir.Table, columns: Columns) -> tuple[Columns, bool]:
    """The columns as they are in this table, and whether it is wide."""
    names = {field.name: getattr(columns, field.name) for field in fields(columns)}
    if columns.item == Columns.item and "item" not in table.columns and "items" in table.columns:
        names["item"] = "items"
    item = names["item"]
    # lists written as text are looked for only where they were named, or nothing else can be meant
    text = columns.slot == Columns.slot and columns.slot not in table.columns and item != Columns.item
    wide = item in table.columns and (table[item].type().is_array() or text)
    optional = {"impression", "slot"} if wide else set()
    for role, name in names.items():
        if name is not None and name not in table.columns and role not in optional:
            raise InvalidInput(f"the log has no column {name!r} for the {role}, it has {', '.join(table.columns)}")
    return Columns(**names), wide


def _page(table: ir.Table, columns: Columns) -> dict[str, Any]:
    return {} if columns.placement is None else {"placement": _text(table[columns.placement])}


def _optional(table: ir.Table, columns: Columns) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if columns.order is not None:
        found["order"] = _number(table[columns.order], columns.order)
    if columns.propensity is not None:
        found["propensity"] = _number(table[columns.propensity], columns.propensity)
    return found


def _number(column: ir.Value, name: str) -> ir.Value:
    """A number, or a time in seconds; null where it is neither."""
    kind = column.type()
    if kind.is_date():
        return _seconds(column.cast("timestamp"))
    if kind.is_timestamp():
        return _seconds(column)
    if kind.is_time():
        whole = column.hour() * 3_600 + column.minute() * 60 + column.second()
        return whole.cast("float64") + column.microsecond().cast("float64") / 1e6
    if kind.is_string():
        text = _trimmed(column)
        number = ibis.ifelse(text.re_search(r"^[-+]?[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?$"), text, None).cast("float64")
        dated = text.re_replace(r"[zZ]$|([+]00(:?00)?)$", "")
        time = ibis.ifelse(
            dated.re_search(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9.]+)?)?$"), dated, None
        )
        return number.coalesce(_seconds(time.try_cast("timestamp")))
    if kind.is_numeric():
        return column.cast("float64")
    raise InvalidInput(f"{name} must hold numbers or times, got a column of {kind}")


def _seconds(column: ir.Value) -> ir.Value:
    if column.get_backend().name == "pyspark":
        return unix_micros(column.cast("timestamp('UTC')")).cast("float64") / 1e6
    # whole seconds first: some engines would round them up
    return column.truncate("s").epoch_seconds().cast("float64") + column.microsecond().cast("float64") / 1e6


def _key(column: ir.Value, name: str) -> ir.Value:
    """Numbers and text as they are, which is quick to group by; the rest as text."""
    kind = column.type()
    if kind.is_nested() or kind.is_interval() or kind.is_json():
        raise InvalidInput(f"{name} must hold ids, got a column of {kind}")
    return column if kind.is_integer() or kind.is_string() else column.cast("string")


def _text(column: ir.Value) -> ir.Value:
    # "" stays what it is: a CSV file has null there, and to look for it elsewhere would take a reading of the log
    return column if column.type().is_string() else column.cast("string")


def _trimmed(column: ir.Value) -> ir.Value:
    # the strip of ibis takes the letters f and v off as well, on Spark, where it means form feed and vertical tab
    return column.re_replace(r"^\s+|\s+$", "")


def _given(column: ir.Value) -> ir.BooleanValue:
    kind = column.type()
    if kind.is_string():
        return _trimmed(column).nullif("").notnull()
    return column.notnull() & ~column.isnan() if kind.is_floating() else column.notnull()


def _slot(column: ir.Value, name: str) -> ir.Value:
    """A whole number, or null."""
    kind = column.type()
    if kind.is_integer():
        return column.cast("int64")
    if kind.is_numeric():
        whole = _given(column) & (column == column.floor()) & (column.abs() < 1e9)
        return ibis.ifelse(whole, column, None).cast("int64")
    if kind.is_string():
        digits = _trimmed(column).re_replace(r"\.0+$", "")
        return ibis.ifelse(digits.re_search(r"^-?[0-9]{1,9}$"), digits, None).cast("int64")
    raise InvalidInput(f"{name} must hold slots, which are whole numbers, got a column of {kind}")


def _clicked(column: ir.Value, name: str) -> ir.Value:
    """True, false or null."""
    kind = column.type()
    if kind.is_boolean():
        return column
    if kind.is_numeric():
        return ibis.ifelse(_given(column) & (column >= 0), column > 0, None)
    if kind.is_string():
        word = _trimmed(column).lower()
        count = ibis.ifelse(word.re_search(r"^[0-9]+(\.0*)?$"), word, None).cast("float64")
        return ibis.cases((word.isin(TRUE), True), (word.isin(FALSE), False), (count.notnull(), count > 0))
    raise InvalidInput(f"{name} must hold clicks, as true and false or 1 and 0, got a column of {kind}")


def _texts(column: ir.Value, name: str) -> ir.Value:
    """A list of ids, also from a text with separators or from a JSON list."""
    kind = column.type()
    if kind.is_array():
        return column.cast("array<string>")
    if kind.is_string():
        text = _trimmed(column)
        # JSON, or a list as Python or NumPy print it
        inside = text.re_replace(r"^\[\s*|\s*\]$", "")
        apart = ibis.cases(
            (~text.startswith("["), text.re_replace(r"\s*[|]\s*", SEPARATOR)),
            (inside.startswith('"'), inside.re_replace(r'"\s*,?\s*"', SEPARATOR).re_replace(r'^"|"$', "")),
            (inside.startswith("'"), inside.re_replace(r"'\s*,?\s*'", SEPARATOR).re_replace(r"^'|'$", "")),
            else_=inside.re_replace(r"\s*,\s*|\s+", SEPARATOR),
        )
        return ibis.ifelse(apart == "", ibis.literal([], "array<string>"), apart.split(SEPARATOR))
    raise InvalidInput(f"{name} must hold lists of items in a log without slots, got a column of {kind}")


def _chosen(column: ir.Value, name: str) -> ir.Value:
    """The clicked items in order, none of them missing."""
    kind = column.type()
    nothing = ibis.literal([], "array<string>")
    if kind.is_array():
        return column.cast("array<string>").coalesce(nothing)
    if kind.is_string() or kind.is_integer():
        texts = _texts(column.cast("string"), name)
        return ibis.ifelse(column.cast("string").nullif("").isnull(), nothing, texts)
    raise InvalidInput(f"{name} must hold the clicked item or a list of them, got a column of {kind}")
