"""A whole drive: many visitors at a time, up to a number of decisions or a time limit; then the counts are checked."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import random
import socket
from dataclasses import replace
from typing import Final
from urllib.parse import urlsplit

from slotwise.click_models import MNL
from slotwise.client import Client, ServiceUnreachable
from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.loadtest.expected_counts import Ledger
from slotwise.loadtest.http_connection import Address
from slotwise.loadtest.loadtest_report import Drive
from slotwise.loadtest.session import Course
from slotwise.loadtest.simulated_visitors import Habits, Visitors
from slotwise.loadtest.target_placement import MAX_WINDOW, MIN_WINDOW, Driven, existing, made, tastes_for
from slotwise.loadtest.visitor_segments import DEVICES
from slotwise.policies import PolicySpec, default_policy
from slotwise.simulation.progress import Bar

MAX_USERS: Final = 1_000
MAX_ROUNDS: Final = 10_000_000
MAX_SECONDS: Final = 86_400.0
#: seconds, of a placement that is made for the drive
DEFAULT_WINDOW: Final = 0.5


def drive(
    url: str,
    users: MNL | None = None,
    *,
    placement: str | None = None,
    policy: PolicySpec | None = None,
    visitors: int = 32,
    rounds: int = 10_000,
    rate: float | None = None,
    seconds: float = 60.0,
    window: float | None = None,
    key: str | None = None,
    anywhere: bool = False,
    segments: bool = True,
    habits: Habits | None = None,
    seed: int = 0,
    progress: bool | None = None,
) -> Drive:
    """Let `visitors` at a time use a placement until `rounds` decisions have been made or `seconds` are over.

    `rate` limits the decisions per second. An interrupt ends the drive early, a second one also the wait for the last
    deadlines. The placement is a new one, drive-…, and is deleted in the end. With `segments` it tells visitors apart
    and its items have features, if the policy can learn from them; the visitors like the same whoever they are.

    Or it is the `placement` of that name, with its own items, slots, segments, policy and window. It is not changed,
    but learns from what the visitors do. Without `users` their tastes are drawn from the seed.
    """
    validation.whole_number("users", visitors, at_least=1, at_most=MAX_USERS)
    validation.whole_number("rounds", rounds, at_least=1, at_most=MAX_ROUNDS)
    validation.whole_number("seed", seed, at_least=0)
    if validation.positive_number("seconds", seconds) > MAX_SECONDS:
        raise InvalidInput(f"seconds must be at most {MAX_SECONDS:g}, got {seconds!r}")
    if window is not None and not MIN_WINDOW <= validation.positive_number("window", window) <= MAX_WINDOW:
        raise InvalidInput(f"window must be {MIN_WINDOW:g} to {MAX_WINDOW:g} seconds, got {window!r}")
    if rate is not None:
        validation.positive_number("rate", rate)
    if placement is None and users is None:
        raise InvalidInput("users must be given where no placement is")
    for name, given in (("policy", policy), ("window", window)):
        if placement is not None and given is not None:
            raise InvalidInput(f"{name} is {str(given)!r}, but placement {placement!r} has its own, which stays")
    # the first decision under a policy may wait for the compiler
    with Client(url, key, timeout=120.0, retries=2) as client:
        if not anywhere and not _is_this_machine(url):
            raise InvalidInput(f"url is {url!r}, which is not this machine: say --anywhere if you may load it")
        with contextlib.ExitStack() as stack:
            if placement is not None:
                driven = existing(client, placement)
                users = users or tastes_for(driven, seed)
                _check_size(driven, users)
            else:
                assert users is not None
                chosen = policy or default_policy()
                audience = DEVICES if segments and chosen.pools else None
                driven = stack.enter_context(made(client, users, chosen, window or DEFAULT_WINDOW, audience))
            drawn = _visitors(driven, users, habits or Habits(), seed)
            course = Course(
                Address(client.url, key), driven.name, drawn, Ledger(), rounds, rate, seconds, driven.window
            )
            with Bar(progress) as bar, bar.task("decisions", rounds) as step:
                course.step = step
                with contextlib.suppress(KeyboardInterrupt):
                    asyncio.run(course.run(visitors))
            if not course.ledger.decisions["issued"]:
                raise ServiceUnreachable(f"{client.url} made no decision: {course.trouble()}")
            verdict = None
            with contextlib.suppress(KeyboardInterrupt, ServiceUnreachable):
                if course.complete:
                    verdict = driven.verdict(client, course.ledger)
    return Drive(
        driven=driven,
        users=users,
        visitors=visitors,
        ledger=course.ledger,
        regrets=[drawn.regret(shown) for shown in course.ledger.lists],
        best_reward=drawn.best_reward,
        seconds=course.seconds_taken,
        ended_by=course.ended_by,
        lag=course.lag(),
        verdict=verdict,
    )


def _visitors(driven: Driven, users: MNL, habits: Habits, seed: int) -> Visitors:
    if not driven.is_awaited:
        # nobody waits so long to come late
        habits = replace(habits, late=0.0)
    keys = f"drive-{random.randrange(16**12):012x}"
    return Visitors(users, driven.items, random.Random(seed), habits, driven.audience, keys)


def _check_size(driven: Driven, users: MNL) -> None:
    if (users.slots, users.items) != (driven.slots, len(driven.items)):
        raise InvalidInput(
            f"users are of {users.slots} slots and {users.items} items, but placement {driven.name!r} has "
            f"{driven.slots} and {len(driven.items)}"
        )


def _is_this_machine(url: str) -> bool:
    parts = urlsplit(url)
    try:
        found = socket.getaddrinfo(parts.hostname, parts.port or 80, type=socket.SOCK_STREAM)
    except OSError:
        return False
    return all(ipaddress.ip_address(address[0]).is_loopback for *_, address in found)
