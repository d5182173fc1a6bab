"""Whether the tally of a clean log is the same in any format, order of rows and number of threads."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from research.log_truths.rows import Progress, Row
from slotwise.logs import Columns, LogTally
from slotwise.logs.counting.cleaning import cleaned
from slotwise.logs.counting.log_tallies import tally_by_placement
from slotwise.logs.reading.engines import read

#: impressions of five slots; and how often each file is counted
IMPRESSIONS, SHORT_IMPRESSIONS, TURNS = 200_000, 20_000, 3
SLOTS, ITEMS, THREADS = 5, 40, (1, 2, 3, 4)
SEED = 28_002


def rows(*, quick: bool, progress: Progress) -> list[Row]:
    """Return how many of the tallies have the counts of the log, for each format and order."""
    impressions = SHORT_IMPRESSIONS if quick else IMPRESSIONS
    rng = np.random.default_rng(SEED)
    lists = np.argsort(rng.random((impressions, ITEMS)), axis=1)[:, :SLOTS]
    clicked = rng.integers(-3, SLOTS, impressions)
    log = pa.table(
        {
            "impression": np.repeat(np.arange(impressions), SLOTS),
            "slot": np.tile(np.arange(1, SLOTS + 1), impressions),
            "item": np.char.add("i", lists.ravel().astype(str)),
            "clicked": (clicked[:, None] == np.arange(SLOTS)).ravel(),
        }
    )
    shuffled = log.take(pa.array(rng.permutation(len(log))))
    found = []
    with TemporaryDirectory() as folder:
        for order, table in (("in order", log), ("shuffled", shuffled)):
            for ending in ("csv", "csv.gz", "parquet"):
                path = Path(folder) / f"log.{ending}"
                if ending == "parquet":
                    pq.write_table(table, path)
                else:
                    with pa.output_stream(path, compression="gzip" if ending == "csv.gz" else None) as file:
                        pyarrow.csv.write_csv(table, file)
                right = []
                for number, threads in enumerate(THREADS * TURNS):
                    progress(f"tally: {ending}, rows {order}", number / len(THREADS * TURNS))
                    right.append(_is_right(_counted(path, threads), lists, clicked))
                name = f"tally of {impressions:,} impressions, {ending}, rows {order}, 1 to {max(THREADS)} threads"
                found.append(Row(name, f"{sum(right)} of {len(right)}", "all", ""))
    return found


def _counted(path: Path, threads: int) -> LogTally:
    with read(path) as log:
        connection: Any = log.get_backend()
        connection.con.execute(f"SET threads = {threads}")
        with cleaned(log, Columns()) as clean:
            (tally,) = tally_by_placement(clean).values()
    return tally


def _is_right(tally: LogTally, lists: np.ndarray, clicked: np.ndarray) -> bool:
    """Whether impressions, clicks and passes are those that were written."""
    items = [int(id.removeprefix("i")) for id in tally.item_ids]
    pair = lists + ITEMS * np.arange(SLOTS)
    hit = clicked >= 0
    clicks = np.bincount(pair[hit, clicked[hit]], minlength=SLOTS * ITEMS).reshape(SLOTS, ITEMS)
    passes = np.bincount(pair[~hit].ravel(), minlength=SLOTS * ITEMS).reshape(SLOTS, ITEMS)
    return bool(
        (tally.impressions, tally.counted) == (len(lists), len(lists))
        and (tally.clicks == clicks[:, items]).all()
        and (tally.passes == passes[:, items]).all()
    )
