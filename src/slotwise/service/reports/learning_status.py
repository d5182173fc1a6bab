"""The learning status of a placement, in one sentence; `state` has the rules, in order."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from statistics import NormalDist
from typing import Final, NamedTuple

from slotwise.service.reports.drift_view import ItemDrift, quoted
from slotwise.service.schemas.overview_schemas import StateDocument, StateKind
from slotwise.service.schemas.report_schemas import ItemEstimateDocument
from slotwise.service.schemas.timestamps import rfc3339
from slotwise.service.storage.count_rows import Counters
from slotwise.service.storage.decision_types import DAY, HOUR

#: minimum probability of every item of the best list to belong to it, for the state *settled*
SETTLED: Final = 0.9
#: two items are close if, with 95 % probability, the better one is better by at most this fraction
CLOSE: Final = 0.2
#: a placement without a decision for this long is quiet
QUIET_SECONDS: Final = DAY
_PUT_BACK: Final = "A guardrail was broken: see the list of changes. The mode live shows learned lists again."
#: larger numbers of further views are not predicted
MAX_VIEWS: Final = 1_000_000
#: standard deviations to either side that hold 95 % of a normal distribution
_WITHIN: Final = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True)
class Facts:
    """The inputs of `state`."""

    now: float
    slots: int
    window_seconds: float
    mode: str
    decisions: Counters
    items: Sequence[ItemEstimateDocument]
    best_list: Sequence[str]
    #: the value of a click by item; 1 for items that are missing
    values: Mapping[str, float]
    #: starts of hours and the best list at their ends, in order of time
    ends: Sequence[tuple[int, Sequence[str]]]
    #: the beginning of the last hour in which a decision was issued
    last_hour: int | None
    drift: ItemDrift | None
    #: whether counts lose weight with age
    decays: bool = False
    exploring: bool = True
    #: names of items for people, by id
    names: Mapping[str, str] = field(default_factory=dict)
    #: the sentence of a broken guardrail
    broken: str | None = None


def state(facts: Facts) -> StateDocument:
    """The first state of these that applies:

    1. *nothing yet*: no decision that was seen is final.
    2. *guardrail*: one is broken, or everybody sees the control order because one was.
    3. *one item*: there is nothing to choose between.
    4. *quiet*: no decision was requested in the last 24 hours.
    5. *changed*: visitors click on an item more or less than before (`slotwise.service.reports.drift_view`).
    6. *settled*: every item of the best list belongs there with a probability of at least 90 %. If all items are
       always shown, this is about their order.
    7. *close*: the least certain item of the list and the best one outside of it are nearly equal: with a probability
       of 95 %, the better one is better by at most a fifth.
    8. *too early*: otherwise.
    """
    seen = facts.decisions.clicked + facts.decisions.no_click
    if not seen:
        return _with_mode(facts, _nothing_yet(facts))
    if facts.mode == "held":
        return _state("guardrail", "Held: everybody sees the control order.", more=_PUT_BACK)
    if facts.broken is not None:
        return _state("guardrail", facts.broken)
    if len(facts.items) == 1:
        return _state("one_item", "There is one item, so there is nothing to choose between.")
    if facts.last_hour is not None and facts.now - facts.last_hour - HOUR >= QUIET_SECONDS:
        when = facts.last_hour + HOUR
        return _state("quiet", f"Quiet: no decision has been requested since {_day(when, facts.now)}.", since=when)
    learned = _learned(facts, seen)
    if facts.drift is not None:
        when = facts.drift.since
        sentence = f"Something changed on {_day(when, facts.now)}: {facts.drift.in_words(facts.names)}."
        more = learned["sentence"]
        if not facts.decays:
            more += " Earlier counts still have full weight: with a half-life, under Settings, they lose weight."
        return _state("changed", sentence, more=more, since=when)
    return _with_mode(facts, learned)


def _nothing_yet(facts: Facts) -> StateDocument:
    waiting = facts.decisions.pending
    if waiting:
        pending = f"{waiting:,} decisions are pending" if waiting > 1 else "one decision is pending"
        return _state(
            "nothing_yet",
            f"Nothing is counted yet: {pending} until the window of {_duration(facts.window_seconds)} ends.",
        )
    if facts.decisions.final:
        return _state("nothing_yet", "Nothing is counted yet: none of the lists so far was seen.")
    return _state("nothing_yet", "Waiting for the first decision: connect your page.")


def _learned(facts: Facts, seen: int) -> StateDocument:
    pair = _least_certain(facts)
    if pair.probability >= SETTLED:
        since = _best_since(facts)
        if since is None or facts.now - since < HOUR:
            return _state("settled", "Settled: these are the best items.", since=since)
        return _state("settled", f"Settled: this list has been best for {_duration(facts.now - since)}.", since=since)
    inside, outside = quoted(pair.inside, facts.names), quoted(pair.outside, facts.names)
    if abs(pair.lead) + NormalDist().inv_cdf(0.95) * pair.error < math.log1p(CLOSE):
        return _state(
            "close",
            f"Close: {inside} and {outside} are nearly equal, so it matters little which of them is shown.",
        )
    needed = views_needed(pair, seen)
    if needed is None:
        return _state("too_early", f"Too early: the difference between {inside} and {outside} is not clear yet.")
    more = f"{inside} looks better than {outside}, but this may be chance."
    return _state("too_early", f"Too early: about {needed:,} more views.", more=more, views=needed)


def _with_mode(facts: Facts, document: StateDocument) -> StateDocument:
    if facts.mode == "shadow":
        return {**document, "more": "Shadow mode: visitors see the control order, and not the list here."}
    if not facts.exploring:
        return {**document, "more": "Exploring is off: everybody sees the best list."}
    return document


class ItemPair(NamedTuple):
    """Two items; the first is preferred."""

    inside: str
    outside: str
    #: the probability that the preference is right
    probability: float
    #: the difference of their log values, and its standard error
    lead: float
    error: float


def _least_certain(facts: Facts) -> ItemPair:
    """The least certain choice of the best list: an item against one outside of it, or the order of two neighbours."""
    by_id = {item["id"]: item for item in facts.items}
    listed = [by_id[id] for id in facts.best_list]
    chosen = set(facts.best_list)
    others = [item for item in facts.items if item["id"] not in chosen]
    if others:
        inside = min(listed, key=_chance)
        lead, error = _lead(facts, inside, max(others, key=_chance))
        return ItemPair(inside["id"], max(others, key=_chance)["id"], _chance(inside), lead, error)
    pairs = []
    for upper, lower in itertools.pairwise(listed):
        lead, error = _lead(facts, upper, lower)
        # slots need not be in the order of their visibility
        lead = abs(lead)
        pairs.append(ItemPair(upper["id"], lower["id"], NormalDist().cdf(lead / error), lead, error))
    return min(pairs, key=lambda pair: pair.probability)


def _chance(item: ItemEstimateDocument) -> float:
    return item["probability_in_best_list"]


def _lead(facts: Facts, first: ItemEstimateDocument, second: ItemEstimateDocument) -> tuple[float, float]:
    def log_value(item: ItemEstimateDocument) -> float:
        return math.log(max(1e-300, item["attractiveness"] * facts.values.get(item["id"], 1.0)))

    def error(item: ItemEstimateDocument) -> float:
        return math.log(max(1.0 + 1e-9, item["high"] / max(1e-300, item["low"]))) / (2 * _WITHIN)

    return log_value(first) - log_value(second), math.hypot(error(first), error(second))


def views_needed(pair: ItemPair, seen: int) -> int | None:
    """The estimated number of further views until the preference is right with a probability of 90 %.

    The standard error falls with the square root of the views, if lists are shown as before, and the difference is
    taken as estimated. None if it is more than a million views, or the preferred item does not lead.

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
    """The end of the first hour since which the best list has had the same items at the end of every hour."""
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


def _day(time: float, now: float) -> str:
    """The day of the week within the last six days, such as Tuesday; otherwise the date, such as 14 November.

    >>> _day(1_800_000_000, 1_800_000_000 + 2 * DAY), _day(1_800_000_000, 1_800_000_000 + 9 * DAY)
    ('Friday', '15 January')
    """
    date = datetime.fromtimestamp(time, UTC)
    days = (datetime.fromtimestamp(now, UTC).date() - date.date()).days
    return f"{date:%A}" if days <= 6 else f"{date.day} {date:%B}"


def _duration(seconds: float) -> str:
    """A duration in the largest unit that it holds at least twice, or in seconds.

    >>> _duration(1800), _duration(5 * HOUR), _duration(3.4 * DAY), _duration(60), _duration(0.5)
    ('30 minutes', '5 hours', '3 days', '60 seconds', '0.5 seconds')
    """
    for size, unit in ((DAY, "days"), (HOUR, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{int(seconds // size):,} {unit}"
    return f"{seconds:.3g} seconds" if seconds != 1 else "1 second"
