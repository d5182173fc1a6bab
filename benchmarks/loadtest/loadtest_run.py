"""Runs a load test: concurrent visitors up to a number of decisions or a time limit, then a check of the counts."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import random
import socket
from dataclasses import replace
from typing import Final
from urllib.parse import urlsplit

from benchmarks.loadtest.expected_counts import ExpectedCounts
from benchmarks.loadtest.http_connection import Address
from benchmarks.loadtest.loadtest_report import LoadTestReport
from benchmarks.loadtest.session import Session
from benchmarks.loadtest.target_placement import (
    MAX_WINDOW,
    MIN_WINDOW,
    TargetPlacement,
    draw_users,
    existing_placement,
    temporary_placement,
)
from benchmarks.loadtest.visitor_requests import KEYED, REPEATING, VisitorRequests
from benchmarks.loadtest.visitor_segments import DEVICES
from slotwise.click_models import MNL
from slotwise.client import Client, ServiceUnreachable
from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.demo.simulated_visitors import Habits, SimulatedVisitors
from slotwise.policies import PolicySpec, default_policy
from slotwise.simulation.progress import Bar

MAX_USERS: Final = 1_000
MAX_ROUNDS: Final = 10_000_000
MAX_SECONDS: Final = 86_400.0
#: seconds, of a temporary placement
DEFAULT_WINDOW: Final = 0.5


def run_loadtest(
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
    keyed: float = KEYED,
    repeating: float = REPEATING,
    seed: int = 0,
    progress: bool | None = None,
) -> LoadTestReport:
    """Run a load test, and check the service's counts.

    An interrupt ends the test early, a second one also the wait for the last deadlines. By default the test uses a
    temporary placement.

    Parameters
    ----------
    url
        address of the service
    users
        tastes of the visitors; by default drawn from the seed for an existing placement
    placement
        name of an existing placement, whose definition stays unchanged
    policy, window
        policy and window of a temporary placement
    visitors
        number of concurrent visitors
    rounds, seconds
        the test ends after this many decisions or seconds
    rate
        maximum number of decisions per second
    key
        API key of the service
    anywhere
        allow a service on another machine
    segments
        use segments and item features, if the policy learns from them; tastes do not depend on them
    habits
        shares of visitors who stay silent, report twice and so on
    keyed, repeating
        share of visitors with an idempotency key, and of these the share who repeat their request
    seed
        random seed of the visitors
    progress
        whether to show a progress bar; by default at a terminal

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
        raise InvalidInput("users must be given without a placement")
    for name, value in (("policy", policy), ("window", window)):
        if placement is not None and value is not None:
            raise InvalidInput(f"{name} is {str(value)!r}, but placement {placement!r} has its own")
    # the first decision under a policy may wait for the compiler
    with Client(url, key, timeout=120.0, retries=2) as client:
        if not anywhere and not _is_this_machine(url):
            raise InvalidInput(f"url is {url!r}, which is not this machine: add --anywhere if you may load it")
        with contextlib.ExitStack() as stack:
            if placement is not None:
                target = existing_placement(client, placement)
                users = users or draw_users(target, seed)
                _check_size(target, users)
            else:
                assert users is not None
                chosen = policy or default_policy()
                audience = DEVICES if segments and chosen.pools else None
                target = stack.enter_context(
                    temporary_placement(client, users, chosen, window or DEFAULT_WINDOW, audience)
                )
            rng = random.Random(seed)
            habits = habits or Habits()
            # a long window is too long to wait for late reports
            simulated = SimulatedVisitors(
                users, target.items, rng, habits if target.has_short_window else replace(habits, late=0.0)
            )
            keys = f"loadtest-{random.randrange(16**12):012x}"
            requests = VisitorRequests(rng, target.audience, keys, keyed, repeating)
            session = Session(
                Address(client.url, key),
                target.name,
                simulated,
                requests,
                ExpectedCounts(),
                rounds,
                rate,
                seconds,
                target.window,
            )
            with Bar(progress) as bar, bar.task("decisions", rounds) as step:
                session.step = step
                with contextlib.suppress(KeyboardInterrupt):
                    asyncio.run(session.run(visitors))
            if not session.expected.decisions["issued"]:
                raise ServiceUnreachable(f"{client.url} made no decision: {session.failure()}")
            verdict = None
            with contextlib.suppress(KeyboardInterrupt, ServiceUnreachable):
                if session.complete:
                    verdict = target.check(client, session.expected)
    return LoadTestReport(
        target=target,
        users=users,
        visitors=visitors,
        expected=session.expected,
        regrets=[simulated.regret(shown) for shown in session.expected.lists],
        best_reward=simulated.best_reward,
        seconds=session.seconds_taken,
        ended_by=session.ended_by,
        lag=session.lag(),
        verdict=verdict,
    )


def _check_size(target: TargetPlacement, users: MNL) -> None:
    if (users.slots, users.items) != (target.slots, len(target.items)):
        raise InvalidInput(
            f"users have {users.slots} slots and {users.items} items, but placement {target.name!r} has "
            f"{target.slots} and {len(target.items)}"
        )


def _is_this_machine(url: str) -> bool:
    parts = urlsplit(url)
    try:
        addresses = socket.getaddrinfo(parts.hostname, parts.port or 80, type=socket.SOCK_STREAM)
    except OSError:
        return False
    return all(ipaddress.ip_address(address[0]).is_loopback for *_, address in addresses)
