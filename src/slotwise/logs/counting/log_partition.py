"""The part of a log's likelihood that no tally holds: log(1 + S), added up over all impressions where the log is."""

from __future__ import annotations

from collections.abc import Mapping

import ibis
import ibis.expr.types as ir
import numpy as np
import pyarrow as pa

from slotwise.core.types import FloatArray
from slotwise.logs.counting.cleaning import CleanLog
from slotwise.logs.counting.log_tallies import LogTally
from slotwise.logs.counting.streaming import Streamed

#: by placement: α of each item and λ of each slot
Factors = Mapping[str | None, tuple[FloatArray, FloatArray]]


def log_normalisers(log: CleanLog, counted: Mapping[str | None, LogTally], factors: Factors) -> dict[str | None, float]:
    """Σ log(1 + S) of each placement, where S is the sum of λα over what an impression shows."""
    sums = dict.fromkeys(counted, 0.0)
    streamed = None if log.streamed is None else _streamed(log.streamed, counted, factors)
    rows = log.others if log.streamed is None or streamed is not None else log.rows
    parts = [] if streamed is None else [streamed]
    if rows is not None:
        parts.append(_grouped(log, rows, counted, factors))
    for part in parts:
        for name, total in part.items():
            if name in sums:
                sums[name] += total
    return sums


def _streamed(
    streamed: Streamed, counted: Mapping[str | None, LogTally], factors: Factors
) -> dict[str | None, float] | None:
    places = streamed.item_places({name: tally.item_ids for name, tally in counted.items()})
    worth, bias = np.zeros(len(places)), np.zeros((len(streamed.placements), streamed.clicks.shape[1]))
    for group, (name, pairs) in enumerate(streamed.pairs_of()):
        if name in factors:
            mine = pairs[places[pairs] >= 0]
            worth[mine] = factors[name][0][places[mine]]
            bias[group, : counted[name].slots] = factors[name][1]
    return streamed.log_sums(worth, bias)


def _grouped(
    log: CleanLog, rows: ir.Table, counted: Mapping[str | None, LogTally], factors: Factors
) -> dict[str | None, float]:
    items = {
        "placement": pa.array([name or "" for name in counted for _ in counted[name].item_ids]),
        "item": pa.array([item for name in counted for item in counted[name].item_ids]),
        "worth": pa.array(np.concatenate([factors[name][0] for name in counted])),
    }
    slots = {
        "placement": pa.array([name or "" for name in counted for _ in range(counted[name].slots)]),
        "slot": pa.array(np.concatenate([np.arange(1, counted[name].slots + 1) for name in counted])),
        "bias": pa.array(np.concatenate([factors[name][1] for name in counted])),
    }
    by = [key for key in log.keys if key == "placement"]
    if not by:
        del items["placement"], slots["placement"]
    weighed = rows.join(ibis.memtable(pa.table(items)), [*by, "item"]).join(
        ibis.memtable(pa.table(slots)), [*by, "slot"]
    )
    stands_for = {"weight": weighed.weight.max()} if "weight" in rows.columns else {}
    pages = weighed.group_by(log.keys).aggregate(all=(weighed.worth * weighed.bias).sum(), **stands_for)
    grouped = pages.group_by(by) if by else pages
    each = (1.0 + pages["all"]).ln()
    total = (each * pages.weight if stands_for else each).sum()
    return {
        row.get("placement"): row["total"] or 0.0 for row in grouped.aggregate(total=total).to_pyarrow().to_pylist()
    }
