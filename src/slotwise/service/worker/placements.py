"""What a worker holds in memory: every placement's learner, and a tally no more than a second behind the store's."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat
from typing import Final, TypeVar

import numpy as np
from pydantic import ValidationError

from slotwise.errors import SlotwiseError, StoreUnavailable
from slotwise.ranker import Learner
from slotwise.service.store import Store
from slotwise.service.store.contract import Arm, Counters, PeriodRow, TallyRow, Version, hour_of
from slotwise.service.worker.definition import Definition, FollowingWindow, faults
from slotwise.service.worker.fading import Recent, weighed
from slotwise.service.worker.half_life import faded_counts, read_periods
from slotwise.service.worker.learning import by_segment, learner_of, matrices, numbered
from slotwise.service.worker.ledger import Conditions, Ledger
from slotwise.service.worker.segments import Segments
from slotwise.service.worker.values import values_of
from slotwise.service.worker.windows import WHOLE_SHARE, window_now
from slotwise.tally import Tally
from slotwise.typing import FloatArray, IntArray

Answer = TypeVar("Answer")
CountersByPlacement = Mapping[str, Mapping[Arm, Counters]]
#: how many lists are drawn at once: a call costs more than a draw where items are few
MOST_DRAWN, DRAWN_ITEMS = 16, 4_000
#: items of the placements that are brought up to date in one turn
MOST_TOGETHER: Final = 2_000
#: a learned value that changed by less, relatively, is left as it is
LEAST_CHANGE: Final = 0.001
#: a decision among more items than this takes more than a few milliseconds as long as nothing is compiled
MOST_PLAIN_ITEMS: Final = 200
#: between two looks at the store; together with the look itself well below the bound
REFRESH_SECONDS: Final = 0.4
#: when a placement that could not be read is tried again, though nothing of it has changed
RETRY_SECONDS: Final = 30.0

log = logging.getLogger("slotwise.service")


class UnknownPlacement(SlotwiseError, LookupError):
    """There is none of that name."""


class BrokenPlacement(SlotwiseError):
    """What the store has of it cannot be worked with; the others go on."""


@dataclass
class Placement:
    """One placement as this worker knows it; its learner, its revision and what was drawn ahead change."""

    name: str
    definition: Definition
    learner: Learner
    #: the learner's items in the order of its tally
    numbers: Mapping[str, int]
    version: int
    revision: int
    segments: Segments
    #: what the learner was told that no longer grows, by segment: counts under the names of older definitions
    settled: Mapping[int, Tally]
    #: the rows of which clicks said what they brought, by segment, slot and item; only whoever reads the store uses it
    brought: dict[tuple[str, int, str], TallyRow]
    #: how long decisions wait now, but for those that tell of delays
    window_seconds: float
    #: how its counts fade, and what was read of the periods to which something may be added; None where nothing fades
    recent: Recent | None = None
    #: lists that were drawn ahead, for decisions without wishes, by segment; thrown away when something is learned
    drawn: dict[int, list[tuple[str, ...]]] = field(default_factory=dict)
    #: what was decided by what the learner believes now
    ledger: Ledger = field(default_factory=Ledger)

    @cached_property
    def listed(self) -> frozenset[str]:
        """The items that may be shown."""
        return frozenset(item.id for item in self.definition.items)

    def choose(self, exclude: Collection[str], pin: Mapping[str, int], segment: str) -> tuple[str, ...]:
        """A list for a visitor, the first slot first."""
        number = self.segments.number(segment)
        if self.definition.mode == "frozen":
            return self.learner.choose_best(exclude, pin, number)
        if exclude or pin != self.definition.pin:
            return self.learner.choose(exclude, pin, number)
        drawn = self.drawn.get(number)
        if not drawn:
            many = max(1, min(MOST_DRAWN, DRAWN_ITEMS // len(self.numbers)))
            drawn = self.drawn[number] = self.learner.choose_several(many, number, pin=pin)
        return drawn.pop()

    def draw(self, count: int, conditions: Conditions) -> Counter[tuple[int, str]]:
        """How often each item is in each slot, counted from 0, of more lists that `choose` could have given."""
        exclude, pin = conditions.wishes
        return self.learner.count_several(count, self.segments.number(conditions.segment), exclude=exclude, pin=pin)

    def window(self) -> tuple[float, float | None]:
        """Seconds that a decision is to wait, and, where it is one of those that tell of delays, the longest it may."""
        wanted = self.definition.window_seconds
        if not isinstance(wanted, FollowingWindow):
            return wanted, None
        if self.window_seconds >= wanted.at_most or random.random() < WHOLE_SHARE:
            return wanted.at_most, wanted.at_most
        return self.window_seconds, None

    def more(self, rows: Iterable[TallyRow]) -> dict[int, tuple[IntArray, IntArray]] | None:
        """Clicks and passes that the learner has not seen, by segment; None where it has to start anew."""
        rows = list(rows)
        if not all(self.segments.is_current(row.segment) for row in rows):
            return None
        found = {}
        for segment, of in by_segment(self.segments, rows).items():
            clicks, passes = matrices(of, self.numbers, self.definition.slots)
            # rows that did not change after that revision are not among them
            touched = (clicks > 0) | (passes > 0)
            before = self.learner.tally_of(segment)
            if segment in self.settled:
                clicks, passes = clicks + self.settled[segment].clicks, passes + self.settled[segment].passes
            found[segment] = (
                np.where(touched, clicks - before.clicks, 0),
                np.where(touched, passes - before.passes, 0),
            )
        return found

    def more_weighed(
        self, recent: Recent, rows: Iterable[PeriodRow]
    ) -> dict[int, tuple[FloatArray, FloatArray]] | None:
        """The same where counts fade, of rows of periods that changed."""
        added = recent.added(rows)
        if added is None:
            return None
        return {
            segment: weighed(of, recent.fading, self.numbers, self.definition.slots)
            for segment, of in by_segment(self.segments, added).items()
        }

    def absorb(self, more: _More) -> None:
        """Take in what was counted up to a revision of the store's tally."""
        if self.recent is not None:
            self.recent.keep(more.periods)
        for segment, (clicks, passes) in more.counts.items():
            self.learner.absorb(clicks, passes, segment=segment)
        for item, value in more.values.items():
            self.learner.value(item, value)
        # which list is held is for the store to say; what is proposed to it takes in what is new
        self.learner.end_epoch()
        self.drawn.clear()
        self.ledger = Ledger()
        self.window_seconds = more.window_seconds
        self.revision = more.revision


@dataclass(frozen=True)
class _More:
    """More for a placement to absorb."""

    placement: Placement
    #: clicks and passes by segment
    counts: Mapping[int, tuple[IntArray, IntArray] | tuple[FloatArray, FloatArray]]
    #: what clicks on items are worth from now on, of those for which that changed
    values: Mapping[str, float]
    window_seconds: float
    revision: int
    #: the rows of periods that are among the counts, where these fade
    periods: Sequence[PeriodRow] = ()


@dataclass(frozen=True)
class _Broken:
    """A placement that cannot be read, and when that was found."""

    version: Version
    why: str
    found: float = field(default_factory=time.monotonic)


class Placements:
    """All placements; decisions read them, and one task at a time brings them up to date."""

    def __init__(
        self,
        store: Store,
        before_change: Callable[[Placement], Awaitable[None]] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._clock = clock
        #: waited for before what a placement believes moves
        self._before_change = before_change
        self._known: dict[str, Placement] = {}
        self._broken: dict[str, _Broken] = {}
        self._thread = ThreadPoolExecutor(1, "slotwise-reader")
        self._turn = asyncio.Lock()
        self._refreshed = time.monotonic()
        #: set whenever the store was looked at
        self.was_refreshed = asyncio.Event()
        #: as the store had them at the last look
        self.counters: CountersByPlacement = {}

    def get(self, name: str) -> Placement | None:
        """From memory."""
        return self._known.get(name)

    def hour(self) -> int:
        """The beginning of this hour, from which ages are counted."""
        return hour_of(self._clock())

    def names(self) -> list[str]:
        """In order."""
        return sorted(self._known)

    def all(self) -> list[Placement]:
        """In order of name."""
        return [self._known[name] for name in self.names()]

    def broken(self) -> dict[str, str]:
        """Those that cannot be read, in order of name, and why."""
        return {name: self._broken[name].why for name in sorted(self._broken)}

    def refuse_broken(self, name: str) -> None:
        """Say why it cannot be read, if so."""
        if name in self._broken:
            raise BrokenPlacement(f"the placement {name!r} cannot be read: {self._broken[name].why}")

    def staleness(self) -> float:
        """Seconds since the store was last looked at."""
        return time.monotonic() - self._refreshed

    async def read(self, work: Callable[[Store], Answer]) -> Answer:
        """Something from the store, in the thread that reads it."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, self._store)

    async def find(self, name: str) -> Placement | None:
        """From the store, for it may have been put a moment ago, here or through another worker."""
        async with self._turn:
            version = await self.read(lambda store: store.version(name))
            if version is None:
                self._forget(name)
            elif self._is_new(version):
                await self._follow([version])
        return self._known.get(name)

    async def refresh(self) -> None:
        """Look at the store once."""
        async with self._turn:
            began = time.monotonic()
            versions = await self.read(lambda store: store.versions())
            for gone in {*self._known, *self._broken} - {version.placement for version in versions}:
                self._forget(gone)
            for together in self._in_turns(version for version in versions if self._is_new(version)):
                await self._follow(together)
            self.counters = await self.read(lambda store: store.counters())
            self._refreshed = began
            self.was_refreshed.set()

    async def load(self) -> None:
        """Have the kernels of all that is known at hand; wait for them where a decision without them is slow."""

        def load(placements: Sequence[Placement]) -> None:
            for placement in placements:
                if len(placement.numbers) > MOST_PLAIN_ITEMS:
                    placement.learner.kernels.wait()
                placement.learner.kernels.load()

        await asyncio.to_thread(load, self.all())

    async def keep_fresh(self) -> None:
        """Look at the store for ever; when it does not answer, decisions go on with what is known."""
        answered = True
        while True:
            try:
                await self.refresh()
                if not answered:
                    log.info("store answers again")
                answered = True
            except SlotwiseError as problem:
                if answered:
                    log.error("store does not answer", extra={"problem": str(problem)})
                answered = False
            except Exception:
                log.exception("refresh failed")
            await asyncio.sleep(REFRESH_SECONDS)

    async def close(self) -> None:
        """Let go of the store."""
        await self.read(lambda store: store.close())
        self._thread.shutdown()

    def _forget(self, name: str) -> None:
        self._known.pop(name, None)
        self._broken.pop(name, None)

    def _is_new(self, version: Version) -> bool:
        broken = self._broken.get(version.placement)
        if broken is not None:
            return broken.version != version or time.monotonic() - broken.found > RETRY_SECONDS
        known = self._known.get(version.placement)
        if known is None or (known.version, known.revision) != (version.version, version.revision):
            return True
        return known.recent is not None and known.recent.fading.hour != self.hour()

    def _in_turns(self, versions: Iterable[Version]) -> Iterator[list[Version]]:
        """Many small placements at once, as every turn is a wait; large ones by themselves, as they take room."""
        together: list[Version] = []
        items = 0
        for version in versions:
            known = self._known.get(version.placement)
            size = MOST_TOGETHER if known is None else len(known.numbers)
            if together and items + size > MOST_TOGETHER:
                yield together
                together, items = [], 0
            together.append(version)
            items += size
        if together:
            yield together

    async def _follow(self, versions: Sequence[Version]) -> None:
        known, hour = [self._known.get(version.placement) for version in versions], self.hour()
        for before, found in zip(
            known,
            await self.read(lambda store: [*map(_look, repeat(store), versions, known, repeat(hour))]),
            strict=True,
        ):
            if self._before_change is not None and before is not None and found is not None:
                await self._before_change(before)
            # learners change here only, between two decisions and never during one
            if isinstance(found, _More):
                found = _absorbing(found)
            if isinstance(found, _Broken):
                self._broken[found.version.placement] = found
                self._known.pop(found.version.placement, None)
            else:
                self._known[found.name] = found
                self._broken.pop(found.name, None)


def _look(store: Store, version: Version, known: Placement | None, hour: int) -> Placement | _More | _Broken:
    try:
        return _changed(store, version, known, hour)
    except StoreUnavailable:
        raise
    except Exception as problem:
        return _found_broken(version, problem)


def _absorbing(more: _More) -> Placement | _Broken:
    placement = more.placement
    try:
        placement.absorb(more)
    except Exception as problem:
        return _found_broken(Version(placement.name, placement.version, more.revision), problem)
    return placement


def _found_broken(version: Version, problem: Exception) -> _Broken:
    # one that cannot be followed must not hold up the others
    log.error("placement cannot be followed", extra={"placement": version.placement}, exc_info=problem)
    return _Broken(version, _why(problem))


def _why(problem: Exception) -> str:
    """In words that show nothing of the inside."""
    if isinstance(problem, ValidationError):
        fault = faults(problem, whole="the definition")[0]
        return f"{fault['field']}: {fault['detail']}" + (f", got {fault['value']}" if "value" in fault else "")
    return str(problem) if isinstance(problem, SlotwiseError) else "an error inside, which was logged"


def _changed(store: Store, version: Version, known: Placement | None, hour: int) -> Placement | _More:
    name = version.placement
    if known is not None and known.version == version.version and (more := _more(store, version, known, hour)):
        return more
    definition = Definition.model_validate_json(store.definition(name))
    with store.snapshot():
        rows = store.tally(name)
        periods = read_periods(store, name, definition)
    faded = faded_counts(definition, periods, hour)
    learner, segments = learner_of(definition, rows, faded=faded), Segments(definition.segments)
    numbers = numbered(learner.items)
    older = by_segment(segments, [row for row in rows if not segments.is_current(row.segment)])
    return Placement(
        name,
        definition,
        learner,
        numbers,
        version.version,
        version.revision,
        segments,
        {segment: Tally(*matrices(of, numbers, definition.slots)) for segment, of in older.items()},
        _brought(rows),
        window_now(store, name, definition),
        None if faded is None else Recent.of(faded, definition.longest_window),
    )


def _more(store: Store, version: Version, known: Placement, hour: int) -> _More | None:
    """What is to be added to what is known; None where that has to start anew."""
    name, recent = version.placement, known.recent
    rows = store.tally(name, since=known.revision)
    periods: list[PeriodRow] = []
    counts: Mapping[int, tuple[IntArray, IntArray] | tuple[FloatArray, FloatArray]] | None
    if recent is None:
        counts = known.more(rows)
    elif recent.fading.hour != hour:
        return None
    else:
        periods = store.period_tally(name, after=known.revision)
        counts = known.more_weighed(recent, periods)
    if counts is None:
        return None
    known.brought.update(_brought(rows))
    window = window_now(store, name, known.definition)
    return _More(known, counts, _new_values(known), window, version.revision, periods)


def _brought(rows: Iterable[TallyRow]) -> dict[tuple[str, int, str], TallyRow]:
    return {(row.segment, row.slot, row.item): row for row in rows if row.valued}


def _new_values(known: Placement) -> dict[str, float]:
    """The values that changed by enough to matter, where they are learned."""
    if known.definition.values != "learned":
        return {}
    items = [*known.numbers]
    values, before = values_of(known.definition, items, known.brought.values()), known.learner.values
    return {
        item: value
        for item, value in zip(items, values.tolist(), strict=True)
        if abs(value - before[item]) > LEAST_CHANGE * before[item]
    }
