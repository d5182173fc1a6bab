"""How many impressions a placement has, of each kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import ibis.expr.types as ir


@dataclass
class PageCounts:
    """Impressions of a placement: found in the log; with a click; counted; counted without one; with several clicks."""

    impressions: int = 0
    clicked: int = 0
    counted: int = 0
    no_click: int = 0
    multi_click: int = 0


def add_pages(totals: dict[str | None, PageCounts], pages: ir.Table, keys: Sequence[str]) -> None:
    """Add the impressions of a table with counted, no_click and several, by placement."""
    grouped = pages.group_by("placement") if "placement" in keys else pages
    totals_by_page = grouped.aggregate(
        impressions=impressions_in(pages),
        clicked=impressions_in(pages, ~pages.no_click),
        counted=impressions_in(pages, pages.counted),
        no_click=impressions_in(pages, pages.counted & pages.no_click),
        multi_click=impressions_in(pages, pages.several),
    )
    for row in totals_by_page.to_pyarrow().to_pylist():
        mine = totals.setdefault(row.pop("placement", None), PageCounts())
        for name, count in row.items():
            setattr(mine, name, getattr(mine, name) + int(count or 0))


def impressions_in(table: ir.Table, where: ir.BooleanValue | None = None) -> ir.Value:
    """How many impressions the rows of a table stand for, each of them for one or for its weight."""
    if "weight" not in table.columns:
        return table.count(where=where)
    return table.weight.sum(where=where).coalesce(0)


def total_of(pages: ir.Table, where: ir.BooleanValue) -> int:
    """How many impressions they stand for where that is so."""
    return int(pages.aggregate(total=impressions_in(pages, where)).to_pyarrow()["total"][0].as_py() or 0)
