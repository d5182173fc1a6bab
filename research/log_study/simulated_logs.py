"""Simulated logs of several kinds, with the true parameters of their items and slots."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from slotwise.click_models import MNL, draw_many
from slotwise.core.rankings import Rankings
from slotwise.core.types import NO_CLICK, FloatArray, IntArray

#: by slot, relative to the one before it
FADING = 0.75
#: a judgement that is off by this much says nothing
ANY_ORDER = 100.0


@dataclass(frozen=True)
class Placement:
    """Simulated data and the true parameters."""

    seen: Rankings
    item_ids: tuple[str, ...]
    attractiveness: FloatArray
    position_bias: FloatArray


@dataclass(frozen=True)
class LogKind:
    """One kind of log."""

    about: str
    make: Callable[[np.random.Generator], list[Placement]]


def _users(rng: np.random.Generator, slots: int, items: int, middle: float, spread: float = 0.7) -> MNL:
    return MNL(
        position_bias=FADING ** np.arange(slots), attractiveness=middle * np.exp(spread * rng.normal(size=items))
    )


def _shown(users: MNL, rounds: int, noise: float, rng: np.random.Generator, sign: float = 1.0) -> IntArray:
    """Lists as pages have them: what is better first, by a judgement that is off by `noise` in logarithms.

    With the sign -1, what is worse is first.
    """
    judged = sign * np.log(users.attractiveness) + noise * rng.normal(size=(rounds, users.items))
    return np.argsort(-judged, axis=1)[:, : users.slots]


def _placement(users: MNL, seen: Rankings, name: str = "") -> Placement:
    ids = tuple(f"{name}{item}" for item in range(users.items))
    return Placement(seen, ids, users.attractiveness, users.position_bias)


def _one(rng: np.random.Generator, middle: float, noise: float, sign: float = 1.0) -> list[Placement]:
    users = _users(rng, 5, 30, middle)
    shown = _shown(users, 10_000, noise, rng, sign)
    return [_placement(users, Rankings.of_rounds(shown, draw_many(users, shown, rng), items=users.items))]


def _shop(rng: np.random.Generator) -> list[Placement]:
    return _one(rng, 0.05, 0.7)


def _clicked(rng: np.random.Generator) -> list[Placement]:
    return _one(rng, 1.0, 0.7)


def _fixed(rng: np.random.Generator) -> list[Placement]:
    return _one(rng, 0.05, 0.0)


def _search(rng: np.random.Generator, noise: float = 0.7, sign: float = 1.0) -> list[Placement]:
    made = []
    for query in range(300):
        users = _users(rng, 6, 10, 0.2)
        rounds = 1 + rng.geometric(1.0 / 12.0)
        shown = _shown(users, rounds, noise, rng, sign)
        seen = Rankings.of_rounds(shown, draw_many(users, shown, rng), items=users.items)
        made.append(_placement(users, seen, f"{query}/"))
    return made


def _placements(rng: np.random.Generator, same: bool = False) -> list[Placement]:
    """Placements of different sizes whose slots differ, as do their levels of attractiveness.

    With the same items in all, an item has a part of its attractiveness in common.
    """
    made = []
    common = rng.normal(size=25)
    for number in range(8):
        own = rng.normal(size=25)
        alpha = 0.1 * np.exp(0.4 * rng.normal() + 0.7 * (0.85 * common + 0.53 * own if same else own))
        bias = FADING ** np.arange(5) * np.exp(0.25 * rng.normal(size=5))
        users = MNL(position_bias=bias / bias[0], attractiveness=bias[0] * alpha)
        # a judgement of each item that stays, and one that changes
        stays = np.log(alpha) + 0.7 * rng.normal(size=25)
        judged = stays + 0.7 * rng.normal(size=(int(rng.integers(300, 3_000)), 25))
        shown = np.argsort(-judged, axis=1)[:, :5]
        seen = Rankings.of_rounds(shown, draw_many(users, shown, rng), items=25)
        made.append(_placement(users, seen, "" if same else f"{number}/"))
    return made


#: of the visitors who clicked, who click on one more thing of the list
AGAIN = 0.4


def _several(rng: np.random.Generator, keep: bool) -> list[Placement]:
    """Visitors choose by multinomial logit, and of those who clicked some choose once more, among the rest."""
    users = _users(rng, 5, 30, 0.3)
    shown = _shown(users, 10_000, 0.7, rng)
    first = draw_many(users, shown, rng)
    if not keep:
        odds = users.position_bias * users.attractiveness[shown]
        rest = odds.sum(axis=1) - np.where(first != NO_CLICK, odds[np.arange(len(shown)), first], 0.0)
        # that second choice may be nothing too
        again = (first != NO_CLICK) & (rng.random(len(shown)) < 2.0 * AGAIN * rest / (1.0 + rest))
        shown, first = shown[~again], first[~again]
    return [_placement(users, Rankings.of_rounds(shown, first, items=users.items))]


KINDS: dict[str, LogKind] = {
    "shop": LogKind("10,000 impressions of 5 of 30 items, one in five clicked, better ones mostly first", _shop),
    "search": LogKind("300 queries of 10 results, 13 impressions each on average, slots that all share", _search),
    "shuffled": LogKind("the same queries, with results in any order", lambda rng: _search(rng, noise=ANY_ORDER)),
    "worse first": LogKind("as the shop, but worse items mostly first", lambda rng: _one(rng, 0.05, 0.7, -1.0)),
    "worse first, search": LogKind("as the queries, but worse items mostly first", lambda rng: _search(rng, 0.7, -1.0)),
    "placements": LogKind("8 placements of 25 items with slots of their own", _placements),
    "placements, same items": LogKind("8 placements of the same 25 items", lambda rng: _placements(rng, same=True)),
    "clicked": LogKind("as the shop, but five in six impressions are clicked", _clicked),
    "fixed": LogKind("as the shop, but always the same list", _fixed),
    "several, first": LogKind("some click twice, and their first clicks count", lambda rng: _several(rng, True)),
    "several, drop": LogKind(
        "the same visitors, but impressions with two clicks are left out", lambda rng: _several(rng, False)
    ),
}
