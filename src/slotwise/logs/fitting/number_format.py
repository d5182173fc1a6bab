"""Numbers as one would write them in a sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence

from slotwise.logs.fitting.click_rate import LEVEL, Rate, wilson


def level() -> str:
    """The confidence level: 95 %."""
    return f"{100 * LEVEL:.0f} %"


def percent(rate: float) -> str:
    """A rate with as many digits as one reads."""
    if not math.isfinite(rate):
        return "unknown"
    return f"{100 * rate:.1f} %" if rate >= 0.01 else f"{100 * rate:.2g} %"


def with_interval(rate: Rate) -> str:
    """A rate and its interval."""
    middle = "unknown" if math.isnan(rate.click_rate) else percent(rate.click_rate)
    return f"{middle} ({percent(rate.low)} to {percent(rate.high)})"


def against_observed(rate: Rate, observed: float, impressions: int) -> str:
    """Return an expected rate compared with the observed one: clearly more, clearly less, or neither.

    >>> against_observed(Rate(0.5, 0.4, 0.6), 0.3, 2_000)
    'A click in 50.0 % (40.0 % to 60.0 %) of impressions, more than the 30.0 % observed: 200 more in 1,000 impressions'
    >>> against_observed(Rate(0.0005, 0.0004, 0.0006), 0.0001, 2_000_000).rpartition(": ")[2]
    '0.4 more in 1,000 impressions'
    """
    low, high = wilson(observed, impressions, LEVEL)
    gain = 1000 * (rate.click_rate - observed)
    against = (
        f"more than the {percent(observed)} observed: {_rounded(gain)} more in 1,000 impressions"
        if rate.low > high
        else f"less than the {percent(observed)} observed: {_rounded(-gain)} fewer in 1,000 impressions"
        if rate.high < low
        else f"possibly no more than the {percent(observed)} observed"
        if rate.click_rate > observed
        else f"possibly no less than the {percent(observed)} observed"
    )
    return f"A click in {with_interval(rate)} of impressions, {against}"


def _rounded(count: float) -> str:
    """Integer clicks, or two digits of less than one."""
    return f"{count:,.0f}" if count >= 1.0 else f"{count:.2g}"


def interval(low: float, high: float) -> str:
    """An interval, from low to high.

    >>> interval(0.25, math.inf)
    '0.25 to ∞'
    """
    return f"{number(low)} to {number(high)}"


def number(value: float, digits: int = 3) -> str:
    """Return a number with this many significant digits."""
    if math.isnan(value):
        return "unknown"
    if math.isinf(value):
        return "∞"
    return f"{value:.{digits}g}" if value else "0"


def count_of(number: int, what: str) -> str:
    """How many there are.

    >>> count_of(1, "slot"), count_of(6_000, "impression")
    ('1 slot', '6,000 impressions')
    """
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def and_more(names: Sequence[str], count: int) -> str:
    """The names of the first few of `count`, and how many more there are.

    >>> and_more(["tea", "coffee"], 2), and_more(["tea", "coffee"], 39)
    ('tea and coffee', 'tea, coffee and 37 more')
    """
    if count > len(names):
        return f"{', '.join(names)} and {count - len(names):,} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
