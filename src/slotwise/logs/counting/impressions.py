"""Impressions out of a cleaned log: which items were shown together, and which of them was clicked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slotwise.errors import InvalidInput
from slotwise.logs.counting.cleaning import OPTIONAL, CleanLog
from slotwise.logs.counting.tallies import LogTally
from slotwise.logs.reading.engine_functions import bucket
from slotwise.rankings import Rankings
from slotwise.typing import EMPTY, NO_CLICK, IntArray

#: impressions are sampled by a hash of their id, which falls into one of this many parts
PARTS = 1_000_003
PROPENSITY = "propensity must be the same in all rows of an impression, the probability of its whole list"
WEIGHT = "weight must be the same in all rows of an impression"


class Impressions:
    """The impressions of one placement: what was shown in each, the slot clicked, the propensity if it was logged."""

    def __init__(self, rows: pa.Table, counted: LogTally) -> None:
        """From rows as in `CleanLog.rows`, with the items of a tally of them."""
        pages = pc.dictionary_encode(rows["impression"].combine_chunks()).indices.to_numpy()
        places = rows["slot"].to_numpy() - 1
        items = pc.index_in(rows["item"], value_set=pa.array(counted.item_ids)).to_numpy()
        self.items = counted.items
        self.shown: IntArray = np.full((pages.max(initial=-1) + 1, counted.slots), EMPTY)
        self.shown[pages, places] = items
        self.clicked: IntArray = np.full(len(self.shown), NO_CLICK)
        hit = np.asarray(rows["clicked"])
        self.clicked[pages[hit]] = places[hit]
        #: of each list, or impressions × slots; NaN where it is not known
        self.propensity: Any = None
        if "propensity" in rows.column_names:
            given = rows["propensity"].cast(pa.float64()).to_numpy()
            _refuse_improbable(given)
            self.propensity = _per_page(PROPENSITY, given, pages, len(self.shown))
        elif "item_propensity" in rows.column_names:
            given = rows["item_propensity"].cast(pa.float64()).to_numpy()
            _refuse_improbable(given)
            self.propensity = np.full(self.shown.shape, np.nan)
            self.propensity[pages, places] = given
        #: how many impressions each stands for; None if one
        self.weight: Any = None
        if "weight" in rows.column_names:
            given = rows["weight"].cast(pa.float64()).to_numpy()
            self.weight = _per_page(WEIGHT, given, pages, len(self.shown)).astype(np.int64)

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
    rows, sampled = log.rows, at_most is not None and total > at_most
    if at_most is not None and sampled:
        rows = rows.filter(bucket([rows[key] for key in log.keys], PARTS) < int(PARTS * at_most / total))
    names = [*log.keys, "slot", "item", "clicked", *(name for name in OPTIONAL if name in rows.columns)]
    found = rows.select(*names).to_pyarrow()
    if "placement" not in log.keys:
        return {None: Impressions(found, counted[None])}, sampled
    codes = pc.index_in(found["placement"], value_set=pa.array(list(counted))).to_numpy()
    order = np.argsort(codes, kind="stable")
    ends = np.searchsorted(codes[order], np.arange(len(counted) + 1))
    return {
        name: Impressions(found.take(pa.array(order[ends[place] : ends[place + 1]])), counted[name])
        for place, name in enumerate(counted)
    }, sampled


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
