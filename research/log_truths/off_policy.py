"""Coverage of `slotwise evaluate` on logs of a known multinomial logit, with pages that fill all or some of the slots.

Users, pages and clicks are drawn here, in plain numpy. The target is a mixture of lists, and the truth its click rate.
Propensities of items in slots know nothing of competition between slots: there, frequent clicks are the hard case.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from research.log_truths.rows import Progress, Row
from slotwise.core.rankings import Rankings
from slotwise.core.types import EMPTY, NO_CLICK
from slotwise.logs.counting.logged_propensities import LoggedPropensities
from slotwise.logs.evaluation.off_policy import Evaluation, evaluate
from slotwise.logs.fitting.click_rate import Rate
from slotwise.logs.fitting.fit_result import Fit

SLOTS, ITEMS = 3, 8
POSITION_BIAS = np.array([1.0, 0.6, 0.4])
#: ranges of attractiveness: of clicks as frequent as on a search page, and as rare as on a banner
SEARCH, BANNER = (0.1, 0.9), (0.005, 0.03)
FLOOR, AIM = "0.93", "0.95"

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: sets of slots, with the share of the impressions of each
Filled = dict[tuple[int, ...], float]


class Page(NamedTuple):
    """How a log fills its slots, what its propensities are of, and how attractive its items are."""

    name: str
    filled: Filled
    by_item: bool
    attractiveness: tuple[float, float]
    impressions: int


FULL: Filled = {(0, 1, 2): 1.0}
ONE_SLOT: Filled = {(0,): 0.4, (1,): 0.35, (2,): 0.25}
SHORT: Filled = {(0,): 0.2, (0, 2): 0.3, (0, 1, 2): 0.5}
PAGES = (
    Page("full lists, propensities of lists", FULL, False, SEARCH, 20_000),
    Page("full lists, propensities of items", FULL, True, BANNER, 30_000),
    Page("one slot filled, propensities of items", ONE_SLOT, True, SEARCH, 10_000),
    Page("one slot filled, rare clicks, propensities of items", ONE_SLOT, True, BANNER, 30_000),
    Page("some slots filled, propensities of lists", SHORT, False, SEARCH, 20_000),
    Page("some slots filled, rare clicks, propensities of items", SHORT, True, BANNER, 30_000),
    Page("some slots filled, propensities of items", SHORT, True, SEARCH, 20_000),
)


class Policy(NamedTuple):
    """Lists that a page may show for each set of slots, with the probability of each given the slots."""

    lists: dict[tuple[int, ...], Ints]
    chances: dict[tuple[int, ...], Floats]


def policy(page: Page, rng: np.random.Generator) -> Policy:
    """Return a policy that prefers some items: the chance of a list is in proportion to a product of weights."""
    weights = rng.gamma(4.0, size=(SLOTS, ITEMS))
    lists, chances = {}, {}
    for slots in page.filled:
        every = np.array(list(itertools.permutations(range(ITEMS), len(slots))))
        shown = np.full((len(every), SLOTS), EMPTY)
        shown[:, slots] = every
        product = weights[list(slots), every].prod(axis=1)
        lists[slots], chances[slots] = shown, product / product.sum()
    return Policy(lists, chances)


def odds_of(shown: Ints, attractiveness: Floats) -> Floats:
    """Return the odds of a click on each slot, 0 on an empty one."""
    return np.where(shown == EMPTY, 0.0, POSITION_BIAS * attractiveness[np.maximum(shown, 0)])


def true_rate(page: Page, target: Policy, attractiveness: Floats) -> float:
    """Return the click rate of a policy on a page: the expectation of S/(1 + S)."""
    rate = 0.0
    for slots, share in page.filled.items():
        total = odds_of(target.lists[slots], attractiveness).sum(axis=1)
        rate += share * float(target.chances[slots] @ (total / (1.0 + total)))
    return rate


def draw(page: Page, logging: Policy, attractiveness: Floats, rng: np.random.Generator) -> LoggedPropensities:
    """Draw the impressions of a log, with their clicks and propensities."""
    shown, propensity = [], []
    for slots, share in page.filled.items():
        lists, chances = logging.lists[slots], logging.chances[slots]
        which = rng.choice(len(lists), round(share * page.impressions), p=chances)
        shown.append(lists[which])
        if not page.by_item:
            propensity.append(chances[which])
            continue
        in_slot = np.ones((len(which), SLOTS))
        for slot in slots:
            in_slot[:, slot] = np.bincount(lists[:, slot], chances, minlength=ITEMS)[lists[which, slot]]
        propensity.append(in_slot)
    every = np.concatenate(shown)
    upto = np.cumsum(odds_of(every, attractiveness), axis=1)
    level = rng.random(len(every)) * (1.0 + upto[:, -1])
    clicked = (upto <= level[:, None]).sum(axis=1)
    return LoggedPropensities(every, np.where(clicked == SLOTS, NO_CLICK, clicked), np.concatenate(propensity))


def mixture(page: Page, target: Policy) -> dict[tuple[str | None, ...], float]:
    """Return the lists of a policy as `slotwise.logs.evaluate` takes them."""
    return {
        tuple(None if item == EMPTY else str(item) for item in ranking): share * float(chance)
        for slots, share in page.filled.items()
        for ranking, chance in zip(target.lists[slots].tolist(), target.chances[slots], strict=True)
    }


def evaluations(page: Page, logs: int, seed: int) -> Iterator[tuple[Evaluation, Evaluation, float]]:
    """Yield for each log the evaluation of another policy, that of the log's own lists, and the other's true rate."""
    for log in range(logs):
        rng = np.random.default_rng([seed, log])
        low, high = page.attractiveness
        attractiveness = rng.permutation(np.geomspace(low, high, ITEMS))
        logging, target = policy(page, rng), policy(page, rng)
        logged = draw(page, logging, attractiveness, rng)
        seen = Rankings.of_rounds(logged.shown, logged.clicked, items=ITEMS)
        fit = Fit.of_rankings(seen)
        own = {
            tuple(None if item == EMPTY else str(item) for item in ranking): times / seen.rounds
            for ranking, times in zip(seen.shown.tolist(), seen.times.tolist(), strict=True)
        }
        yield (
            evaluate(fit, mixture(page, target), propensities=logged),
            evaluate(fit, own, propensities=logged),
            true_rate(page, target, attractiveness),
        )


def rows(*, quick: bool, progress: Progress, seed: int = 7) -> list[Row]:
    """Return the coverage of each estimator on each page, and what the log against itself gives."""
    logs = 4 if quick else 200
    table = []
    for page in PAGES:
        covered, ratios = defaultdict[str, list[bool]](list), defaultdict[str, list[float]](list)
        for number, (other, own, truth) in enumerate(evaluations(page, logs, seed), start=1):
            progress(f"off-policy: {page.name}", number / logs)
            for name, rate in _rates(other).items():
                covered[name].append(rate.low <= truth <= rate.high)
            for name, rate in _rates(own).items():
                ratios[name].append(rate.click_rate / own.counted)
        for name, hits in covered.items():
            value = f"{np.mean(hits):.3f} ± {np.std(hits) / np.sqrt(len(hits)):.3f}"
            table.append(Row(f"off-policy, {page.name}: coverage, {name}", value, FLOOR, AIM))
        values = ", ".join(f"{np.mean(every):.3f}" for every in ratios.values())
        table.append(Row(f"off-policy, {page.name}: the log against itself, over its click rate", values, "0.95", "1"))
    return table


def _rates(evaluation: Evaluation) -> dict[str, Rate]:
    weighted = evaluation.by_propensity
    assert weighted is not None
    assert weighted.doubly_robust is not None
    return {
        "plain": weighted.plain,
        "self-normalised": weighted.self_normalised,
        "doubly robust": weighted.doubly_robust,
    }
