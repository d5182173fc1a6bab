"""Ways in which visitors depart from multinomial logit, each with a test that looks for it in whole lists.

Under the model the odds of item j in slot k against no click are γ = λ_kα_j on every list. A departure multiplies them
by exp(βz) for some z of the whole list. With n clicks, n₀ rounds without a click and p = γ/(1 + S) on a list A shown T
times, the score of β is Σ_A Σ_k h(n - γn₀), h being z less its mean Σ pz over the list. Subtracting from h a constant
for each item and each slot, such that the sums of hTp over each item and each slot are 0, makes the score independent
of errors in α and λ to first order (Neyman's C(α) test). Estimates may therefore be shrunk, or come from other data.

- **Bots** click on any slot alike: z = b/((1 - ε)p + εb) with b = 1 over the filled slots, for a share ε of the rounds.
- **Top to bottom**: in a cascade the odds grow with the attractiveness below a slot, z = Σ log(1 + γ) over it.
- **Mixed visitors**: if log α varies between visitors by a vector u, z = -u_jΣpu. The direction u is unknown: the test
  statistic is the largest eigenvalue of the scores of all pairs of items, against that of a random matrix. The two
  scores above are tested too, for values that are too low.
- **Changed tastes**: the clicks of the items before and after a point in time, given both together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from slotwise.core.rankings import Rankings
from slotwise.core.types import EMPTY, NO_CLICK, FloatArray, IntArray
from slotwise.estimators.diagnostics import CLOSE, MIN_EXPECTED_CLICKS
from slotwise.estimators.likelihoods.list_kernels import add_products

Departure = Literal["bots", "top to bottom", "mixed visitors", "changed tastes"]

#: the probability that any of the four is reported though the model is true; Bonferroni's share of each is a quarter
DEPARTURE_LEVEL = 0.01
TEST_LEVEL = DEPARTURE_LEVEL / 4
#: with this probability a departure as large as those below is noticed, if the test can tell
POWER = 0.8
#: the share of bots in clicks, and the log of the factor by which two tastes are off their mean
BOTS, TASTES = 0.1, math.log(3.4) / 2.0
#: tastes of this size that change the odds of a click by less than this part do not matter
NEGLIGIBLE = CLOSE / 4.0
#: a log that would not show a larger share of bots is too small to tell of them
MAX_BOTS = 0.25
#: a score varies if its variance is more than this part of that without items and slots
NO_VARIATION = 1e-9
#: items whose pairs are tested for mixed visitors, the most clicked ones
MAX_ITEMS = 80
#: random matrices that give the law of the largest eigenvalue, and the most rounds each is drawn for
MATRICES, DRAWN = 40, 5_000
#: an eigenvalue of more standard deviations above the mean is compared with this many more matrices
DOUBTFUL, MORE_MATRICES = 1.5, 360
#: skewness of the Tracy-Widom law (β = 1), which is that of many items alike; if a few matter most, it is larger
TRACY_WIDOM_SKEWNESS = 0.2935


class DepartureTest(NamedTuple):
    """The test for one departure."""

    departure: Departure
    #: NaN if the lists cannot show it
    p_value: float
    #: the smallest that is noticed with the probability `POWER`: a share of bots, a part of a cascade (1 is all of it),
    #: or a factor between tastes; infinite if none is
    smallest: float
    #: whether a departure of the reference size is noticed, or changes the odds of a click by less than `CLOSE`; for
    #: bots, whether a share of `MAX_BOTS` is noticed; for mixed visitors, see `_mixed_visitors`
    is_conclusive: bool

    @property
    def is_found(self) -> bool:
        """Whether chance does not explain the data."""
        return self.p_value < TEST_LEVEL


def find_departures(rankings: Rankings, odds: FloatArray, likeliest: FloatArray) -> list[DepartureTest]:
    """Test whole lists for bots, for reading from top to bottom and for mixed visitors.

    Scores of pairs of items depend on errors in the odds of every item on a list. At maximum likelihood these errors
    only reduce their variance.

    Parameters
    ----------
    rankings
        The lists with their clicks.
    odds
        Slots × items: the fitted γ, which may be shrunk.
    likeliest
        Slots × items: γ at maximum likelihood, as `maximise_likelihood` returns it.

    Examples
    --------
    >>> seen = Rankings([[0, 1], [1, 0]], [[22, 14], [20, 15]], [50, 50], items=2)
    >>> odds = np.outer([1.0, 0.7], [0.43, 0.40])
    >>> [test.is_found for test in find_departures(seen, odds, odds)]
    [False, False, False]
    """
    lists = _Lists.of(rankings, odds)
    filled = 1.0 / np.maximum(1, (rankings.shown != EMPTY).sum(axis=1))[:, None]
    log_odds = np.log1p(lists.odds)
    below = log_odds[:, ::-1].cumsum(axis=1)[:, ::-1] - log_odds
    # bots click always, so that fewer of them matter where visitors rarely click
    share = BOTS * float(rankings.clicks.sum() / max(1, rankings.rounds))
    nuisance = _ItemsAndSlots.of(lists)
    of_bots = filled / ((1.0 - share) * lists.chances + share * filled)
    bots = _directed("bots", lists, nuisance, of_bots, share, share * filled[:, 0])
    top_to_bottom = _directed("top to bottom", lists, nuisance, below, 1.0)
    mixed = _mixed_visitors(_Lists.of(rankings, likeliest), odds[0])
    # mixed visitors also turn these two scores around
    p_values = [mixed.p_value, 1.0 - bots.p_value, 1.0 - top_to_bottom.p_value]
    return [bots, top_to_bottom, mixed._replace(p_value=min(1.0, 3.0 * float(np.fmin.reduce(p_values))))]


class _Lists(NamedTuple):
    """Distinct lists as arrays, lists × slots; the odds of an empty slot are 0."""

    #: 0 for an empty slot
    items: IntArray
    #: J
    all_items: int
    odds: FloatArray
    #: p = γ/(1 + S), and by list 1/(1 + S)
    chances: FloatArray
    no_click: FloatArray
    clicks: IntArray
    passes: IntArray
    times: IntArray

    @classmethod
    def of(cls, rankings: Rankings, odds: FloatArray) -> _Lists:
        shown = rankings.shown
        items = np.maximum(shown, 0)
        gamma = np.where(shown == EMPTY, 0.0, odds[np.arange(shown.shape[1]), items])
        no_click = 1.0 / (1.0 + gamma.sum(axis=1))
        return cls(
            items,
            rankings.items,
            gamma,
            gamma * no_click[:, None],
            no_click,
            rankings.clicks,
            rankings.passes,
            rankings.times,
        )

    def some(self, times: IntArray) -> _Lists:
        """The lists with these times, without their clicks."""
        used = times > 0
        return _Lists(
            self.items[used],
            self.all_items,
            self.odds[used],
            self.chances[used],
            self.no_click[used],
            self.clicks[used],
            self.passes[used],
            times[used],
        )

    def residuals(self, rng: np.random.Generator) -> FloatArray:
        """Normal residuals with the covariance of clicks, T(diag p - pp')."""
        roots = np.sqrt(np.column_stack([self.chances, self.no_click])) * rng.normal(
            size=(len(self.times), self.chances.shape[1] + 1)
        )
        of_slots: FloatArray = roots[:, :-1] - self.chances * roots.sum(axis=1)[:, None]
        return of_slots * np.sqrt(self.times)[:, None]


class _ItemsAndSlots(NamedTuple):
    """The constants of items and slots that a score must not depend on."""

    lists: _Lists
    #: Tp, lists × slots; 0 for rare items, for z of a rare item depends on its own clicks, through its estimate
    weights: FloatArray
    #: slots × items, from 0: the number of each cell's pair, and the sums of the weights by pair
    pairs: IntArray
    by_pair: FloatArray

    @classmethod
    def of(cls, lists: _Lists) -> _ItemsAndSlots:
        weights, slots = lists.times[:, None] * lists.chances, lists.chances.shape[1]
        pairs = (np.arange(slots) * lists.all_items + lists.items).ravel()
        by_pair = np.bincount(pairs, weights.ravel(), slots * lists.all_items).reshape(slots, lists.all_items)
        is_tested = by_pair.sum(axis=0) >= MIN_EXPECTED_CLICKS
        return cls(lists, np.where(is_tested[lists.items], weights, 0.0), pairs, np.where(is_tested, by_pair, 0.0))

    def subtracted_from(self, h: FloatArray) -> FloatArray:
        """h less a constant for each item and slot: its weighted sum over each item and each slot is then 0."""
        sums = np.bincount(self.pairs, (self.weights * h).ravel(), self.by_pair.size).reshape(self.by_pair.shape)
        by_item = np.maximum(self.by_pair.sum(axis=0), 1e-300)
        shares = self.by_pair / by_item
        system = np.diag(self.by_pair.sum(axis=1)) - shares @ self.by_pair.T
        of_slots = np.linalg.lstsq(system, sums.sum(axis=1) - shares @ sums.sum(axis=0), rcond=1e-10)[0]
        of_items = (sums.sum(axis=0) - of_slots @ self.by_pair) / by_item
        return np.asarray(np.where(self.weights > 0.0, h - of_items[self.lists.items] - of_slots, 0.0))


def _directed(
    departure: Departure,
    lists: _Lists,
    nuisance: _ItemsAndSlots,
    z: FloatArray,
    size: float,
    shift: FloatArray | None = None,
) -> DepartureTest:
    """The one-sided score test of βz > 0.

    `shift` is E(n - γn₀) per round at the reference `size`, the same for all slots of a list; pz if it is None.
    """
    h = nuisance.subtracted_from(z - np.einsum("ls,ls->l", z, lists.chances)[:, None])
    total = np.einsum("ls,ls->l", h, lists.odds)
    variance = float(lists.times @ (np.einsum("ls,ls,ls->l", h, h, lists.chances) + lists.no_click * total**2))
    if variance <= NO_VARIATION * float(lists.times @ np.einsum("ls,ls,ls->l", z, z, lists.chances)):
        return DepartureTest(departure, math.nan, math.inf, departure != "bots")
    error = math.sqrt(variance)
    score = (float(np.einsum("ls,ls->", h, lists.clicks)) - float(total @ lists.passes)) / error
    # the score that is expected at the reference size
    reference = (variance if shift is None else float((lists.times * shift) @ h.sum(axis=1))) / error
    part = _noticed(TEST_LEVEL) / max(reference, 1e-300)
    is_small = reference <= CLOSE * math.sqrt(lists.clicks.sum())
    # bots distort estimates even if these then predict clicks well
    is_conclusive = part * size <= MAX_BOTS if departure == "bots" else is_small or part <= 1.0
    return DepartureTest(departure, _upper_tail(score), part * size, is_conclusive)


def _mixed_visitors(lists: _Lists, alpha: FloatArray) -> DepartureTest:
    """The largest eigenvalue of the scores of u_iu_j over pairs of items.

    Its law under the model is that of scores with normal residuals, drawn for some of the lists: a gamma law with the
    mean, the variance and the skewness of these draws. The scores are not divided by their standard errors: items that
    tell little would add as much noise as those that tell much.

    The test is conclusive if tastes that differ as much as `alpha` does would show a larger eigenvalue than this with
    the probability `POWER`. Opposite tastes make items look alike, which is no evidence of visitors who are alike.
    """
    pairs = _Pairs.of(lists, _most_clicked(lists))
    means = pairs.means()
    information = pairs.information(means)
    is_small = TASTES**2 * math.sqrt(information.sum() / 2.0) <= NEGLIGIBLE * math.sqrt(lists.clicks.sum())
    if not information.any():
        return DepartureTest("mixed visitors", math.nan, math.inf, is_small)

    def largest(scores: FloatArray) -> float:
        # a score is negative where two items that please the same visitors take clicks from each other
        return float(-np.linalg.eigvalsh(np.where(information > 0.0, scores + scores.T, 0.0))[0])

    seen = largest(pairs.scores(lists.clicks - lists.times[:, None] * lists.chances, means))
    rng = np.random.default_rng(0)
    rounds = int(lists.times.sum())
    some = lists.some(rng.multinomial(min(DRAWN, rounds), lists.times / rounds))
    few, scale = _Pairs.of(some, pairs.place), math.sqrt(rounds / min(DRAWN, rounds))

    def drawn(count: int) -> list[float]:
        return [scale * largest(few.scores(some.residuals(rng), means)) for _ in range(count)]

    law = _EigenvalueLaw.of(every := drawn(MATRICES))
    if seen > law.mean + DOUBTFUL * law.deviation:
        law = _EigenvalueLaw.of(every + drawn(MORE_MATRICES))
    # with tastes of ±u the scores have an eigenvalue of θ = u² times that of the information, noise of the norm 2σ
    # makes that θ + σ²/θ, and it varies as the scores in the direction of its vector do
    values, vectors = np.linalg.eigh(information)
    squares = vectors[:, -1] ** 2
    limit = max(law.mean, seen) + _noticed(0.5) * math.sqrt(2.0 * squares @ information @ squares)
    smallest = (limit + math.sqrt(limit**2 - law.mean**2)) / 2.0 / float(values[-1])
    return DepartureTest(
        "mixed visitors",
        law.tail(seen),
        math.exp(2.0 * math.sqrt(smallest)),
        is_small or smallest <= pairs.spread(alpha) ** 2,
    )


class _EigenvalueLaw(NamedTuple):
    """The law of the largest eigenvalue of a random matrix, a gamma law."""

    mean: float
    deviation: float
    skewness: float

    @classmethod
    def of(cls, drawn: Sequence[float]) -> _EigenvalueLaw:
        """The law with the moments of these draws."""
        mean, deviation = float(np.mean(drawn)), float(np.std(drawn, ddof=1))
        skewness = float(np.mean(((np.array(drawn) - mean) / deviation) ** 3))
        return cls(mean, deviation, max(TRACY_WIDOM_SKEWNESS, skewness))

    def tail(self, value: float) -> float:
        """The probability of a larger value."""
        from scipy.special import gammaincc

        shape = 4.0 / self.skewness**2
        return float(gammaincc(shape, max(0.0, shape + math.sqrt(shape) * (value - self.mean) / self.deviation)))


def _most_clicked(lists: _Lists) -> IntArray:
    """For each item its place among the most clicked ones, or -1."""
    clicks = np.bincount(lists.items.ravel(), lists.clicks.ravel(), lists.all_items)
    used = np.argsort(-clicks, kind="stable")[:MAX_ITEMS]
    place = np.full(lists.all_items, -1)
    place[used] = np.arange(len(used))
    return place


class _Pairs(NamedTuple):
    """Pairs of items on the same lists."""

    #: for each item its place among the tested ones, or -1
    place: IntArray
    #: the cells of tested items, lists × slots: row and slot, the place of the item, p, and the expected clicks
    cells: tuple[Any, ...]
    item: IntArray
    chance: FloatArray
    expected: FloatArray
    #: where the cells of each list start
    starts: IntArray

    @classmethod
    def of(cls, lists: _Lists, place: IntArray) -> _Pairs:
        """Of the items that have a place."""
        places = np.where(lists.odds > 0.0, place[lists.items], -1)
        cells = np.nonzero(places >= 0)
        chance = lists.chances[cells]
        starts = np.concatenate([[0], np.cumsum((places >= 0).sum(axis=1))])
        return cls(place, cells, places[cells], chance, lists.times[cells[0]] * chance, starts)

    def sums(self, of_one: FloatArray, of_other: FloatArray) -> FloatArray:
        """Σ over lists of a value of one item, times a value of the other: items × items."""
        sums = np.zeros(2 * (int(self.place.max()) + 1,))
        add_products(self.starts, self.item, of_one, of_other, sums)
        return sums

    def total(self, values: FloatArray) -> FloatArray:
        """Σ over lists, by item."""
        return np.asarray(np.bincount(self.item, values, int(self.place.max()) + 1)[:, None], np.float64)

    def means(self) -> FloatArray:
        """The mean of p_j over the expected clicks of i."""
        return self.sums(self.expected, self.chance) / np.maximum(self.total(self.expected), 1e-300)

    def scores(self, residuals: FloatArray, means: FloatArray) -> FloatArray:
        """Σ_A (n_i - Tp_i)(p_j - its mean); with its transpose, the score of -u_iu_j."""
        of_cells = residuals[self.cells]
        return self.sums(of_cells, self.chance) - means * self.total(of_cells)

    def spread(self, alpha: FloatArray) -> float:
        """The standard deviation of log α, from all pairs that were on a list together."""
        of_items = alpha[np.argsort(self.place)[-int(self.place.max()) - 1 :]]
        is_known = (of_items > 0.0) & np.isfinite(of_items)
        log_alpha = np.log(np.where(is_known, of_items, 1.0))
        together = self.sums(np.ones(len(self.item)), np.ones(len(self.item))) > 0.0
        used = together & is_known & is_known[:, None] & ~np.eye(len(together), dtype=bool)
        differences = (log_alpha - log_alpha[:, None])[used]
        return math.sqrt(float((differences**2).mean()) / 2.0) if used.any() else 0.0

    def information(self, means: FloatArray) -> FloatArray:
        """The variance of the scores; 0 for a pair with few clicks of one with the other on the list, or without it."""
        squares, total = self.chance**2, self.total(self.expected)
        half = self.sums(self.expected, squares) - total * means**2
        both = self.sums(self.expected * self.chance, squares)
        together = self.sums(self.expected, np.ones(len(squares)))
        fewest = np.minimum(together, total - together)
        is_tested = np.minimum(fewest, fewest.T) >= MIN_EXPECTED_CLICKS
        return np.where(is_tested, np.maximum(half + half.T - 2.0 * both, 0.0), 0.0)


def find_changed_tastes(
    quarter: IntArray, shown: IntArray, clicked: IntArray, weight: FloatArray, odds: FloatArray
) -> DepartureTest:
    """Test whether items gained or lost clicks in the course of a log.

    Given the clicks N of an item, those before a split are binomial with the share of its expected clicks. The squared
    deviations of all items are added up, so that items with few clicks count too.

    Parameters
    ----------
    quarter
        The quarter of the log that each impression belongs to, 0 to 3.
    shown, clicked
        The list of each impression, and its clicked slot or NO_CLICK.
    weight
        How many impressions each stands for.
    odds
        Slots × items: the fitted γ.
    """
    from scipy.special import chdtrc

    items = np.maximum(shown, 0)
    chances = np.where(shown == EMPTY, 0.0, odds[np.arange(shown.shape[1]), items])
    chances /= 1.0 + chances.sum(axis=1)[:, None]
    place = quarter[:, None] * odds.shape[1] + items
    hit = np.flatnonzero(clicked != NO_CLICK)

    def by_quarter(places: IntArray, values: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(places.ravel(), values.ravel(), 4 * odds.shape[1]).reshape(4, -1), np.float64)

    clicks = by_quarter(place[hit, clicked[hit]], weight[hit])
    expected = by_quarter(place, weight[:, None] * chances)
    total, n = expected.sum(axis=0), clicks.sum(axis=0)
    seen = total > 0.0
    clicks, expected, total, n = clicks[:, seen], expected[:, seen], total[seen], n[seen]
    # an impression has at most one click, so that clicks vary by less than counts
    spread = 1.0 - by_quarter(place, weight[:, None] * chances**2).sum(axis=0)[seen] / total
    p_values, factors = [], []
    for split in (1, 2, 3):
        share = expected[:split].sum(axis=0) / total
        pq = share * (1.0 - share)
        squares = float(((clicks[:split].sum(axis=0) - n * share) ** 2 / spread).sum())
        mean, variance = float((n * pq).sum()), float((n * pq * (1.0 + (2.0 * n - 6.0) * pq)).sum())
        pairs = float((n * np.maximum(n - 1.0, 0.0) * pq**2).sum())
        if pairs > 0.0:
            degrees = 2.0 * mean**2 / variance
            p_values.append(float(chdtrc(degrees, squares * degrees / mean)))
            # odds that change by exp(v) add v²·pairs to the squares
            factors.append(math.exp(math.sqrt(_noticed(TEST_LEVEL / 3) * math.sqrt(variance) / pairs)))
    if not p_values:
        return DepartureTest("changed tastes", math.nan, math.inf, False)
    return DepartureTest(
        "changed tastes", min(1.0, 3 * min(p_values)), min(factors), min(factors) <= math.exp(2.0 * TASTES)
    )


def _upper_tail(score: float) -> float:
    from scipy.special import ndtr

    return float(ndtr(-score))


def _noticed(level: float) -> float:
    """The expected score, in standard errors, at which a test of this level has the power `POWER`."""
    from scipy.special import ndtri

    return float(-ndtri(level) - ndtri(1.0 - POWER))
