"""Does it pay: what the learned lists bring against the holdout, as a document."""

from __future__ import annotations

import math
from collections.abc import Mapping

from slotwise.service.store.contract import Arm, Counters
from slotwise.service.worker.comparison import LEAST_CLICKS, Interval, Stratum, Sums, compare
from slotwise.service.worker.documents import ArmDocument, IntervalDocument, RatioDocument, UpliftDocument


def uplift(arms: Mapping[Arm, Counters]) -> UpliftDocument | None:
    """The click rate of the learned arm against the holdout's; None until both arms have something final.

    >>> found = uplift({"learned": Counters(clicked=60, no_click=140), "holdout": Counters(clicked=20, no_click=80)})
    >>> found["learned"]["click_rate"], round(found["difference"], 3), round(found["low"], 3), round(found["high"], 3)
    (0.3, 0.1, -0.001, 0.201)
    >>> found["too_early"]
    """
    learned, holdout = (_clicks(arms.get(arm, Counters())) for arm in ("learned", "holdout"))
    if not (learned.views and holdout.views):
        return None
    found = compare([Stratum(learned, holdout)], least=LEAST_CLICKS, both_ways=True)
    difference, ratio = found.difference, found.ratio
    return {
        "learned": _arm(learned),
        "holdout": _arm(holdout),
        "difference": learned.mean - holdout.mean if difference is None else difference.estimate,
        "low": None if difference is None else difference.plain.low,
        "high": None if difference is None else difference.plain.high,
        "anytime": None if difference is None else _interval(difference.anytime),
        "ratio": None
        if ratio is None
        else RatioDocument(estimate=ratio.estimate, **_interval(ratio.plain), anytime=_interval(ratio.anytime)),
        "too_early": found.too_early,
    }


def _clicks(counters: Counters) -> Sums:
    return Sums.of_clicks(counters.clicked + counters.no_click, counters.clicked)


def _arm(sums: Sums) -> ArmDocument:
    return {"shown": sums.views, "clicks": sums.brought, "click_rate": sums.mean}


def _interval(interval: Interval) -> IntervalDocument:
    return {"low": interval.low, "high": None if interval.high == math.inf else interval.high}
