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


def is_clearly_more(rate: Rate, observed: float, impressions: int) -> bool:
    """Whether the interval of an expected rate is above that of the observed one."""
    return rate.low > wilson(observed, impressions, LEVEL)[1]


def against_observed(rate: Rate, observed: float, impressions: int) -> str:
    """Return an expected rate compared with the observed one: clearly more, clearly less, or neither.

    >>> print(against_observed(Rate(0.5, 0.4, 0.6), 0.3, 2_000))
    A click is expected in 50.0 % of impressions (95 % interval 40.0 % to 60.0 %), 200 more per 1,000 than the
    30.0 % now
    >>> against_observed(Rate(0.0005, 0.0004, 0.0006), 0.0001, 2_000_000).rpartition(", ")[2]
    '0.4 more per 1,000 than the 0.01 % now'
    """
    low, _ = wilson(observed, impressions, LEVEL)
    gain = 1000 * (rate.click_rate - observed)
    against = (
        f"{_rounded(gain)} more per 1,000 than"
        if is_clearly_more(rate, observed, impressions)
        else f"{_rounded(-gain)} fewer per 1,000 than"
        if rate.high < low
        else "possibly no more than"
        if rate.click_rate > observed
        else "possibly no less than"
    )
    return (
        f"A click is expected in {percent(rate.click_rate)} of impressions ({level()} interval {percent(rate.low)} to "
        f"{percent(rate.high)}), {against} the {percent(observed)} now"
    )


def _rounded(count: float) -> str:
    """Integer clicks, or two digits of less than one."""
    return f"{count:,.0f}" if count >= 1.0 else f"{count:.2g}"


def interval(low: float, high: float, digits: int = 3) -> str:
    """An interval, from low to high.

    >>> interval(0.25, math.inf)
    '0.25 to ∞'
    """
    return f"{number(low, digits)} to {number(high, digits)}"


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
