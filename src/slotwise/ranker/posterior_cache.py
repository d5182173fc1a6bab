"""Caches posteriors, for everybody and for each segment, until the counts change."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from slotwise.core.types import Ranking
from slotwise.posterior import HierarchicalPosterior, Posterior, posterior_after, summarize_posterior
from slotwise.ranker.item_catalog import CheckedConstraints
from slotwise.ranker.policy_runner import PolicyFactory

#: a best list is computed again when the rounds have grown by this share
OUTDATED = 0.02


class _Best(NamedTuple):
    posterior: Posterior
    #: the rounds that it was computed from
    rounds: int


class PosteriorCache:
    """Computes a posterior when it is first read, and again after the counts, items or values changed."""

    def __init__(self, factory: PolicyFactory) -> None:
        self._factory = factory
        #: of all segments, or, under True, of everybody as one segment
        self._hierarchical: dict[bool, HierarchicalPosterior] = {}
        #: by segment, None for everybody
        self._posteriors: dict[int | None, Posterior] = {}
        self._best: dict[int | None, _Best] = {}

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
        self._best.clear()

    def posterior(self, segment: int | None) -> Posterior:
        """The posterior of a segment; or of everybody, from the counts of all segments together."""
        if segment not in self._posteriors:
            task, counts, worth = self._factory.task, self._factory.counted, self._factory.items.worth
            everybody = segment is None
            if everybody not in self._hierarchical:
                counted = counts.for_everybody() if everybody else counts.in_order()
                task = replace(task, segments=1) if everybody else task
                self._hierarchical[everybody] = posterior_after(
                    task, counted, half_life=self._factory.policy.options.get("half_life")
                )
            self._posteriors[segment] = summarize_posterior(
                self._hierarchical[everybody],
                counts.tally(segment),
                task.position_bias,
                segment=segment or 0,
                values=worth.values.copy(),
                excluded=worth.excluded,
            )
        return self._posteriors[segment]

    def best(self, segment: int | None) -> Posterior:
        """The same, out of date by up to 2 % of the rounds: quick enough for every decision."""
        best = self._best.get(segment)
        rounds = self._factory.counts.rounds
        if best is None or rounds > best.rounds * (1.0 + OUTDATED):
            best = _Best(self.posterior(segment), rounds)
            self._best[segment] = best
        return best.posterior


def best_under(posterior: Posterior, constraints: CheckedConstraints) -> Ranking:
    """The best list under constraints; if items are too few, the last slots stay empty."""
    slots = np.arange(posterior.tally.slots) < constraints.allowed
    return posterior.best_list(slots, excluded=constraints.excluded, pinned=constraints.pinned)
