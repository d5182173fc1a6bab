"""The posterior as a learner reports it: estimates, best lists, and draws of list values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from slotwise.core.types import EMPTY, FloatArray, IntArray, Ranking
from slotwise.posterior import (
    HierarchicalPosterior,
    Posterior,
    draw_pair_odds,
    draw_parameters,
    posterior_after,
    summarize_posterior,
)
from slotwise.posterior.best_list_draws import best_list
from slotwise.posterior.posterior_interface import set_segment
from slotwise.ranker.estimates import Estimates
from slotwise.ranker.item_catalog import NO_NEWCOMERS, CheckedConstraints
from slotwise.ranker.policy_runner import PolicyFactory

#: a best list is computed again when the rounds have grown by this share
OUTDATED = 0.02


class _Best(NamedTuple):
    hierarchical: HierarchicalPosterior
    #: the rounds that it was computed from
    rounds: int
    posteriors: dict[int | None, Posterior]


class PosteriorCache:
    """Computes a posterior when it is first read, and again after the counts, items or values changed."""

    def __init__(self, factory: PolicyFactory) -> None:
        self._factory = factory
        #: of all segments, or, under True, of everybody as one segment
        self._hierarchical: dict[bool, HierarchicalPosterior] = {}
        #: by segment, None for everybody
        self._posteriors: dict[int | None, Posterior] = {}
        self._best: dict[bool, _Best] = {}

    def copy(self, factory: PolicyFactory) -> PosteriorCache:
        """Return a cache for other counts that still has the posteriors of best lists."""
        cache = PosteriorCache(factory)
        cache._best = dict(self._best)
        return cache

    def counts_grew(self) -> None:
        """Drop all but the posteriors of best lists, which may be a little out of date."""
        self._hierarchical.clear()
        self._posteriors.clear()

    def clear(self) -> None:
        """Drop all."""
        self.counts_grew()
        self._best.clear()

    def values_changed(self) -> None:
        """Drop all that depends on values and retired items."""
        self._posteriors.clear()
        for best in self._best.values():
            best.posteriors.clear()

    def posterior(self, segment: int | None) -> Posterior:
        """The posterior of a segment; or of everybody, from the counts of all segments together."""
        if segment not in self._posteriors:
            self._posteriors[segment] = self._summary(self._fitted(segment is None), segment)
        return self._posteriors[segment]

    def best(self, segment: int | None) -> Posterior:
        """The same, out of date by up to 2 % of the rounds: quick enough for every decision."""
        best = self.fit_best(all_segments=segment is not None)
        if segment not in best.posteriors:
            best.posteriors[segment] = self._summary(best.hierarchical, segment)
        return best.posteriors[segment]

    def fit_best(self, *, all_segments: bool) -> _Best:
        """The posterior that best lists are from; fitted again if it is out of date."""
        best, rounds = self._best.get(not all_segments), self._factory.counts.rounds
        if best is None or rounds > best.rounds * (1.0 + OUTDATED):
            best = self._best[not all_segments] = _Best(self._fitted(not all_segments), rounds, {})
        return best

    def _fitted(self, everybody: bool) -> HierarchicalPosterior:
        if everybody not in self._hierarchical:
            task, counts = self._factory.task, self._factory.counted
            counted = counts.for_everybody() if everybody else counts.in_order()
            task = replace(task, segments=1) if everybody else task
            self._hierarchical[everybody] = posterior_after(
                task, counted, half_life=self._factory.policy.options.get("half_life")
            )
        return self._hierarchical[everybody]

    def _summary(self, hierarchical: HierarchicalPosterior, segment: int | None) -> Posterior:
        worth = self._factory.items.worth
        return summarize_posterior(
            hierarchical,
            self._factory.counted.tally(segment),
            self._factory.task.position_bias,
            segment=segment or 0,
            values=worth.values.copy(),
            excluded=worth.excluded,
        )


def best_under(posterior: Posterior, constraints: CheckedConstraints) -> Ranking:
    """The best list under constraints; if items are too few, the last slots stay empty."""
    slots = np.arange(posterior.tally.slots) < constraints.allowed
    return posterior.best_list(slots, excluded=constraints.excluded, pinned=constraints.pinned)


#: enough to know the ends of a 95 % interval to a tenth of its width
DRAWS: Final = 400
#: a probability from this number of lists has a standard error of at most 0.035
LISTS: Final = 200
#: the same counts always give the same draws
SEED: Final = 0


class PosteriorReports:
    """The part of a learner that reads the posterior and changes nothing."""

    def __init__(self, factory: PolicyFactory) -> None:
        self._factory = factory
        self._items = factory.items
        self._posteriors = PosteriorCache(factory)

    def estimates(self, level: float = 0.95, segment: int | None = None) -> Estimates:
        """Attractiveness and position bias with intervals, for a segment or, if None, from all counts together."""
        with self._posterior(segment) as posterior:
            return Estimates.of(posterior, tuple(self._items.ids), self._factory.counted.shown(segment), level)

    def best_list(self, segment: int | None = None, pin: Mapping[str, int] | None = None) -> tuple[str, ...]:
        """The list with the largest expected value, for a segment or for everybody."""
        with self._posterior(segment) as posterior:
            return self._items.named(best_under(posterior, self._checked_constraints((), pin)))

    def slot_chances(self, segment: int | None = None, pin: Mapping[str, int] | None = None) -> list[dict[str, float]]:
        """Per slot, the probability of each item to be there in the best list; items with none are left out.

        >>> from slotwise.ranker import Learner
        >>> learner = Learner(["a", "b", "c"], slots=1, rng=np.random.default_rng(1))
        >>> learner.update_from_tally([[40, 30, 10]], [[100, 100, 100]])
        >>> [sorted(chances) for chances in learner.slot_chances()]
        [['a', 'b']]
        """
        with self._posterior(segment) as posterior:
            drawn = _draw_best_lists(posterior, self._checked_constraints((), pin))
        chances = []
        for column in drawn.T:
            items, counts = np.unique(column[column != EMPTY], return_counts=True)
            chances.append(dict(zip(self._items.named(items), (counts / len(drawn)).tolist(), strict=True)))
        return chances

    def list_values(self, lists: Iterable[Iterable[str]], segment: int | None = None) -> FloatArray:
        """Posterior draws of the expected value of a view of each list, lists × draws.

        >>> from slotwise.ranker import Learner
        >>> learner = Learner(["a", "b", "c"], slots=1, rng=np.random.default_rng(1))
        >>> learner.update_from_tally([[40, 20, 10]], [[100, 100, 100]])
        >>> drawn = learner.list_values([["a"], ["c"]])
        >>> drawn.mean(axis=1).round(1).tolist()
        [0.3, 0.1]
        """
        rankings = [np.array(self._items.numbered("lists", items), np.int64) for items in lists]
        with self._posterior(segment) as posterior:
            return _draw_list_values(posterior, rankings)

    def choose_best(
        self,
        exclude: Iterable[str] = (),
        pin: Mapping[str, int] | None = None,
        segment: int = 0,
        candidates: Iterable[str] | None = None,
        newcomers: Iterable[str] = (),
    ) -> tuple[str, ...]:
        """The best list for one page view, without exploration, under the constraints that `choose` takes.

        It is computed again each time the page views have grown by 2 %. Newcomers count as average items.
        """
        number, seated = self._segment_or_all(segment), self._items.seated(newcomers)
        constraints = self._checked_constraints(exclude, pin, candidates, seated)
        with self._factory.kernels.for_estimates(len(self._items)):
            return self._items.named(best_under(self._posteriors.best(number), constraints), seated)

    @contextmanager
    def _posterior(self, segment: int | None) -> Iterator[Posterior]:
        """The posterior of a segment or of everybody, while compiled code may be used on it."""
        with self._factory.kernels.for_estimates(len(self._items)):
            yield self._posteriors.posterior(self._segment_or_all(segment))

    def _checked_constraints(
        self,
        exclude: Iterable[str],
        pin: Mapping[str, int] | None,
        candidates: Iterable[str] | None = None,
        newcomers: Mapping[str, int] = NO_NEWCOMERS,
    ) -> CheckedConstraints:
        return self._items.checked(self._items.constraints(exclude, pin, self._factory.slots, candidates, newcomers))

    def _segment_or_all(self, segment: int | None) -> int | None:
        """A single segment is everybody."""
        if segment is None:
            return None
        number = self._factory.segment(segment)
        return number if self._factory.segments > 1 else None


def _draw_list_values(posterior: Posterior, rankings: Sequence[IntArray]) -> FloatArray:
    """Draws of the value of a view of each list, lists × draws: Σ vγ / (1 + Σγ), all lists by the same α and λ."""
    # drawing changes a state, and this one is shared
    state = deepcopy(posterior.state)
    set_segment(state, posterior.segment)
    rng = np.random.default_rng(SEED)
    items = np.unique(np.concatenate(rankings))
    places = [np.searchsorted(items, ranking) for ranking in rankings]
    values = np.ones(len(items)) if posterior.values is None else posterior.values[items]
    drawn = np.empty((len(rankings), DRAWS))
    for draw in range(DRAWS):
        draw_parameters(state, rng)
        alpha = rng.standard_gamma(state.shape[items]) / state.rate[items]
        bias = state.position_bias if posterior.known_bias is None else posterior.known_bias
        pairs = _drawn_odds(state, alpha, items, rng)
        for row, place in enumerate(places):
            gamma = bias[: len(place)] * alpha[place] if pairs is None else pairs[np.arange(len(place)), rankings[row]]
            drawn[row, draw] = values[place] @ gamma / (1.0 + gamma.sum())
    return drawn


def _draw_best_lists(posterior: Posterior, constraints: CheckedConstraints) -> IntArray:
    """Draws of the best list under constraints, draws × slots, each for one draw of α and λ."""
    slots = np.arange(posterior.tally.slots) < constraints.allowed
    state = deepcopy(posterior.state)
    set_segment(state, posterior.segment)
    rng = np.random.default_rng(SEED)
    drawn = np.empty((LISTS, len(slots)), np.int64)
    for draw in range(LISTS):
        draw_parameters(state, rng)
        alpha = rng.standard_gamma(state.shape) / state.rate
        bias = state.position_bias if posterior.known_bias is None else posterior.known_bias
        drawn[draw] = best_list(
            alpha,
            bias,
            values=posterior.values,
            excluded=constraints.excluded,
            slots=slots,
            pinned=constraints.pinned,
            odds=_drawn_odds(state, alpha, np.arange(len(alpha)), rng),
        )
    return drawn


def _drawn_odds(
    state: HierarchicalPosterior, attractiveness: FloatArray, items: IntArray, rng: np.random.Generator
) -> FloatArray | None:
    """Draw the odds of pairs given the attractiveness of some items, 0 for others; None if the odds are λα."""
    slots, all_items = len(state.position_bias), len(state.shape)
    of_all, odds = np.zeros(all_items), np.zeros((slots, all_items))
    of_all[items] = attractiveness
    return odds if draw_pair_odds(state, of_all, odds, rng) else None
