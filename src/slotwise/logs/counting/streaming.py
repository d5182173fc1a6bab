"""Impressions whose rows stand together in the log, counted as they are read.

Most logs are written an impression at a time, so that its rows follow one another. Each can then be looked at by itself
as it comes by, and no engine has to gather hundreds of millions of rows by impression first. Irregular
impressions are judged row by row; if impressions turn out to be scattered, the caller groups rows instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import ibis
import ibis.expr.types as ir
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slotwise.core.types import EMPTY, BoolArray, FloatArray
from slotwise.logs.counting.impression_counts import PageCounts
from slotwise.logs.counting.impression_sample import Sample
from slotwise.logs.counting.row_cache import LEFT_OUT, KeptRows
from slotwise.logs.counting.row_stream import KEY, Rows, RowStream
from slotwise.logs.counting.streaming_kernels import Integers, add_log_sums, count_runs

#: smaller logs are counted in less time than it takes to load the kernels
MIN_ROWS = 500_000
#: counts have 32 bits
MAX_ROWS = 2**31
#: counts are kept for each slot of each item: a log with more of these, most of them 0, is counted by the engine
MAX_CELLS = 50_000_000
#: of the impressions, at most this share may be in pieces
MAX_IN_PIECES = 0.05
#: an engine may return rows in another order each time, with other impressions in pieces
MAX_READS = 3
#: what a row must not carry, as each of these is another way to count
UNSUITED = ("weight", "propensity", "item_propensity", "value")


class PairCounts(NamedTuple):
    """Of one placement, items and their counts by slot: impressions, clicks, impressions without a click."""

    items: pa.Array
    shown: Integers
    clicks: Integers
    passes: Integers


@dataclass(frozen=True, eq=False)
class Streamed:
    """The impressions of a log that have nothing odd about them, counted, and the keys of the others."""

    rows: RowStream
    #: for each pair of placement and item, the place of its placement in `placements`
    group: Integers
    placements: tuple[str | None, ...]
    #: pairs × slots: clicks, and impressions with a click and without one
    clicks: Integers
    held: Integers
    passes: Integers
    pages: dict[str | None, PageCounts]
    #: impressions with a gap in their slots
    gaps: int
    #: in order
    odd: Integers
    sample: Sample
    cache: KeptRows

    def by_placement(self) -> dict[str | None, PairCounts]:
        """Return the counts of every placement with an impression."""
        items = self.rows.pairs["item"].combine_chunks()
        counts = {}
        for name, mine in self.pairs_of():
            shown = self.held[mine] + self.passes[mine]
            used = mine[shown.any(axis=1)]
            if len(used):
                shown = shown[shown.any(axis=1)]
                counts[name] = PairCounts(items.take(pa.array(used)), shown, self.clicks[used], self.passes[used])
        return counts

    def pairs_of(self) -> Iterator[tuple[str | None, Integers]]:
        """The pairs of each placement."""
        order = np.argsort(self.group, kind="stable")
        ends = np.searchsorted(self.group[order], np.arange(len(self.placements) + 1))
        for place, name in enumerate(self.placements):
            yield name, order[ends[place] : ends[place + 1]]

    def item_places(self, ids: Mapping[str | None, Sequence[str]]) -> Integers:
        """For each pair, the place of its item among those of its placement; EMPTY if it is not among them."""
        places = np.full(len(self.group), EMPTY)
        items = self.rows.pairs["item"].combine_chunks()
        for name, mine in self.pairs_of():
            item_ids = pa.array(ids.get(name, ()), pa.string())
            places[mine] = pc.index_in(items.take(pa.array(mine)), value_set=item_ids).fill_null(EMPTY).to_numpy()
        return places

    def odd_rows(self) -> ir.Table:
        """All rows of the impressions that were not counted."""
        wanted = ibis.memtable(pa.table({KEY: self.odd}))
        return self.rows.with_key().semi_join(wanted, KEY).drop(KEY)

    def log_sums(self, attractiveness: FloatArray, position_bias: FloatArray) -> dict[str | None, float] | None:
        """Σ log(1 + Σ λα) over the impressions that were counted: α by pair, λ by placement and slot.

        None if the log is read again and an impression is in pieces this time.
        """
        total, runs = np.zeros(len(self.placements)), 0
        every, odd = (self.cache.read(), LEFT_OUT) if self.cache.all_there else (self.rows.read(), self.odd)
        for rows in every:
            part = np.zeros(len(self.placements))
            add_log_sums(*rows, odd, self.group, attractiveness, position_bias, part)
            total += part
            if not self.cache.all_there:
                starts = np.diff(rows.keys, prepend=~rows.keys[0]) != 0
                runs += int((~np.isin(rows.keys[starts], odd)).sum())
        if not self.cache.all_there and runs != sum(page.counted for page in self.pages.values()):
            return None
        return dict(zip(self.placements, total.tolist(), strict=True))


def stream(
    usable: ir.Table,
    keys: Sequence[str],
    rows: int,
    slots: int,
    complete: bool,
    sample: int | None,
    progress: Callable[[float], None] = lambda _: None,
) -> Streamed | None:
    """Count regular impressions in one pass over the rows; None if the log does not suit it.

    No order of the rows is assumed. An impression that comes in pieces is left to the caller, and the rows are read
    again without it; the counts are those of a pass in which every counted impression came in one piece.

    Rows that are `complete` have no gaps. About `sample` of the impressions are kept, or up to twice as many; all, if
    it is None. `progress` receives the share of the rows that was read so far.
    """
    suited = MIN_ROWS <= rows < MAX_ROWS and not any(name in usable.columns for name in UNSUITED)
    if not suited or usable.get_backend().name != "duckdb":
        return None
    numbered = RowStream.of(usable, tuple(key for key in keys if key != "impression"), complete=complete)
    if numbered is None or numbered.pairs.num_rows * slots > MAX_CELLS:
        return None
    left_out = np.zeros(0, np.int64)
    for _ in range(MAX_READS):
        counter = _Counter(numbered, rows, slots, sample)
        if not counter.count(left_out, lambda read: progress(read / rows)):
            return None
        pieces = counter.in_pieces()
        if not len(pieces):
            return counter.counted()
        left_out = np.union1d(left_out, pieces)
        if len(left_out) > MAX_IN_PIECES * counter.pages[:, 0].sum():
            return None
    return None


class _Counter:
    """The running sums over a streamed log."""

    def __init__(self, rows: RowStream, count: int, slots: int, sample: int | None) -> None:
        self.rows = rows
        pairs = rows.pairs.num_rows
        self.placements: tuple[str | None, ...] = (None,)
        self.group = np.zeros(pairs, np.int64)
        if "placement" in rows.pairs.column_names:
            coded = rows.pairs["placement"].combine_chunks().dictionary_encode()
            self.placements = tuple(coded.dictionary.to_pylist())
            self.group = coded.indices.to_numpy().astype(np.int64)
        self.slots = slots
        self.seen_slots, self.cells = np.zeros(slots + 1, np.int32), np.zeros((pairs, 1 + 2 * slots), np.int32)
        self.clicks = np.zeros((pairs, slots), np.int32)
        self.pages = np.zeros((len(self.placements), 3), np.int64)
        #: where runs start, and whether they were counted: room for `count_runs`
        self.starts, self.regular = np.zeros(0, np.int32), np.zeros(0, np.bool_)
        self.sample = Sample(math.inf if sample is None else sample, expected=count // slots)
        #: for likelihoods, which only a log is asked for that is sampled too
        self.cache = KeptRows(slots, pairs, wanted=sample != 0)
        #: as long as keys rise, all of them are below this; afterwards those that follow are remembered
        self.below = np.iinfo(np.int64).min
        self.keys: list[Integers] = []
        #: those that came again, or may have
        self.doubtful: list[Integers] = []
        self.odd: list[Integers] = []

    def count(self, left_out: Integers, progress: Callable[[int], None]) -> bool:
        """Read the log; False as soon as it is plain that impressions are scattered over it."""
        self.odd.append(left_out)
        read = 0
        for rows in self.rows.read():
            progress(read := read + len(rows.keys))
            starts, regular = self._count_runs(rows, left_out)
            keys = rows.keys[starts]
            odd = keys[~regular]
            self.odd.append(odd[~np.isin(odd, left_out)])
            self.sample.add(keys, starts, regular, rows)
            self.cache.add(starts, regular, rows)
            if not self._remember(keys if len(left_out) == 0 else keys[~np.isin(keys, left_out)]):
                return False
        return True

    def _count_runs(self, rows: Rows, left_out: Integers) -> tuple[Integers, BoolArray]:
        if len(self.starts) < len(rows.keys):
            self.starts, self.regular = np.empty(len(rows.keys), np.int32), np.empty(len(rows.keys), np.bool_)
        runs = count_runs(
            *rows,
            left_out,
            self.group,
            self.slots,
            self.seen_slots,
            self.cells,
            self.clicks,
            self.pages,
            self.starts,
            self.regular,
        )
        return self.starts[:runs], self.regular[:runs]

    def _remember(self, keys: Integers) -> bool:
        """Whether most impressions may be in one piece."""
        again = keys <= self.below
        self.doubtful.append(keys[again])
        keys = keys[~again]
        if not self.keys and (keys[1:] > keys[:-1]).all():
            self.below = max(self.below, int(keys[-1])) if len(keys) else self.below
        else:
            self.keys.append(keys)
            self.doubtful.append(_twice(keys))
        return sum(map(len, self.doubtful)) <= MAX_IN_PIECES * int(self.pages[:, 0].sum())

    def in_pieces(self) -> Integers:
        """The keys of the impressions that are in more than one piece, or may be, in order."""
        twice = _twice(np.concatenate(self.keys)) if self.keys else np.zeros(0, np.int64)
        return np.unique(np.concatenate([twice, *self.doubtful]))

    def counted(self) -> Streamed:
        pages = {
            name: PageCounts(impressions=every, clicked=clicked, counted=every, no_click=every - clicked)
            for name, (every, clicked, _) in zip(self.placements, self.pages.tolist(), strict=True)
        }
        return Streamed(
            rows=self.rows,
            group=self.group,
            placements=self.placements,
            clicks=self.clicks,
            held=self.cells[:, 1 + self.slots :],
            passes=self.cells[:, 1 : 1 + self.slots],
            pages=pages,
            gaps=int(self.pages[:, 2].sum()),
            odd=np.unique(np.concatenate(self.odd)),
            sample=self.sample,
            cache=self.cache,
        )


def _twice(keys: Integers) -> Integers:
    """The numbers that occur more than once, in order."""
    ordered = np.sort(keys)
    return np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
