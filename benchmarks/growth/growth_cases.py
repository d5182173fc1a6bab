"""What is measured: an operation, a size that grows, and the order that its time and memory may grow with."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.growth.live_service import LiveService
from slotwise import MNL, simulate
from slotwise.environments import Segment, World

#: the sizes of a problem of which one grows
ITEMS, SLOTS, ROUNDS = 1_000, 10, 2_000
#: decisions in one measurement
CHUNK = 256

#: processor seconds, and the units of work that took them
Turn = tuple[float, int]
Turns = Generator[Turn, None, None]


@dataclass(frozen=True)
class Case:
    """The growth of one operation in one variable."""

    operation: str
    variable: str
    #: what the time is of
    unit: str
    #: the smallest and the largest size
    smallest: int
    largest: int
    #: exponents of the stated order of time and of memory
    time: float
    memory: float
    #: measures one size until it is told to stop
    turns: Callable[[int], Turns]

    @property
    def name(self) -> str:
        """The name on the command line."""
        return f"{self.operation}/{self.variable}".replace(" ", "-")

    def sizes(self, most: int | None = None) -> list[int]:
        """One a decade, from the smallest to the largest; with `most`, the first ones of them."""
        count = round(np.log10(self.largest / self.smallest)) + 1
        every = np.geomspace(self.smallest, self.largest, count).round().astype(int)
        return [int(size) for size in every[:most]]


def _timed(work: Callable[[], object], units: int) -> Turn:
    began = time.process_time()
    work()
    return time.process_time() - began, units


# simulation


def _simulated(size: int, variable: str) -> Turns:
    sizes = {"items": 20, "slots": 5, "rounds": ROUNDS, "replications": 1, "segments": 1} | {variable: size}
    if variable == "slots":
        # the first rounds, in which the posterior is fitted anew each time
        sizes |= {"items": ITEMS, "rounds": 20}
    rng = np.random.default_rng(1)
    bias = np.linspace(1.0, 0.3, sizes["slots"])
    attractiveness = rng.exponential(0.1, (sizes["segments"], sizes["items"])) + 1e-3
    users: object = MNL(position_bias=bias, attractiveness=attractiveness[0])
    if variable == "segments":
        users = World(position_bias=bias, segments=[Segment(1 / size, attractiveness=row) for row in attractiveness])
    # what is asked for: a round, but for all rounds and replications of a run
    units = 1 if variable in ("rounds", "replications") else sizes["rounds"]
    run = partial(simulate, users, "thompson-sampling", jobs=1, progress=False)
    run(rounds=1)
    while True:
        yield _timed(lambda: run(rounds=sizes["rounds"], replications=sizes["replications"]), units)


def _simulation(variable: str, smallest: int, largest: int, order: float, memory: float) -> Case:
    unit = "run" if variable in ("rounds", "replications") else "round"
    turns = partial(_simulated, variable=variable)
    return Case("simulation", variable, unit, smallest, largest, order, memory, turns)


# the service


def _served(size: int, variable: str, operation: str) -> Turns:
    items = size if variable == "items" else 100 if variable in ("segments", "placements") else ITEMS
    slots = size if variable == "slots" else SLOTS
    segments = size if variable == "segments" else 0
    names = [f"home-{number}" for number in range(size)] if variable == "placements" else ["home"]
    with LiveService.running() as service:
        service.put(names, items, slots, segments, **({"half_life": 720.0} if variable == "hours" else {}))
        if variable == "decisions kept":
            service.fill_decisions(size)
        if variable == "hours":
            service.fill_hours(size, items, slots)
        decide = partial(service.decide, names=names, segments=segments)
        # all segments and placements are asked for in turn, so that each has counts
        chunk = max(CHUNK, size) if variable in ("segments", "placements") else CHUNK
        service.report(decide(chunk))
        service.finalise()
        if operation == "start":
            while True:
                service.stop()
                yield _timed(service.start, 1)
        if operation == "decision":
            while True:
                yield _timed(lambda: decide(chunk), chunk)
        while True:
            count = size if variable == "due at once" else chunk
            made = decide(count)
            if operation == "outcome":
                yield _timed(partial(service.report, made), count)
            else:
                service.report(made[::2])
                yield _timed(service.finalise, count)


def _service(operation: str, variable: str, smallest: int, largest: int, order: float, memory: float) -> Case:
    turns = partial(_served, variable=variable, operation=operation)
    return Case(operation, variable, operation, smallest, largest, order, memory, turns)


# logs


def write_log(path: Path, impressions: int, items: int, slots: int, placements: int, segments: int) -> None:
    """A log as multinomial logit has it, one row per shown item."""
    rng = np.random.default_rng(2)
    bias, attractiveness = np.linspace(1.0, 0.3, slots), rng.exponential(1.0 / slots, items) + 0.01
    shown = np.empty((impressions, slots), np.int64)
    step = max(1, 4_000_000 // items)
    for first in range(0, impressions, step):
        count = min(step, impressions - first)
        # distinct items, from a random one on by odd steps
        start, by = rng.integers(items, size=count), 1 + rng.integers(max(1, items // slots), size=count)
        shown[first : first + count] = (start[:, None] + by[:, None] * np.arange(slots)) % items
    cumulated = np.cumsum(bias * attractiveness[shown], axis=1)
    place = (cumulated <= (rng.random(impressions) * (1.0 + cumulated[:, -1]))[:, None]).sum(axis=1)
    columns: dict[str, Any] = {
        "impression": np.repeat(np.arange(impressions), slots),
        "slot": np.tile(np.arange(1, slots + 1), impressions),
        "item": pa.array([f"item-{number}" for number in range(items)]).take(pa.array(shown.ravel())),
        "clicked": (place[:, None] == np.arange(slots)).ravel(),
    }
    for name, count in (("page", placements), ("device", segments)):
        if count:
            columns[name] = np.repeat(rng.integers(count, size=impressions), slots).astype(str)
    pq.write_table(pa.table(columns), path)


def _fitted(size: int, variable: str) -> Turns:
    from slotwise import logs

    sizes = {"impressions": 20_000, "items": 100, "slots": 5, "placements": 0, "segments": 0} | {variable: size}
    if variable == "slots":
        sizes["items"] = ITEMS
    if variable == "placements":
        sizes["impressions"] = max(size * 10, 1_000)
    given: Any = {"placement": "page"} if variable == "placements" else {}
    if variable == "segments":
        given = {"segment": "device"}
    with TemporaryDirectory(dir=".", prefix=".growth-") as folder:
        path = Path(folder) / "log.parquet"
        write_log(path, **sizes)
        while True:
            yield _timed(lambda: logs.fit_placements(str(path), **given), 1)


def _fit(variable: str, smallest: int, largest: int, order: float, memory: float) -> Case:
    return Case("fit", variable, "log", smallest, largest, order, memory, partial(_fitted, variable=variable))


CASES = (
    _simulation("rounds", 1_000, 1_000_000, 1, 0),
    _simulation("items", 10, 10_000, 1, 1),
    _simulation("slots", 1, 1_000, 3, 1),
    _simulation("segments", 1, 1_000, 1, 1),
    _simulation("replications", 1, 1_000, 1, 1),
    _service("decision", "items", 100, 100_000, 1, 1),
    _service("decision", "slots", 1, 100, 1, 1),
    _service("decision", "segments", 1, 1_000, 0, 1),
    _service("decision", "placements", 1, 1_000, 0, 1),
    _service("decision", "hours", 8, 8_000, 0, 1),
    _service("decision", "decisions kept", 1_000, 1_000_000, 0, 0),
    _service("outcome", "items", 100, 100_000, 0, 1),
    _service("outcome", "slots", 1, 100, 1, 1),
    _service("outcome", "segments", 1, 1_000, 0, 1),
    _service("outcome", "placements", 1, 1_000, 0, 1),
    _service("outcome", "decisions kept", 1_000, 1_000_000, 0, 0),
    _service("finalising", "due at once", 100, 100_000, 0, 1),
    _service("finalising", "items", 100, 100_000, 1, 1),
    _service("finalising", "slots", 1, 100, 1, 1),
    _service("finalising", "segments", 1, 1_000, 1, 1),
    _service("finalising", "placements", 1, 1_000, 1, 1),
    _service("finalising", "hours", 8, 8_000, 0, 1),
    _service("finalising", "decisions kept", 1_000, 1_000_000, 0, 0),
    _fit("impressions", 1_000, 1_000_000, 1, 1),
    _fit("items", 100, 100_000, 1, 1),
    _fit("slots", 1, 100, 1, 1),
    _fit("placements", 10, 10_000, 1, 1),
    _fit("segments", 2, 200, 1, 1),
    _service("start", "items", 100, 100_000, 1, 1),
    _service("start", "segments", 1, 1_000, 1, 1),
    _service("start", "placements", 1, 1_000, 1, 1),
    _service("start", "hours", 8, 8_000, 1, 1),
    _service("start", "decisions kept", 1_000, 1_000_000, 0, 0),
)
