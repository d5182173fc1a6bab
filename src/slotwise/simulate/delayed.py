"""Policies that hear of outcomes late and in batches, as those of a service do."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from slotwise import checks
from slotwise.choice import MNL, best_ranking, draw_many, reward
from slotwise.errors import InvalidInput
from slotwise.policies import PolicyEntry, Setting, absorb, choose_several, holds_lists
from slotwise.rng import stream
from slotwise.simulate.replicate import MOST_ROUNDS
from slotwise.tally import Tally
from slotwise.typing import FloatArray


def simulate_delayed(
    users: MNL, policy: PolicyEntry, *, rounds: int, lag: int, every: int, replications: int = 1, seed: int = 0
) -> FloatArray:
    """Regret by replication and round, not added up, when outcomes are learned `lag` rounds late, in batches.

    Round t is chosen from the outcomes of the rounds before b - lag, where b is the round at which its batch began.
    Batches have `every` rounds; the first has 1 to `every`, for a service does not wait for its first visitor to look.
    A policy that acts in epochs shows lists that depend on outcomes one by one, and is refused.

    >>> from slotwise import policy
    >>> users = MNL(position_bias=[1.0, 0.5], attractiveness=[0.2, 0.4, 0.1])
    >>> chosen, length = policy("randomised-moss"), dict(rounds=900, every=20, replications=8)
    >>> prompt, late = (simulate_delayed(users, chosen, lag=lag, **length) for lag in (0, 400))
    >>> bool(prompt.sum() < late.sum())
    True
    """
    checks.whole_number("rounds", rounds, at_least=1)
    checks.whole_number("lag", lag, at_least=0)
    checks.whole_number("every", every, at_least=1)
    checks.whole_number("replications", replications, at_least=1)
    # as a service makes it
    setting = Setting(users.slots, users.items, MOST_ROUNDS, users.position_bias, rules_per_decision=True)
    best = reward(users, best_ranking(users))
    found = np.empty((replications, rounds))
    for replication in range(replications):
        rng = np.random.default_rng(stream(seed, replication))
        for start, weights in _rounds(users, policy, setting, rng, rounds, lag, every):
            total = weights.sum(axis=1)
            found[replication, start : start + len(weights)] = best - total / (1.0 + total)
    return found


def _rounds(
    users: MNL, policy: PolicyEntry, setting: Setting, rng: np.random.Generator, rounds: int, lag: int, every: int
) -> Iterator[tuple[int, FloatArray]]:
    """γ of what is shown, rounds × slots, batch by batch."""
    started = policy.start(setting)
    if holds_lists(started):
        raise InvalidInput(f"{policy} acts in epochs, which cannot be delayed")
    lists = np.empty((rounds, users.slots), np.int64)
    clicked = np.empty(rounds, np.int64)
    learned = 0
    first = int(rng.integers(1, every + 1))
    for start in (0, *range(first, rounds, every)):
        stop = start + (every if start else first)
        known = max(learned, start - lag)
        if known > learned:
            news = Tally.of_rounds(lists[learned:known], clicked[learned:known], items=users.items)
            absorb(started, news.clicks, news.passes)
            learned = known
        batch = lists[start:stop]
        choose_several(started, rng, batch)
        clicked[start:stop] = draw_many(users, batch, rng)
        weights: FloatArray = users.position_bias * users.attractiveness[batch]
        yield start, weights
