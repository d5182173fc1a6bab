"""Impressions out of a cleaned log: which items were shown together, and which of them was clicked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import ibis.expr.types as ir
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slotwise.errors import InvalidInput
from slotwise.logs.counting.cleaning import CleanLog
from slotwise.logs.counting.gathering import OPTIONAL
from slotwise.logs.counting.streaming import Streamed
from slotwise.logs.counting.tallies import LogTally, by_placement
from slotwise.logs.reading.engine_functions import bucket
from slotwise.rankings import Rankings
from slotwise.typing import EMPTY, NO_CLICK, BoolArray, IntArray

#: impressions are sampled by a hash of their id, which falls into one of this many parts
PARTS = 1_000_003
PROPENSITY = "propensity must be the same in all rows of an impression, the probability of its whole list"
WEIGHT = "weight must be the same in all rows of an impression"


@dataclass(frozen=True, eq=False)
class Impressions:
    """The impressions of one placement: what was shown in each, the slot clicked, the propensity if it was logged."""

    items: int
    #: impressions × slots
    shown: IntArray
    clicked: IntArray
    #: of each list, or impressions × slots; NaN where it is not known
    propensity: Any = None
    #: how many impressions each stands for; None if one
    weight: Any = None

    @classmethod
    def of_rows(cls, rows: pa.Table, counted: LogTally) -> Impressions:
        """From rows as in `CleanLog.rows`, with the items of a tally of them."""
        pages = pc.dictionary_encode(rows["impression"].combine_chunks()).indices.to_numpy()
        places = rows["slot"].to_numpy() - 1
        items = pc.index_in(rows["item"], value_set=pa.array(counted.item_ids)).to_numpy()
        found = cls._of_places(pages, places, items, np.asarray(rows["clicked"]), counted)
        propensity, weight, count = None, None, len(found.shown)
        if "propensity" in rows.column_names:
            given = rows["propensity"].cast(pa.float64()).to_numpy()
            _refuse_improbable(given)
            propensity = _per_page(PROPENSITY, given, pages, count)
        elif "item_propensity" in rows.column_names:
            given = rows["item_propensity"].cast(pa.float64()).to_numpy()
            _refuse_improbable(given)
            propensity = np.full(found.shown.shape, np.nan)
            propensity[pages, places] = given
        if "weight" in rows.column_names:
            given = rows["weight"].cast(pa.float64()).to_numpy()
            weight = _per_page(WEIGHT, given, pages, count).astype(np.int64)
        return replace(found, propensity=propensity, weight=weight)

    @classmethod
    def _of_places(
        cls, pages: IntArray, places: IntArray, items: IntArray, hit: BoolArray, counted: LogTally
    ) -> Impressions:
        shown: IntArray = np.full((pages.max(initial=-1) + 1, counted.slots), EMPTY)
        shown[pages, places] = items
        clicked: IntArray = np.full(len(shown), NO_CLICK)
        clicked[pages[hit]] = places[hit]
        return cls(counted.items, shown, clicked)

    @classmethod
    def of_runs(cls, runs: IntArray, items: IntArray, marks: IntArray, counted: LogTally) -> Impressions:
        """From rows with the number of their impression, which rises, and marks as in `Rows`."""
        pages = np.cumsum(np.diff(runs, prepend=-1) > 0) - 1
        return cls._of_places(pages, (marks >> 1) - 1, items, (marks & 1) == 1, counted)

    def __add__(self, other: Impressions) -> Impressions:
        """Those of both, which have neither propensities nor weights."""
        both = self, other
        return Impressions(
            self.items, np.concatenate([one.shown for one in both]), np.concatenate([one.clicked for one in both])
        )

    @property
    def rankings(self) -> Rankings:
        """The distinct lists, counted."""
        if self.weight is not None:
            hit = self.clicked[:, None] == np.arange(self.shown.shape[1])
            passes = np.where(self.clicked == NO_CLICK, self.weight, 0)
            return Rankings(self.shown, hit * self.weight[:, None], passes, items=self.items)
        return Rankings.of_rounds(self.shown, self.clicked, items=self.items)


def impressions_by_placement(
    log: CleanLog, counted: Mapping[str | None, LogTally], at_most: int | None
) -> tuple[dict[str | None, Impressions], bool]:
    """The impressions of every placement, and whether they are a sample: of about `at_most`, drawn by their ids."""
    total = sum(one.counted for one in counted.values())
    share = 1.0 if at_most is None or total <= at_most else at_most / total
    if log.streamed is None or log.streamed.sample.share < share:
        return _of_rows(log, log.rows, share, counted), share < 1.0
    found = _of_sample(log.streamed, share, counted)
    if log.others is not None:
        more = _of_rows(log, log.others, share, counted)
        found = {name: found[name] + more[name] if name in found else more[name] for name in counted}
    return found, share < 1.0


def _of_sample(
    streamed: Streamed, share: float, counted: Mapping[str | None, LogTally]
) -> dict[str | None, Impressions]:
    """Of the impressions that were kept while the log was read, those drawn among this share."""
    lots, lengths, pairs, marks = streamed.sample.whole()
    kept = np.repeat(lots < share, lengths)
    runs, pairs, marks = np.repeat(np.arange(len(lots)), lengths)[kept], pairs[kept], marks[kept]
    items = streamed.item_places({name: one.item_ids for name, one in counted.items()})[pairs]
    order = np.argsort(streamed.group[pairs], kind="stable")
    ends = np.searchsorted(streamed.group[pairs][order], np.arange(len(streamed.placements) + 1))
    found = {}
    for place, name in enumerate(streamed.placements):
        mine = order[ends[place] : ends[place + 1]]
        if name in counted:
            found[name] = Impressions.of_runs(runs[mine], items[mine], marks[mine], counted[name])
    return found


def _of_rows(
    log: CleanLog, rows: ir.Table, share: float, counted: Mapping[str | None, LogTally]
) -> dict[str | None, Impressions]:
    if share < 1.0:
        rows = rows.filter(bucket([rows[key] for key in log.keys], PARTS) < int(PARTS * share))
    names = [*log.keys, "slot", "item", "clicked", *(name for name in OPTIONAL if name in rows.columns)]
    found = rows.select(*names).to_pyarrow()
    if "placement" not in log.keys:
        return {None: Impressions.of_rows(found, counted[None])}
    return {name: Impressions.of_rows(mine, counted[name]) for name, mine in by_placement(found, list(counted)).items()}


def _refuse_improbable(values: np.ndarray) -> None:
    wrong = values[~np.isnan(values) & ~((values > 0.0) & (values <= 1.0))]
    if wrong.size:
        raise InvalidInput(
            f"propensity must be a probability, above 0 and at most 1, got {wrong[0]:.6g} (in {wrong.size:,} of "
            f"{values.size:,} rows it is not)"
        )


def _per_page(what: str, values: np.ndarray, pages: np.ndarray, count: int) -> np.ndarray:
    """One value per impression; refuses rows of one impression that disagree."""
    lowest, highest = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(lowest, pages, values)
    np.maximum.at(highest, pages, values)
    differ = np.flatnonzero(highest - lowest > 1e-9 * np.abs(highest))
    if differ.size:
        raise InvalidInput(
            f"{what}, got {lowest[differ[0]]:.6g} and {highest[differ[0]]:.6g} in one ({len(differ):,} of {count:,} "
            "differ)"
        )
    return np.where(np.isfinite(highest), highest, np.nan)
