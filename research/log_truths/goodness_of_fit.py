"""How often `slotwise.logs.goodness` says that the model fits, of logs of five kinds of users and of several designs.

Lists and clicks are drawn with numpy alone. Constants were chosen on other seeds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from research.log_truths.rows import Progress, Row
from slotwise import logs
from slotwise.core.types import FloatArray, IntArray

IMPRESSIONS = 100_000
#: logs of each kind, and if it has to be quick
LOGS, FEW_LOGS = 40, 4
SEED = 28_001
#: position bias of a slot, relative to the one above it
FADING = 0.75
#: of the impressions
BOTS = 0.1


class Design(NamedTuple):
    """A page and its log."""

    about: str
    slots: int
    items: int
    #: click rate of an average list
    rate: float
    #: standard deviation of log attractiveness, and of the error of the judgement that lists are ordered by
    spread: float = 0.7
    judgement: float | None = 0.7
    #: whether the last slots may be empty
    partly: bool = False
    placements: int = 1


SHOP = Design("30 % clicked, better items mostly first", 5, 30, 0.3)
SHUFFLED = Design("30 % clicked, random lists", 5, 20, 0.3, judgement=None)
CLICKED = Design("60 % clicked, random lists", 5, 20, 0.6, judgement=None)
OWN = (
    SHOP,
    CLICKED,
    Design("few items", 3, 6, 0.3, judgement=None),
    Design("many items", 5, 2_000, 0.2, judgement=None),
    Design("3 % clicked", 5, 30, 0.03),
    Design("partly filled pages", 6, 30, 0.3, partly=True),
    Design("20 placements", 5, 15, 0.3, placements=20),
)

#: given lists, λ and α: the probability of a click on each slot
Users = Callable[[np.random.Generator, IntArray, FloatArray, FloatArray], FloatArray]


def _choose(odds: FloatArray) -> FloatArray:
    return np.asarray(odds / (1.0 + odds.sum(axis=1, keepdims=True)))


def _model(_rng: np.random.Generator, lists: IntArray, bias: FloatArray, alpha: FloatArray) -> FloatArray:
    return _choose(np.where(lists >= 0, bias * alpha[lists], 0.0))


def _bots(rng: np.random.Generator, lists: IntArray, bias: FloatArray, alpha: FloatArray) -> FloatArray:
    """A tenth of the impressions get a click on any slot."""
    is_bot = rng.random(len(lists)) < BOTS
    return np.where(is_bot[:, None], 1.0 / lists.shape[1], _model(rng, lists, bias, alpha))


def _cascade(_rng: np.random.Generator, lists: IntArray, bias: FloatArray, alpha: FloatArray) -> FloatArray:
    """People look from top to bottom until something attracts them, and slots are worth the same."""
    attraction = (bias.mean() * alpha / (1.0 + bias.mean() * alpha))[lists]
    looks = np.cumprod(np.column_stack([np.ones(len(lists)), 1.0 - attraction]), axis=1)[:, :-1]
    return np.asarray(attraction * looks)


def _opposite(alpha: FloatArray) -> FloatArray:
    """The most attractive item is the least, and so on."""
    order, opposite = np.argsort(alpha), np.empty(len(alpha))
    opposite[order] = alpha[order[::-1]]
    return opposite


def _mixed(rng: np.random.Generator, lists: IntArray, bias: FloatArray, alpha: FloatArray) -> FloatArray:
    """Half of the visitors have opposite tastes."""
    is_other = rng.random(len(lists)) < 0.5
    other = _model(rng, lists, bias, _opposite(alpha))
    return np.where(is_other[:, None], other, _model(rng, lists, bias, alpha))


def _swapped(rng: np.random.Generator, lists: IntArray, bias: FloatArray, alpha: FloatArray) -> FloatArray:
    """Tastes turn into the opposite half-way."""
    is_later = np.arange(len(lists)) >= len(lists) // 2
    other = _model(rng, lists, bias, _opposite(alpha))
    return np.where(is_later[:, None], other, _model(rng, lists, bias, alpha))


def _lists(rng: np.random.Generator, design: Design, alpha: FloatArray, count: int) -> IntArray:
    if design.judgement is None:
        lists = rng.integers(design.items, size=(count, design.slots))
        while (again := (np.diff(np.sort(lists, axis=1), axis=1) == 0).any(axis=1)).any():
            lists[again] = rng.integers(design.items, size=(int(again.sum()), design.slots))
    else:
        judged = np.log(alpha) + design.judgement * rng.normal(size=(count, design.items))
        lists = np.argsort(-judged, axis=1)[:, : design.slots]
    if design.partly:
        filled = rng.integers(1, design.slots + 1, count)
        lists = np.where(np.arange(design.slots) < filled[:, None], lists, -1)
    return lists


def draw_log(rng: np.random.Generator, design: Design, users: Users, impressions: int = IMPRESSIONS) -> pa.Table:
    """A log with a row per shown item; the ids of impressions rise."""
    parts = []
    each = impressions // design.placements
    for placement in range(design.placements):
        bias = np.power(FADING, np.arange(design.slots), dtype=np.float64)
        alpha = np.exp(design.spread * rng.normal(size=design.items))
        alpha *= design.rate / (1.0 - design.rate) / (alpha.mean() * bias.sum())
        lists = _lists(rng, design, alpha, each)
        rates = users(rng, lists, bias, alpha)
        clicked = (np.cumsum(rates, axis=1) <= rng.random(each)[:, None]).sum(axis=1)
        view, slot = np.nonzero(lists >= 0)
        parts.append(
            pa.table(
                {
                    "page": np.full(len(view), placement),
                    "impression": view + placement * each,
                    "slot": slot + 1,
                    "item": lists[view, slot],
                    "clicked": slot == clicked[view],
                }
            )
        )
    return pa.concat_tables(parts)


def says_yes(log: pa.Table, placements: int = 1) -> bool:
    """Whether the model is said to fit."""
    fits = logs.fit_placements(log, placement="page" if placements > 1 else None)
    found = logs.goodness(fits)
    return found is not None and found.in_words().startswith("Yes")


def rows(*, quick: bool, progress: Progress) -> list[Row]:
    """Return the share of logs of which the model is said to fit."""
    count = FEW_LOGS if quick else LOGS
    cases: list[tuple[str, Design, Users, str, str]] = [
        (f"the model's own logs: {design.about}", design, _model, "≥ 0.97", "") for design in OWN
    ]
    kinds: dict[str, Users] = {
        "uniform bots": _bots,
        "cascades": _cascade,
        "mixed users": _mixed,
        "swapped tastes": _swapped,
    }
    for name, users in kinds.items():
        cases += [(f"{name}: {design.about}", design, users, "≤ 0.2", "≤ 0.05") for design in (SHOP, SHUFFLED, CLICKED)]
    found = []
    for number, (name, design, draw, floor, aim) in enumerate(cases):
        answers = []
        for log in range(count):
            progress(f"goodness of fit: {name}", log / count)
            rng = np.random.default_rng([SEED, number, log])
            answers.append(says_yes(draw_log(rng, design, draw), design.placements))
        found.append(Row(f"“the model fits”, {name}", f"{np.mean(answers):.2f} ({count} logs)", floor, aim))
    return found
