"""Times as RFC 3339 text."""

from __future__ import annotations

from datetime import UTC, datetime

from slotwise.core import validation
from slotwise.core.errors import InvalidInput

#: the beginning of the last day that a text can hold, in seconds since 1970
LAST_DAY = datetime(9999, 12, 31, tzinfo=UTC).timestamp()


def rfc3339(seconds: float) -> str:
    """A time in UTC, to the millisecond.

    >>> rfc3339(1_800_000_000.5)
    '2027-01-15T08:00:00.500Z'
    """
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def seconds_of(name: str, text: str) -> float:
    """A date or a time as seconds since 1970; UTC if no time zone is given.

    Earlier times count as 1970-01-01, and later times than `LAST_DAY` as that day.

    >>> seconds_of("since", "1970-01-02"), seconds_of("since", "1970-01-02T01:00+01:00")
    (86400.0, 86400.0)
    """
    try:
        time = datetime.fromisoformat(text)
        seconds = (time.replace(tzinfo=UTC) if time.tzinfo is None else time).timestamp()
    except (ValueError, OverflowError):
        raise InvalidInput(
            f"{name} must be a date or a time, like 2026-11-01 or 2026-11-01T12:00Z, got {validation.short(text)}"
        ) from None
    return min(max(0.0, seconds), LAST_DAY)
