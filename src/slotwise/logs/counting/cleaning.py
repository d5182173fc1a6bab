"""Cleaning of a log, impression by impression: errors are corrected or left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import ibis
import ibis.expr.types as ir
import pyarrow as pa

from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.logs.counting.cleaning_rules import MULTI_CLICK, MultiClick
from slotwise.logs.counting.group_by_impression import as_cleaned, gather, odd_keys, regular_rows
from slotwise.logs.counting.impression_counts import PageCounts, add_pages, impressions_in, total_of
from slotwise.logs.counting.irregular_impressions import (
    count_verdicts,
    find_first_clicks,
    judge,
    mended_rows,
    unique_rows,
)
from slotwise.logs.counting.row_checks import check_rows
from slotwise.logs.counting.sanity_checks import refuse_lost
from slotwise.logs.counting.strata import Stratified, stratify
from slotwise.logs.counting.streaming import Streamed, stream
from slotwise.logs.reading.columns import Columns, Strata
from slotwise.logs.reading.layout import Layout
from slotwise.logs.reading.log_source import LogSource
from slotwise.logs.reading.value_parsing import without_empty_ids


@dataclass(frozen=True, eq=False)
class CleanLog:
    """A cleaned log, ready to be counted."""

    #: the columns that identify an impression: impression, or placement and impression
    keys: tuple[str, ...]
    #: how often each rule was needed
    counts: dict[str, int]
    #: by placement; under None where the log has none
    pages: dict[str | None, PageCounts]
    #: which of several clicks counts
    rule: MultiClick
    #: whether the log has the order of the clicks
    ordered: bool
    #: if asked for, the slot of the first click of each impression with several; None if their order is not known
    first_clicks: pa.Table | None
    #: impressions that were counted as they were read, if any were
    streamed: Streamed | None
    #: the rows of all others, as in `rows`
    others: ir.Table | None
    gather: Callable[[], ir.Table]
    #: what placements stand for, where they are strata
    strata: Stratified | None = None

    @cached_property
    def rows(self) -> ir.Table:
        """One row per shown item of all impressions: keys, slot from 1, item, clicked, page_clicked (and optional).

        With every click, `page_clicked` may be null. To ask for them costs as much as counting without reading
        impressions as they come.
        """
        return self.others if self.streamed is None and self.others is not None else self.gather()


@contextmanager
def clean_log(
    source: LogSource,
    multi_click: MultiClick | None = None,
    every_click: bool = False,
    sample: int | None = 0,
    strata: Strata | None = None,
    progress: Callable[[float], None] = lambda _: None,
    placements: int | None = None,
    first_clicks: bool = False,
) -> Iterator[CleanLog]:
    """Read and clean a log, for as long as the block lasts; `sample` and `progress` are those of `stream`."""
    with source.open() as (table, clicks):
        source.reject_partial_files(strata)
        options = every_click, sample, strata, progress, placements, first_clicks
        with cleaned(table, source.columns, multi_click, clicks, *options) as log:
            log.counts.update(source.findings)
            yield log


@contextmanager
def cleaned(
    table: ir.Table,
    columns: Columns,
    multi_click: MultiClick | None = None,
    clicks: ir.Table | None = None,
    every_click: bool = False,
    sample: int | None = 0,
    strata: Strata | None = None,
    progress: Callable[[float], None] = lambda _: None,
    placements: int | None = None,
    first_clicks: bool = False,
) -> Iterator[CleanLog]:
    """Apply the rules of `RULES`, and count; the rows are there for as long as the block lasts.

    Of several clicks in an impression the first or the last counts, or the impression is dropped. The default is the
    first where the log has their order, and to drop where it has not. With `every_click`, all of them are kept, and
    with `first_clicks` the first of each impression is found. With `strata`, each stratum takes the place of a
    placement. At most so many `placements` are kept, those with the most rows.
    """
    with ExitStack() as stack:

        def keep(table: ir.Table) -> ir.Table:
            cached = table.cache()
            stack.callback(cached.release)
            return cached

        layout = Layout.of(table, columns, clicks, strata)
        rows = without_empty_ids(layout.rows(keep))
        # no tally can be counted by this one
        rule: Any = "all" if every_click else _rule(multi_click, ordered="order" in rows.columns)
        counts, first_slot, last_slot, complete = check_rows(layout, rows)
        keys = tuple(name for name in ("placement", "impression") if name in rows.columns)
        usable = _usable(rows, keys, 1 - first_slot, complete=complete)
        if placements is not None and "placement" in keys:
            usable, counts["rare_placements"] = _without_rare_placements(usable, placements, keep)
        stratified = None
        if any(layout.strata):
            usable, stratified, counts["null_time"] = stratify(usable, keys, layout.strata, keep)
            keys = ("placement", "impression")
        # lists are unfolded, rows of clicks added, and strata and placements joined, in no useful order
        joined = layout.clicks is not None or stratified is not None or counts["rare_placements"] > 0
        in_order = not (layout.wide or joined or every_click)
        slots = last_slot - first_slot + 1
        streamed = stream(usable, keys, counts["rows"], slots, complete, sample, progress) if in_order else None
        if streamed is None:
            totals, gaps, complete_rows, odd = _gathered(usable, keys, keep, every_click and not first_clicks)
            counts["multi_click_all"] += sum(page.multi_click for page in totals.values())
        else:
            totals, gaps, complete_rows = streamed.pages, streamed.gaps, None
            odd = streamed.odd_rows() if len(streamed.odd) else None
        counts["missing_slots"] += gaps
        unique, first = None, None
        if odd is not None:
            unique = keep(unique_rows(odd, keys))
            judged = keep(judge(unique, keys, rule))
            count_verdicts(unique, judged, counts, rule)
            add_pages(totals, judged.mutate(counted=judged.verdict == "kept"), keys)
            mended = mended_rows(unique, judged, keys, rule)
            complete_rows = mended if complete_rows is None else complete_rows.union(mended)
            if first_clicks and "first" in unique.columns and any(page.multi_click for page in totals.values()):
                first = find_first_clicks(unique, judged, keys).to_pyarrow()
        refuse_lost(list(totals.values()), counts, unique, keys)
        counts["impressions"] = sum(page.impressions for page in totals.values()) + counts["null_time"]
        counts["counted"] = sum(page.counted for page in totals.values())
        counts["lost_placements"] = _lost_placements(totals, stratified)
        yield CleanLog(
            keys=keys,
            counts=counts,
            pages=totals,
            rule=rule,
            ordered="order" in rows.columns,
            first_clicks=first,
            streamed=streamed,
            others=complete_rows,
            gather=lambda: _all_rows(usable, keys, rule, keep),
            strata=stratified,
        )


def _without_rare_placements(
    usable: ir.Table, at_most: int, keep: Callable[[ir.Table], ir.Table]
) -> tuple[ir.Table, int]:
    """The rows of the placements with the most rows, and how many placements are left out."""
    sizes = keep(usable.group_by("placement").aggregate(times=impressions_in(usable)))
    rare = max(0, int(sizes.count().to_pyarrow().as_py()) - at_most)
    if not rare:
        return usable, 0
    largest = keep(sizes.order_by([sizes.times.desc(), sizes.placement]).limit(at_most).select("placement"))
    return usable.semi_join(largest, "placement"), rare


def _lost_placements(totals: Mapping[str | None, PageCounts], strata: Stratified | None) -> int:
    """How many placements have no impression that could be counted."""
    placement = (lambda name: name) if strata is None else (lambda name: strata.stratum(name).placement)
    every = {placement(name) for name in totals}
    return len(every - {placement(name) for name, page in totals.items() if page.counted})


def _gathered(
    usable: ir.Table, keys: Sequence[str], keep: Callable[[ir.Table], ir.Table], several_clicks: bool = False
) -> tuple[dict[str | None, PageCounts], int, ir.Table, ir.Table | None]:
    """Of the regular impressions how many there are, how many have gaps, and their rows; and the rows of the others."""
    pages = keep(gather(usable, keys, several_clicks=several_clicks))
    odd = keep(odd_keys(usable, pages, keys))
    any_odd = odd.count().to_pyarrow().as_py() > 0
    regular = pages.anti_join(odd, list(keys)) if any_odd else pages
    totals: dict[str | None, PageCounts] = {}
    add_pages(totals, regular.mutate(counted=ibis.literal(True)), keys)
    others = usable.semi_join(odd, list(keys)) if any_odd else None
    gaps = total_of(regular, regular.gap)
    if several_clicks:
        # no tally is counted, so whether a page was clicked need not be joined to its rows
        plain = usable.anti_join(odd, list(keys)) if any_odd else usable
        return totals, gaps, as_cleaned(plain, keys, page_clicked=ibis.null("boolean")), others
    return totals, gaps, regular_rows(usable, regular, odd, keys), others


def _all_rows(usable: ir.Table, keys: Sequence[str], rule: str, keep: Callable[[ir.Table], ir.Table]) -> ir.Table:
    """The rows of a log that was counted as it was read."""
    _, _, regular, odd = _gathered(usable, keys, keep)
    if odd is None:
        return regular
    unique = keep(unique_rows(odd, keys))
    return regular.union(mended_rows(unique, keep(judge(unique, keys, rule)), keys, rule))


def _rule(multi_click: MultiClick | None, *, ordered: bool) -> MultiClick:
    if multi_click is None:
        return "first" if ordered else "drop"
    validation.one_of("multi_click", multi_click, MULTI_CLICK)
    if multi_click != "drop" and not ordered:
        raise InvalidInput(f"multi_click={multi_click} needs the order of the clicks: name the column that has it")
    return multi_click


def _usable(rows: ir.Table, keys: Sequence[str], shift: int, *, complete: bool) -> ir.Table:
    """The rows to use: items with a slot, and clicks on anything. Where none has a gap they are all of them."""
    if complete:
        return rows.mutate(slot=rows.slot + shift) if shift else rows
    clicked = rows.clicked.fill_null(False)
    is_identified = rows.impression.notnull()
    if "placement" in keys:
        is_identified &= rows.placement.notnull()
    if "weight" in rows.columns:
        is_identified &= rows.weight.fill_null(0) > 0
    said = is_identified & ((rows.slot.notnull() & rows.item.notnull()) | clicked)
    return rows.filter(said).mutate(
        slot=lambda usable: usable.slot + shift, clicked=lambda usable: usable.clicked.fill_null(False)
    )
