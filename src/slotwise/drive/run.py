"""A whole drive: many visitors at a time, up to a number of decisions or a time limit; then the counts are checked."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import random
import socket
import time
from typing import Any, Final
from urllib.parse import urlsplit

from slotwise import checks
from slotwise.choice import MNL
from slotwise.client import Client
from slotwise.drive.connection import Address
from slotwise.drive.course import PAUSE_SECONDS, Course
from slotwise.drive.ledger import Ledger
from slotwise.drive.report import Drive
from slotwise.drive.visitors import Habits, Visitors
from slotwise.errors import InvalidInput, ServiceProblem, ServiceUnreachable
from slotwise.policies import PolicyEntry
from slotwise.simulate.progress import Bar

MOST_USERS: Final = 1_000
MOST_ROUNDS: Final = 10_000_000
LONGEST_SECONDS: Final = 86_400.0
SHORTEST_WINDOW, LONGEST_WINDOW = 0.1, 60.0
#: how long after the last deadline everything must have been counted
SETTLE_SECONDS: Final = 15.0


def drive(
    url: str,
    users: MNL,
    *,
    policy: PolicyEntry,
    visitors: int = 32,
    rounds: int = 10_000,
    rate: float | None = None,
    seconds: float = 60.0,
    window: float = 0.5,
    key: str | None = None,
    anywhere: bool = False,
    habits: Habits | None = None,
    seed: int = 0,
    progress: bool | None = None,
) -> Drive:
    """Let `visitors` at a time use a new placement until `rounds` decisions have been made or `seconds` are over.

    `rate` limits the decisions per second. An interrupt ends the drive early, a second one also the wait for the last
    deadlines. The placement, named drive-…, is deleted in the end.
    """
    checks.whole_number("users", visitors, at_least=1, at_most=MOST_USERS)
    checks.whole_number("rounds", rounds, at_least=1, at_most=MOST_ROUNDS)
    checks.whole_number("seed", seed, at_least=0)
    if checks.positive_number("seconds", seconds) > LONGEST_SECONDS:
        raise InvalidInput(f"seconds must be at most {LONGEST_SECONDS:g}, got {seconds!r}")
    if not SHORTEST_WINDOW <= checks.positive_number("window", window) <= LONGEST_WINDOW:
        raise InvalidInput(f"window must be {SHORTEST_WINDOW:g} to {LONGEST_WINDOW:g} seconds, got {window!r}")
    if rate is not None:
        checks.positive_number("rate", rate)
    # the first decision under a policy may wait for the compiler
    with Client(url, key, timeout=120.0, retries=2) as client:
        if not anywhere and not _is_this_machine(url):
            raise InvalidInput(f"url is {url!r}, which is not this machine: say --anywhere if you may load it")
        items = [f"item-{number}" for number in range(users.items)]
        known = policy.position_bias == "known"
        name = f"drive-{random.randrange(16**8):08x}"
        client.put_placement(
            name,
            slots=users.slots,
            items=items,
            policy=str(policy),
            window_seconds=window,
            position_bias=users.position_bias.tolist() if known else None,
        )
        drawn = Visitors(users, items, random.Random(seed), habits or Habits())
        course = Course(
            Address(client.url, key), name, drawn, Ledger(items, users.slots), rounds, rate, seconds, window
        )
        with Bar(progress) as bar, bar.task("decisions", rounds) as step:
            course.step = step
            with contextlib.suppress(KeyboardInterrupt):
                asyncio.run(course.run(visitors))
        if not course.ledger.decisions["issued"]:
            raise ServiceUnreachable(f"{client.url} made no decision: {course.trouble()}")
        differences = None
        with contextlib.suppress(KeyboardInterrupt, ServiceUnreachable):
            if course.complete:
                differences = course.ledger.differences(_settled(client, name, window))
        with contextlib.suppress(KeyboardInterrupt, ServiceUnreachable, ServiceProblem):
            client.delete_placement(name)
    return Drive(
        placement=name,
        policy=policy,
        users=users,
        visitors=visitors,
        ledger=course.ledger,
        regrets=[drawn.regret(shown) for shown in course.ledger.lists],
        best_reward=drawn.best_reward,
        seconds=course.seconds_taken,
        ended_by=course.ended_by,
        lag=course.lag(),
        differences=differences,
    )


def _settled(client: Client, placement: str, window: float) -> dict[str, Any]:
    """The estimates once nothing is pending, or as they are when nothing should be pending any more."""
    until = time.monotonic() + window + SETTLE_SECONDS
    while client.estimates(placement)["decisions"]["pending"] and time.monotonic() < until:
        time.sleep(PAUSE_SECONDS)
    # once more: its counts may be a moment ahead of its tally
    return client.estimates(placement)


def _is_this_machine(url: str) -> bool:
    parts = urlsplit(url)
    try:
        found = socket.getaddrinfo(parts.hostname, parts.port or 80, type=socket.SOCK_STREAM)
    except OSError:
        return False
    return all(ipaddress.ip_address(address[0]).is_loopback for *_, address in found)
