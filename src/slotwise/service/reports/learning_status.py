"""How it stands with a placement, in one sentence: the rules, in their order, are in `state`."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import NormalDist
from typing import Final, NamedTuple

from slotwise.service.reports.drift_view import ItemDrift
from slotwise.service.schemas.overview_schemas import StateDocument, StateKind
from slotwise.service.schemas.report_schemas import ItemEstimateDocument
from slotwise.service.schemas.timestamps import rfc3339
from slotwise.service.storage.count_rows import Counters
from slotwise.service.storage.decision_types import DAY, HOUR

#: how likely every item of the best list must be to belong to it, before the list is called settled
SETTLED: Final = 0.9
#: two items are close if, with 95 %, the better one is better by no more than this part
CLOSE: Final = 0.2
#: without a decision for so long, a placement is quiet
QUIET_SECONDS: Final = DAY
#: more views than that are not foretold
MAX_VIEWS: Final = 1_000_000
#: 95 % of a normal distribution are within so many standard deviations
_WITHIN: Final = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True)
class Facts:
    """What a state follows from."""

    now: float
    slots: int
    window_seconds: float
    mode: str
    decisions: Counters
    items: Sequence[ItemEstimateDocument]
    best_list: Sequence[str]
    #: what a click on an item is worth, 1 where nothing is said
    values: Mapping[str, float]
    #: the best list at the ends of hours that began then, in order of time
    ends: Sequence[tuple[int, Sequence[str]]]
    #: the beginning of the last hour in which a decision was issued
    last_hour: int | None
    drift: ItemDrift | None
    #: whether what was counted long ago weighs less
    fades: bool = False


def state(facts: Facts) -> StateDocument:
    """The first of these that is true:

    1. *nothing yet*: no decision is final that somebody saw.
    2. *one item*: there is nothing to choose between.
    3. *quiet*: no decision was asked for in the last 24 hours.
    4. *changed*: visitors click on something otherwise than before (`slotwise.service.reports.drift_view`).
    5. *settled*: every item of the best list belongs there with a probability of at least 90 %. Where all items are
       always shown, it is their order that is meant.
    6. *close*: the item that is least sure of its place, and the best one outside of the list, are nearly alike: with a
       probability of 95 %, the better of them is better by no more than a fifth.
    7. *too early*: otherwise.
    """
    seen = facts.decisions.clicked + facts.decisions.no_click
    if not seen:
        return _with_mode(facts, _nothing_yet(facts))
    if len(facts.items) == 1:
        return _state("one_item", "There is one item, so there is nothing to choose between.")
    if facts.last_hour is not None and facts.now - facts.last_hour - HOUR >= QUIET_SECONDS:
        when = facts.last_hour + HOUR
        return _state("quiet", f"Quiet: no list has been asked for since {_day(when, facts.now)}.", since=when)
    learned = _learned(facts, seen)
    if facts.drift is not None:
        when = facts.drift.since
        sentence = f"Something changed on {_day(when, facts.now)}: {facts.drift.in_words()}."
        more = learned["sentence"]
        if not facts.fades:
            more += " What was counted before weighs in full: Memory, under Settings, lets it fade."
        return _state("changed", sentence, more=more, since=when)
    return _with_mode(facts, learned)


def _nothing_yet(facts: Facts) -> StateDocument:
    waiting = facts.decisions.pending
    if waiting:
        they = f"{waiting:,} decisions wait" if waiting > 1 else "one decision waits"
        return _state(
            "nothing_yet",
            f"Nothing is counted yet: {they} for the window of {_duration(facts.window_seconds)} to end.",
        )
    if facts.decisions.final:
        return _state("nothing_yet", "Nothing is counted yet: of the lists so far, nobody saw one.")
    how = "A page asks for one with POST /v1/placements/NAME/decisions; “Try it”, above, sends that by hand."
    return _state("nothing_yet", "Nothing yet: no list has been asked for.", more=how)


def _learned(facts: Facts, seen: int) -> StateDocument:
    pair = _least_sure(facts)
    if pair.sure >= SETTLED:
        since = _best_since(facts)
        if since is None or facts.now - since < HOUR:
            return _state("settled", "Settled: this list is the best one.", since=since)
        return _state("settled", f"Settled: this list has been best for {_duration(facts.now - since)}.", since=since)
    inside, outside = _short(pair.inside), _short(pair.outside)
    if abs(pair.lead) + NormalDist().inv_cdf(0.95) * pair.error < math.log1p(CLOSE):
        return _state(
            "close",
            f"Close: {inside} and {outside} are nearly alike, so it matters little which of them is shown.",
        )
    needed = views_needed(pair, seen)
    if needed is None:
        return _state("too_early", f"Too early: {inside} and {outside} cannot be told apart yet.")
    more = f"{inside} looks better than {outside}, and that may still be chance."
    return _state("too_early", f"Too early: about {needed:,} more views.", more=more, views=needed)


def _with_mode(facts: Facts, found: StateDocument) -> StateDocument:
    more = {
        "shadow": "It is in the shadow: visitors see the items as listed, and this is what would be shown.",
        "frozen": "It is frozen: everybody sees the best list, and nothing is tried out.",
    }.get(facts.mode)
    return {**found, "more": more or found["more"]}


class ItemPair(NamedTuple):
    """Two items, of which one is preferred."""

    inside: str
    outside: str
    #: how likely it is that this is right
    sure: float
    #: of the logarithm of what they are worth: the difference, and its standard error
    lead: float
    error: float


def _least_sure(facts: Facts) -> ItemPair:
    """What is least sure of the best list: who belongs to it, or the order where everybody does."""
    found = {item["id"]: item for item in facts.items}
    listed = [found[id] for id in facts.best_list]
    chosen = set(facts.best_list)
    others = [item for item in facts.items if item["id"] not in chosen]
    if others:
        inside = min(listed, key=_chance)
        lead, error = _lead(facts, inside, max(others, key=_chance))
        return ItemPair(inside["id"], max(others, key=_chance)["id"], _chance(inside), lead, error)
    pairs = []
    for one, next in itertools.pairwise(listed):
        lead, error = _lead(facts, one, next)
        # slots need not be in the order of their visibility
        lead = abs(lead)
        pairs.append(ItemPair(one["id"], next["id"], NormalDist().cdf(lead / error), lead, error))
    return min(pairs, key=lambda pair: pair.sure)


def _chance(item: ItemEstimateDocument) -> float:
    return item["probability_in_best_list"]


def _lead(facts: Facts, one: ItemEstimateDocument, other: ItemEstimateDocument) -> tuple[float, float]:
    def worth(item: ItemEstimateDocument) -> float:
        return math.log(max(1e-300, item["attractiveness"] * facts.values.get(item["id"], 1.0)))

    def error(item: ItemEstimateDocument) -> float:
        return math.log(max(1.0 + 1e-9, item["high"] / max(1e-300, item["low"]))) / (2 * _WITHIN)

    return worth(one) - worth(other), math.hypot(error(one), error(other))


def views_needed(pair: ItemPair, seen: int) -> int | None:
    """About how many more views it takes until the preferred item is it with a probability of 90 %.

    The standard error goes down with the root of the views, if they are spent as those so far; the difference is taken
    to be what it looks like. None where that is more than a million, or nobody leads.

    >>> views_needed(ItemPair("a", "b", 0.7, lead=0.1, error=0.2), seen=1000)
    5600
    """
    if pair.lead <= 0.0:
        return None
    times = (NormalDist().inv_cdf(SETTLED) * pair.error / pair.lead) ** 2
    more = seen * (times - 1.0)
    if more > MAX_VIEWS:
        return None
    more = max(10.0, more)
    digits = 1 - math.floor(math.log10(more))
    return round(round(more, digits))


def _best_since(facts: Facts) -> float | None:
    """The end of the first hour of those, up to now, at whose ends the best list had the same items."""
    in_order = len(facts.items) == len(facts.best_list)
    now = list(facts.best_list) if in_order else sorted(facts.best_list)
    since = None
    for start, best in reversed(facts.ends):
        if (list(best) if in_order else sorted(best)) != now:
            break
        since = float(start + HOUR)
    return since


def _state(
    kind: StateKind,
    sentence: str,
    *,
    more: str | None = None,
    since: float | None = None,
    views: int | None = None,
) -> StateDocument:
    return {
        "kind": kind,
        "sentence": sentence,
        "more": more,
        "since": None if since is None else rfc3339(since),
        "views_needed": views,
    }


def _short(name: str) -> str:
    return f"“{name if len(name) <= 40 else name[:39] + '…'}”"


def _day(time: float, now: float) -> str:
    """Tuesday, where that is of the last six days; else 14 November.

    >>> _day(1_800_000_000, 1_800_000_000 + 2 * DAY), _day(1_800_000_000, 1_800_000_000 + 9 * DAY)
    ('Friday', '15 January')
    """
    date = datetime.fromtimestamp(time, UTC)
    days = (datetime.fromtimestamp(now, UTC).date() - date.date()).days
    return f"{date:%A}" if days <= 6 else f"{date.day} {date:%B}"


def _duration(seconds: float) -> str:
    """In the largest unit of which there are two, or the smallest.

    >>> _duration(1800), _duration(5 * HOUR), _duration(3.4 * DAY), _duration(60), _duration(0.5)
    ('30 minutes', '5 hours', '3 days', '60 seconds', '0.5 seconds')
    """
    for size, unit in ((DAY, "days"), (HOUR, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{int(seconds // size):,} {unit}"
    return f"{seconds:.3g} seconds" if seconds != 1 else "1 second"
