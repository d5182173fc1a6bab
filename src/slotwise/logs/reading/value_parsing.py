"""Parsing of a log's columns of any type: ids, slots, clicks, numbers, times and lists of items.

Values that cannot be parsed become null.
"""

from __future__ import annotations

from collections.abc import Mapping

import ibis
import ibis.expr.types as ir

from slotwise.core.errors import InvalidInput
from slotwise.logs.reading.sql_functions import unix_micros

TRUE = ("1", "true", "t", "yes", "y")
FALSE = ("0", "false", "f", "no", "n")
#: words for a missing value, in small letters
NOTHING_WORDS = (
    *("nan", "nat", "none", "null", "nil", "na", "n/a", "#n/a", "<na>", "undefined", "(null)", "(none)", "\\n"),
    *("-", "--", "–", "—"),
)
#: and as they are usually spelled; the empty text is another
NOTHING_SPELLINGS = (
    "",
    *sorted({spelled for word in NOTHING_WORDS for spelled in (word, word.upper(), word.capitalize())}),
    "NaN",
    "NaT",
)
#: separates the items of a list that is written as text: ASCII's unit separator, which is in no item
SEPARATOR = "\x1f"
NOTHING = ibis.literal([], "array<string>")
#: what may be between items, the likeliest first
SEPARATORS = "|,;"
NUMBER_OR_TIME = "a number, or a time such as 2026-08-31 17:05:00 or 2026-08-31T17:05:00+02:00"


def as_number(column: ir.Value, name: str) -> ir.Value:
    """A number, or a time in seconds; null where it is neither."""
    kind = column.type()
    if kind.is_date():
        return _seconds(column.cast("timestamp"))
    if kind.is_timestamp():
        return _seconds(column)
    if kind.is_time():
        seconds = column.hour() * 3_600 + column.minute() * 60 + column.second()
        return seconds.cast("float64") + column.microsecond().cast("float64") / 1e6
    if kind.is_string():
        text = _trimmed(column)
        number = ibis.ifelse(text.re_search(r"^[-+]?[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?$"), text, None).cast("float64")
        # a date alone has no zone, though it may look as if it ended in one
        dated = ibis.ifelse(text.contains(":"), text.re_replace(_ZONE, ""), text)
        time = ibis.ifelse(
            dated.re_search(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9.]+)?)?$"), dated, None
        )
        return number.coalesce(_seconds(time.try_cast("timestamp")) - _ahead(text))
    if kind.is_numeric():
        return column.cast("float64")
    raise InvalidInput(f"{name} must hold numbers or times, got a column of {kind}")


#: the UTC offset in a time
_ZONE = r"\s*([zZ]|[-+][0-9]{2}(:?[0-9]{2})?)$"


def _ahead(text: ir.Value) -> ir.Value:
    """Return the UTC offset of a time in seconds; 0 if it has none."""
    zone = text.re_extract(r"[0-9]{2}:[0-9]{2}(:[0-9.]+)?\s*([-+][0-9]{2}(:?[0-9]{2})?)$", 2).re_replace(":", "")
    hours, minutes = (zone[start : start + 2].nullif("").cast("float64").coalesce(0.0) for start in (1, 3))
    return ibis.ifelse(zone.startswith("-"), -1.0, 1.0) * (3_600.0 * hours + 60.0 * minutes)


def _seconds(column: ir.Value) -> ir.Value:
    if column.get_backend().name == "pyspark":
        return unix_micros(column.cast("timestamp('UTC')")).cast("float64") / 1e6
    # whole seconds first: some engines would round them up
    return column.truncate("s").epoch_seconds().cast("float64") + column.microsecond().cast("float64") / 1e6


def as_key(column: ir.Value, name: str) -> ir.Value:
    """Numbers and text as they are, which is quick to group by; the rest as text."""
    kind = column.type()
    if kind.is_nested() or kind.is_interval() or kind.is_json():
        raise InvalidInput(f"{name} must hold ids, got a column of {kind}")
    return column if kind.is_integer() or kind.is_string() else _text(column)


def as_text(column: ir.Value, name: str) -> ir.Value:
    """An id as text."""
    _refuse_structs(column, name)
    return column if column.type().is_string() else _text(column)


def without_empty_ids(rows: ir.Table) -> ir.Table:
    """Rows with null for the empty text as an id, and for an impression that is a word for nothing."""
    empty = {name: rows[name] == "" for name in ("placement", "item") if name in rows.columns}
    if rows.impression.type().is_string():
        empty["impression"] = rows.impression.isin(NOTHING_SPELLINGS)
    # a column as it is takes less time to group by, and most files know that it has no such value
    there = {
        name: ibis.ifelse(where, None, rows[name])
        for name, where in empty.items()
        if rows.filter(where).limit(1).count().to_pyarrow().as_py()
    }
    return rows.mutate(**there) if there else rows


def _text(column: ir.Value) -> ir.Value:
    """A value as text, null for NaN; 7.0 is 7, as numbers get fractions where some of their column are missing."""
    if not column.type().is_floating():
        return column.cast("string")
    is_whole = (column == column.floor()) & (column.abs() < 1e15)
    number = ibis.ifelse(is_whole, column, None).cast("int64").cast("string")
    return ibis.ifelse(column.isnan(), None, number.coalesce(column.cast("string")))


def side_by_side(columns: Mapping[str, ir.Value]) -> ir.Value:
    """The values of columns as one text, with nothing for a value that is missing."""
    texts = [as_text(column, name).fill_null("") for name, column in columns.items()]
    return texts[0] if len(texts) == 1 else ibis.literal(SEPARATOR).join(texts)


def _trimmed(column: ir.Value) -> ir.Value:
    # on Spark, the strip of ibis also removes the letters f and v, where it means form feed and vertical tab
    return column.re_replace(r"^\s+|\s+$", "")


def is_given(column: ir.Value) -> ir.BooleanValue:
    """Where there is a value: neither null, nor NaN, nor blank, nor a word for nothing."""
    kind = column.type()
    if kind.is_string():
        return _trimmed(column).nullif("").notnull() & ~is_word_for_nothing(column)
    return column.notnull() & ~column.isnan() if kind.is_floating() else column.notnull()


def is_word_for_nothing(column: ir.Value) -> ir.BooleanValue:
    """Where a text is a word for a missing value."""
    return _trimmed(column).lower().isin(NOTHING_WORDS).fill_null(False)


def as_whole_number(column: ir.Value, name: str) -> ir.Value:
    """A whole number of up to 15 digits, or null."""
    kind = column.type()
    if kind.is_integer():
        return column.cast("int64")
    if kind.is_numeric():
        is_whole = is_given(column) & (column == column.floor()) & (column.abs() < 1e15)
        return ibis.ifelse(is_whole, column, None).cast("int64")
    if kind.is_string():
        digits = _trimmed(column).re_replace(r"\.0+$", "")
        return ibis.ifelse(digits.re_search(r"^-?[0-9]{1,15}$"), digits, None).cast("int64")
    raise InvalidInput(f"{name} must hold whole numbers, got a column of {kind}")


def as_click(column: ir.Value, name: str) -> ir.Value:
    """True, false or null."""
    kind = column.type()
    if kind.is_boolean():
        return column
    if kind.is_numeric():
        return ibis.ifelse(is_given(column) & (column >= 0), column > 0, None)
    if kind.is_string():
        word = _trimmed(column).lower()
        count = ibis.ifelse(word.re_search(r"^[0-9]+(\.0*)?$"), word, None).cast("float64")
        return ibis.cases((word.isin(TRUE), True), (word.isin(FALSE), False), (count.notnull(), count > 0))
    raise InvalidInput(f"{name} must hold clicks, as true and false or 1 and 0, got a column of {kind}")


def separator_of(table: ir.Table, column: ir.Value) -> str:
    """Return the separator of the lists in a column of text, except for lists in brackets.

    A bar if there is any, as it is hardly ever part of a name; else a comma or a semicolon.
    """
    if not column.type().is_string():
        return "|"
    bare = ~_trimmed(column).startswith("[")
    signs = table.aggregate(**{f"s{ord(sign)}": (bare & column.contains(sign)).any() for sign in SEPARATORS})
    (row,) = signs.to_pyarrow().to_pylist()
    return next((sign for sign in SEPARATORS if row[f"s{ord(sign)}"]), "|")


def as_items(column: ir.Value, name: str, separator: str) -> ir.Value:
    """A list of ids, also from text with separators or from a JSON list."""
    kind = column.type()
    if kind.is_array():
        _refuse_structs(column, name)
        return column.cast("array<string>")
    if kind.is_string():
        text = _trimmed(column)
        # JSON, or a list as Python or NumPy print it
        inside = text.re_replace(r"^\[\s*|\s*\]$", "")
        apart = ibis.cases(
            (~text.startswith("["), text.re_replace(rf"\s*[{separator}]\s*", SEPARATOR)),
            (inside.startswith('"'), inside.re_replace(r'"\s*,?\s*"', SEPARATOR).re_replace(r'^"|"$', "")),
            (inside.startswith("'"), inside.re_replace(r"'\s*,?\s*'", SEPARATOR).re_replace(r"^'|'$", "")),
            else_=inside.re_replace(r"\s*,\s*|\s+", SEPARATOR),
        )
        return ibis.ifelse(apart == "", NOTHING, apart.split(SEPARATOR))
    raise InvalidInput(f"{name} must hold lists of items in a log without slots, got a column of {kind}")


def as_clicked_items(column: ir.Value, name: str, separator: str) -> ir.Value:
    """The clicked items in order, none of them missing."""
    kind = column.type()
    if kind.is_array():
        return as_items(column, name, separator).coalesce(NOTHING)
    if kind.is_string() or kind.is_integer() or kind.is_floating():
        text = as_text(column, name).nullif("")
        return ibis.ifelse(text.isnull(), NOTHING, as_items(text, name, separator))
    raise InvalidInput(f"{name} must hold the clicked item or a list of them, got a column of {kind}")


def is_struct(column: ir.Value) -> ir.BooleanValue:
    """Where text is a struct or a list of structs, as JSON or Python writes them, rather than ids."""
    return column.re_search(r"^\s*\[?\s*\{[^}]*[:=]").fill_null(False)


def _refuse_structs(column: ir.Value, name: str) -> None:
    kind = column.type()
    inner = kind.value_type if kind.is_array() else kind
    if inner.is_nested() or inner.is_json():
        fields = list(inner.names) if inner.is_struct() else []
        hint = f"; name one of its fields, as in {name}.{fields[0]}" if fields else ""
        raise InvalidInput(f"{name} must hold ids, got a column of {kind}{hint}")
