"""Did tastes change while the log was written: when, of which items, and how fast is what was seen out of date?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import chdtrc, gammaincinv

from slotwise.belief.half_life import Seen, best_half_life
from slotwise.logs.counting.merging import places_in
from slotwise.logs.counting.strata import Periods
from slotwise.logs.counting.tallies import LogTally
from slotwise.logs.fitting.wording import number
from slotwise.typing import FloatArray, IntArray

#: half-lives that are tried, as parts of the time that the log covers; none is shorter than a period
PARTS = (2.0, 1.0, 0.5, 0.25, 0.125, 0.0625)
#: nats by which one of them has to lead forgetting nothing: with the 2 of a service, which asks again every hour, 5 in
#: 100 logs without any change would be said to have changed
LEAD = 5.0
#: an item of fewer clicks is not tested, nor a stretch of time with fewer expected ones; of more, the most clicked are
FEWEST_CLICKS, FEWEST_EXPECTED, MOST_TESTED = 40, 20.0, 2_000
#: the chance that any item of a placement is said to have changed though none did, and how large a change is worth it
CHANCE, WORTH_SAYING = 0.01, 1.2
NAMED = 3
LEVEL = 0.95


class Moved(NamedTuple):
    """An item whose attractiveness changed: from when on, what it was before and after, and how unlikely by chance."""

    item: str
    period: int
    before: float
    after: float
    p_value: float


@dataclass(frozen=True, eq=False)
class Changes:
    """A placement over time."""

    periods: Periods
    #: in periods, of all placements together; None if old counts foretell as well as recent ones
    half_life: float | None
    item_ids: tuple[str, ...]
    #: per period: impressions found, and those with a click
    impressions: IntArray
    clicked: IntArray
    #: periods × items: clicks, and exposure Σ_k λ_kÑ_k
    clicks: FloatArray
    exposure: FloatArray
    #: the clearest first
    moved: tuple[Moved, ...]

    def in_words(self) -> str:
        """Whether tastes changed, when, and of which items."""
        ask = "Did tastes change?"
        if self.periods.count < 2:
            return f"{ask} All impressions are of one time, so this cannot be said."
        told = [
            f"{one.item} from {number(one.before)} to {number(one.after)}, about {self.periods.name(one.period)}"
            for one in self.moved[:NAMED]
        ]
        more = f"; and {len(self.moved) - NAMED} more" if len(self.moved) > NAMED else ""
        items = f"Most clearly {'; '.join(told)}{more}." if told else "No single item changed beyond chance."
        if self.half_life is None:
            alike = "clicks of long ago foretell later ones as well as recent ones do, so all count alike"
            return f"{ask} {'Some did. ' + items if told else 'Nothing says so.'} All in all, {alike}."
        fading = self.periods.length_in_words(self.half_life)
        return (
            f"{ask} Yes: clicks are foretold best if what is {fading} older counts half as much. The estimates are of "
            f"the end of the log. {items}"
        )

    def rate(self, item: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The attractiveness of an item in every period, and its interval; NaN where it was never passed."""
        clicks, exposure = self.clicks[:, item], self.exposure[:, item]
        with np.errstate(divide="ignore", invalid="ignore"):
            found = clicks / exposure
            low, high = (gammaincinv(clicks + 0.5, part) / exposure for part in ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
        return tuple(np.where(exposure > 0.0, one, np.nan) for one in (found, low, high))  # type: ignore[return-value]

    def to_json(self) -> dict[str, Any]:
        """Plain numbers; times are seconds since 1970, or as the column has them."""
        return {
            "half_life": None if self.half_life is None else self.half_life * self.periods.width,
            "unit": "seconds" if self.periods.is_time else "as in the column",
            "periods": [
                {"from": self.periods.at(period), "impressions": int(every), "clicked": int(hit)}
                for period, (every, hit) in enumerate(zip(self.impressions, self.clicked, strict=True))
            ],
            "changed": [
                {
                    "item": one.item,
                    "from": self.periods.at(one.period),
                    "before": one.before,
                    "after": one.after,
                    "p_value": one.p_value,
                }
                for one in self.moved
            ],
        }


def find_changes(
    parts: Sequence[Sequence[tuple[int, LogTally]]],
    item_ids: Sequence[Sequence[str]],
    position_bias: Sequence[FloatArray],
    periods: Periods,
) -> list[Changes]:
    """Of each placement, given its tallies with their periods, its items and what its slots are worth."""
    counted = [_counted(*one, periods.count) for one in zip(parts, item_ids, position_bias, strict=True)]
    clicks, exposure = (np.concatenate([one[kind] for one in counted], axis=1) for kind in (0, 1))
    seen = [
        Seen(float(period), clicks[period], exposure[period])
        for period in range(periods.count)
        if exposure[period].any() or clicks[period].any()
    ]
    half_life = best_half_life(seen, [max(1.0, part * periods.count) for part in PARTS], LEAD)
    made = []
    for one, ids, (clicks, exposure, passes) in zip(parts, item_ids, counted, strict=True):
        impressions, clicked = np.zeros((2, periods.count), np.int64)
        for period, tally in one:
            impressions[period] += tally.impressions
            clicked[period] += tally.clicked
        moved = _moved(ids, clicks, exposure, passes)
        made.append(Changes(periods, half_life, tuple(ids), impressions, clicked, clicks, exposure, moved))
    return made


def weight_of(period: int, periods: Periods | None, half_life: float | None) -> float:
    """What a count of a period is worth at the end of the log."""
    return 1.0 if half_life is None or periods is None else 0.5 ** ((periods.count - 1 - period) / half_life)


def _counted(
    parts: Sequence[tuple[int, LogTally]], ids: Sequence[str], bias: FloatArray, periods: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Periods × items: clicks, exposure and passes."""
    made = np.zeros((3, periods, len(ids)))
    places = places_in(ids, [tally for _, tally in parts])
    for (period, tally), place in zip(parts, places, strict=True):
        made[0, period, place] += tally.clicks.sum(axis=0)
        made[1, period, place] += bias[: tally.slots] @ tally.passes
        made[2, period, place] += tally.passes.sum(axis=0)
    return made[0], made[1], made[2]


def _moved(ids: Sequence[str], clicks: FloatArray, exposure: FloatArray, passes: FloatArray) -> tuple[Moved, ...]:
    """Items whose clicks per exposure differ over time, by more than chance allows and enough to be worth saying."""
    total = clicks.sum(axis=0)
    often = np.flatnonzero((total >= FEWEST_CLICKS) & (exposure.sum(axis=0) > 0.0))
    tested = often[np.argsort(-total[often], kind="stable")[:MOST_TESTED]]
    found = []
    for item in tested.tolist():
        one = _tested(clicks[:, item], exposure[:, item], passes[:, item])
        if one is not None:
            found.append((one[0], item, one[1]))
    # Holm's: the smallest has to hold against all, the next against one fewer
    kept = []
    for rank, (p_value, item, stretches) in enumerate(sorted(found)):
        if p_value * (len(found) - rank) > CHANCE:
            break
        period, before, after = _split(clicks[:, item], exposure[:, item], stretches)
        if not 1.0 / WORTH_SAYING < after / before < WORTH_SAYING:
            kept.append(Moved(ids[item], period, before, after, p_value))
    return tuple(kept)


def _tested(clicks: FloatArray, exposure: FloatArray, passes: FloatArray) -> tuple[float, list[int]] | None:
    """The p-value of clicks in proportion to exposure, and where the stretches begin that it was tested on.

    Of n clicks and m passes together, each is a click with a chance of γ/(1 + γ): given n + m, the difference n - γm
    has the variance γ(n + m), and γm is α times the exposure.
    """
    alpha, worth = clicks.sum() / exposure.sum(), exposure.sum() / passes.sum()
    gamma = alpha * np.divide(exposure, passes, out=np.full_like(exposure, worth), where=passes > 0.0)
    variance = gamma * (clicks + passes)
    starts, room = [0], 0.0
    for period, more in enumerate(variance.tolist()):
        if room >= FEWEST_EXPECTED and variance[period:].sum() >= FEWEST_EXPECTED:
            starts.append(period)
            room = 0.0
        room += more
    if len(starts) < 2:
        return None
    off, spread = (np.add.reduceat(one, starts) for one in (clicks - alpha * exposure, variance))
    return float(chdtrc(len(starts) - 1, float((off**2 / spread).sum()))), starts


def _split(clicks: FloatArray, exposure: FloatArray, starts: Sequence[int]) -> tuple[int, float, float]:
    """The period from which on an item is most clearly another one, and its clicks per exposure before and after."""

    def gain(start: int) -> float:
        parts = (clicks[:start].sum(), exposure[:start].sum()), (clicks[start:].sum(), exposure[start:].sum())
        return float(sum(n * math.log(n / e) for n, e in parts if n > 0.0))

    at = max(starts[1:], key=gain)
    # half a click more, so that neither is 0
    before, after = ((clicks[part].sum() + 0.5) / exposure[part].sum() for part in (slice(0, at), slice(at, None)))
    return at, float(before), float(after)
