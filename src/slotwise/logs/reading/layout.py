"""The layouts of click logs, all turned into one row per shown item."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import ibis
import ibis.expr.types as ir

from slotwise.core.errors import InvalidInput
from slotwise.logs.reading import value_parsing
from slotwise.logs.reading.columns import (
    Columns,
    Strata,
    column,
    has_column,
    item_of_clicks,
    recognise_columns,
    refuse_incomplete_clicks,
    refuse_missing,
)

#: whether anybody saw the list
_SHOWN = "shown"
OF_ITEMS = ("item_propensity", "value")
#: for whom and when: the values of the segment's columns, and a number
SEGMENT, TIME = "segment", "time"
TIMES = "slotwise_times"
NO_STRATA = Strata()


@dataclass(frozen=True, eq=False)
class Layout:
    """A log, its columns, and whether each row is one shown item or one impression."""

    table: ir.Table
    #: as they are called in the table
    columns: Columns
    wide: bool
    #: a table with a row for each click, where the clicks are not in the log itself
    clicks: ir.Table | None = None
    #: for whom and when, where that is asked
    strata: Strata = NO_STRATA

    @classmethod
    def of(
        cls, table: ir.Table, columns: Columns, clicks: ir.Table | None = None, strata: Strata | None = None
    ) -> Layout:
        """Find the columns; refuses a table that lacks one."""
        if clicks is not None:
            refuse_incomplete_clicks(clicks, columns)
        strata = strata or NO_STRATA
        for name in strata.segment:
            refuse_missing(table, "segment", name)
        if strata.time is not None:
            refuse_missing(table, "time", strata.time)
        return cls(table, *recognise_columns(table, columns, clicks_elsewhere=clicks is not None), clicks, strata)

    def rows(self, keep: Callable[[ir.Table], ir.Table]) -> ir.Table:
        """One row per shown item: placement (if there are any), impression, slot, item, clicked, and optional columns.

        Values that are missing are null. So are slots and clicks that make no sense: `misread` finds these. `keep`
        makes a table of what must be computed only once.
        """
        rows = self._from_wide(keep) if self.wide else self._from_long()
        if self.texts and self.table.get_backend().name == "duckdb":
            # DuckDB takes longer to parse the text than to store the result, and every step reads the rows
            rows = keep(rows)
        return rows if self.clicks is None else rows.union(self._from_clicks(self.clicks, rows, keep))

    def misread(self) -> dict[str, tuple[ir.BooleanValue, str]]:
        """By column, where the table holds something that cannot be understood, and what it should be."""
        columns = self.columns
        checks: dict[str, tuple[ir.BooleanValue, str]] = {}
        for name, kind in (
            (columns.order, value_parsing.NUMBER_OR_TIME),
            (self.strata.time, value_parsing.NUMBER_OR_TIME),
            (columns.propensity, "a number"),
            *((None if self.wide else getattr(columns, role), "a number") for role in OF_ITEMS),
        ):
            if name is not None and has_column(self.table, name) and self[name].type().is_string():
                checks[name] = (
                    value_parsing.is_given(self[name]) & value_parsing.as_number(self[name], name).isnull(),
                    kind,
                )
        if columns.weight is not None and not self[columns.weight].type().is_integer():
            weight = self[columns.weight]
            wrong = value_parsing.is_given(weight) & value_parsing.as_whole_number(weight, columns.weight).isnull()
            checks[columns.weight] = wrong, "a whole number of impressions"
        if self.wide:
            for name in (columns.item, columns.clicked):
                if has_column(self.table, name) and self[name].type().is_string():
                    checks[name] = value_parsing.is_struct(self[name]), "ids, or lists of ids and not of structs"
        return checks

    def misread_slots_and_clicks(self) -> dict[str, tuple[ir.BooleanValue, str]]:
        """The same of the slots and clicks of a long log."""
        columns, checks = self.columns, dict[str, tuple[ir.BooleanValue, str]]()
        slot, clicked = self[columns.slot], self._clicked
        # not asked where the type leaves no doubt: it would mean reading the whole log
        if not slot.type().is_integer():
            checks[columns.slot] = (
                value_parsing.is_given(slot) & value_parsing.as_whole_number(slot, columns.slot).isnull(),
                "a whole number",
            )
        if not clicked.type().is_boolean():
            wrong = value_parsing.is_given(clicked) & value_parsing.as_click(clicked, columns.clicked).isnull()
            checks[columns.clicked] = wrong, "true or false, 1 or 0"
        return checks

    def distinct_slots_and_clicks(self) -> Layout:
        """A layout whose table has each pair of slot and click once, and in the column `TIMES` how often it occurs."""
        names = [name for name in (self.columns.slot, self.columns.clicked) if has_column(self.table, name)]
        pairs = self.table.select(**{name: self[name] for name in names})
        return replace(self, table=pairs.group_by(names).aggregate(**{TIMES: pairs.count()}))

    def count_empty(self) -> int:
        """How many impressions of a wide log show nothing: they have no rows."""
        if not self.wide:
            return 0
        return int(self.table.count(where=(self._items.length() == 0).fill_null(True)).to_pyarrow().as_py())

    def count_words_for_nothing(self) -> int:
        """How many clicks in a wide log are words for nothing, except for clicks on a shown item of that name."""
        kind = self._clicked.type()
        if not (kind.is_string() or (kind.is_array() and kind.value_type.is_string())):
            return 0
        choices = self.table.select(items=self._items, chosen=self._chosen).unnest("chosen")
        stray = choices.filter(_is_stray(choices))
        return int(stray.count(where=value_parsing.is_word_for_nothing(stray.chosen)).to_pyarrow().as_py())

    @cached_property
    def separator(self) -> str:
        """The separator of lists that are written as text: a bar, or else a comma or a semicolon."""
        items = self[self.columns.item]
        return value_parsing.separator_of(self.table, items if items.type().is_string() else self._clicked)

    @property
    def texts(self) -> list[str]:
        """Which of the columns of slots and clicks are text, in a long log."""
        names = () if self.wide else (self.columns.slot, self.columns.clicked)
        return [name for name in names if has_column(self.table, name) and self[name].type().is_string()]

    @property
    def _clicked(self) -> ir.Value:
        """Return the click columns of the log; empty if clicks have a separate table."""
        return self[self.columns.clicked] if has_column(self.table, self.columns.clicked) else ibis.literal(False)

    def _from_clicks(self, clicks: ir.Table, rows: ir.Table, keep: Callable[[ir.Table], ir.Table]) -> ir.Table:
        """A clicked row without a slot for each click; it belongs to the item of that name in its impression."""
        names = self.columns
        impression = value_parsing.as_key(column(clicks, names.impression), names.impression)
        columns = {
            "impression": impression.try_cast(rows.impression.type()),
            "slot": ibis.null("int64"),
            "item": value_parsing.as_text(column(clicks, item_of_clicks(clicks, names)), names.item),
            "clicked": ibis.literal(True),
            "propensity": ibis.null("float64"),
            "item_propensity": ibis.null("float64"),
            "value": ibis.null("float64"),
            # segment and time are columns of the log itself
            SEGMENT: ibis.null("string"),
            TIME: ibis.null("float64"),
        }
        is_placed = names.placement is not None and has_column(clicks, names.placement)
        if names.placement is not None and is_placed:
            columns["placement"] = value_parsing.as_text(column(clicks, names.placement), names.placement)
        for role, name in (("order", names.order), ("value", names.value)):
            if name is not None and has_column(clicks, name):
                columns[role] = value_parsing.as_number(column(clicks, name), name)
        own = [name for name in rows.columns if name != "placement" or is_placed]
        selected = clicks.select(**{name: columns[name] for name in own})
        return selected if own == list(rows.columns) else _placed(selected, rows, keep)

    def __getitem__(self, name: str) -> ir.Value:
        return column(self.table, name)

    def _from_long(self) -> ir.Table:
        columns = self.columns
        return self.table.select(
            **self._page(),
            impression=value_parsing.as_key(self[columns.impression], columns.impression),
            slot=value_parsing.as_whole_number(self[columns.slot], columns.slot),
            item=value_parsing.as_text(self[columns.item], columns.item),
            clicked=value_parsing.as_click(self._clicked, columns.clicked),
            **self._optional(),
        )

    def _from_wide(self, keep: Callable[[ir.Table], ir.Table]) -> ir.Table:
        """Unfold the lists; a click on an item outside its list becomes a clicked row without a slot."""
        named = has_column(self.table, self.columns.impression)
        lists = self.table.select(
            **self._page(),
            impression=value_parsing.as_key(self[self.columns.impression], self.columns.impression)
            if named
            else ibis.row_number(),
            items=self._items,
            chosen=self._chosen,
            **self._optional(),
        )
        if not named:
            # numbered once: a second read of the log may come in another order
            lists = keep(lists)
        page_columns = ("placement", "impression", "propensity", "weight", SEGMENT, TIME)
        names = [name for name in page_columns if name in lists.columns]
        of_items = [name for name in OF_ITEMS if name in lists.columns]
        unfolded = lists.unnest("items", offset="place")
        item = unfolded["items"].nullif("")
        clicked = unfolded.chosen.contains(item).fill_null(False)
        shown = unfolded.select(
            *names,
            slot=(unfolded.place + 1).cast("int64"),
            item=item,
            clicked=clicked,
            **(
                {"order": ibis.ifelse(clicked, unfolded.chosen.index(item), None).cast("float64")}
                if self._is_ordered
                else {}
            ),
            **{name: unfolded[name][unfolded.place].cast("float64") for name in of_items},
        )
        choices = lists.unnest("chosen")
        stray = _is_stray(choices) & ~value_parsing.is_word_for_nothing(choices.chosen)
        lost = choices.filter(stray).select(
            *names,
            slot=ibis.null("int64"),
            item=choices.chosen,
            clicked=ibis.literal(True),
            **({"order": ibis.null("float64")} if self._is_ordered else {}),
            **{name: ibis.null("float64") for name in of_items},
        )
        return shown.union(lost)

    @property
    def _items(self) -> ir.Value:
        column = self[self.columns.item]
        items = value_parsing.as_items(column, self.columns.item, self.separator if column.type().is_string() else "|")
        if _SHOWN not in self.table.columns or not self.table[_SHOWN].type().is_boolean():
            return items
        return ibis.ifelse(self.table[_SHOWN].fill_null(True), items, ibis.literal([], "array<string>"))

    @property
    def _is_ordered(self) -> bool:
        """Whether a wide log has the order of its clicks: a list of items has one, marks have none."""
        if self.clicks is not None:
            return self.columns.order is not None and has_column(self.clicks, self.columns.order)
        return not self._marks_clicks

    @property
    def _marks_clicks(self) -> bool:
        """Whether clicks are a list of true and false."""
        kind = self._clicked.type()
        return bool(kind.is_array() and kind.value_type.is_boolean())

    @property
    def _chosen(self) -> ir.Value:
        """The clicked items; the exact name of a shown item is not split as a list."""
        clicked, items = self._clicked, self._items
        if clicked.type().is_boolean():
            if self.clicks is None:
                raise InvalidInput(
                    f"{self.columns.clicked} must hold the clicked item or a list of them, got a column of boolean"
                )
            return value_parsing.NOTHING
        if self._marks_clicks:
            return items.filter(lambda _, place: clicked[place].fill_null(False)).coalesce(value_parsing.NOTHING)
        separator = self.separator if clicked.type().is_string() else "|"
        chosen = value_parsing.as_clicked_items(clicked, self.columns.clicked, separator)
        if not clicked.type().is_string():
            return chosen
        is_one = items.contains(clicked).fill_null(False)
        return ibis.ifelse(is_one, ibis.array([clicked]), chosen)

    def _of_items(self, name: str) -> ir.Value:
        """A column with a number for each item; a list, if a row is a whole impression."""
        given = self[name]
        if self.wide and not (given.type().is_array() and given.type().value_type.is_numeric()):
            raise InvalidInput(f"{name} must hold a list of numbers, one for each item, got a column of {given.type()}")
        return given if self.wide else value_parsing.as_number(given, name)

    def _page(self) -> dict[str, Any]:
        name = self.columns.placement
        return {} if name is None else {"placement": value_parsing.as_text(self[name], name)}

    def _optional(self) -> dict[str, Any]:
        columns: dict[str, Any] = {}
        for role in ("order", "propensity"):
            name = getattr(self.columns, role)
            if name is not None:
                # the order of clicks may be in the table of the clicks
                here = has_column(self.table, name)
                columns[role] = value_parsing.as_number(self[name], name) if here else ibis.null("float64")
        for role in OF_ITEMS:
            name = getattr(self.columns, role)
            if name is not None:
                columns[role] = self._of_items(name) if has_column(self.table, name) else ibis.null("float64")
        if self.columns.weight is not None:
            columns["weight"] = value_parsing.as_whole_number(self[self.columns.weight], self.columns.weight)
        if self.strata.segment:
            columns[SEGMENT] = value_parsing.side_by_side({name: self[name] for name in self.strata.segment})
        if self.strata.time is not None:
            columns[TIME] = value_parsing.as_number(self[self.strata.time], self.strata.time)
        return columns


def _is_stray(choices: ir.Table) -> ir.BooleanValue:
    """Where the clicked item is not in the list."""
    return choices.chosen.nullif("").notnull() & ~choices["items"].contains(choices.chosen).fill_null(False)


def _placed(clicks: ir.Table, rows: ir.Table, keep: Callable[[ir.Table], ir.Table]) -> ir.Table:
    """Give every click the placement of its impression, or, if several have one of that id, of its item there."""
    ends = {"first": rows.placement.min(), "last": rows.placement.max()}
    by_impression = keep(rows.group_by("impression").aggregate(**ends))
    by_item = rows.group_by(["impression", "item"]).aggregate(**ends).filter(lambda pair: pair["item"].notnull())
    shared = by_impression.filter(by_impression["first"] < by_impression["last"])
    by_item = keep(by_item.semi_join(shared, "impression"))
    unclear = clicks.semi_join(by_item.filter(by_item["first"] < by_item["last"]), ["impression", "item"])
    example = unclear.select("impression", "item").order_by(["impression", "item"]).limit(1).to_pyarrow().to_pylist()
    if example:
        raise InvalidInput(
            f"the table of clicks must name the placement, as several show {example[0]['item']!r} in an impression "
            f"{example[0]['impression']!r}"
        )
    alone = by_impression.anti_join(shared, "impression").select("impression", of_impression="first")
    placed = clicks.left_join(alone, "impression").drop("impression_right")
    placed = placed.left_join(by_item.select("impression", "item", of_item="first"), ["impression", "item"])
    placed = placed.mutate(placement=placed.of_impression.coalesce(placed.of_item))
    return placed.select(*rows.columns)
