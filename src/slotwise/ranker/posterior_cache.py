"""What is believed of items and slots, for everybody and for each segment, and the best lists by it."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from slotwise.core.types import Ranking
from slotwise.posterior import HierarchicalPosterior, Posterior, believed, posterior_of
from slotwise.ranker.item_catalog import Ruling
from slotwise.ranker.policy_runner import PolicyFactory

#: a best list to be shown is found anew when so much more was seen, in parts of all that was
OUTDATED = 0.02


class _Best(NamedTuple):
    posterior: Posterior
    #: rounds that were counted when it was found
    rounds: int


class Beliefs:
    """Found when they are asked for, and kept until something changes."""

    def __init__(self, factory: PolicyFactory) -> None:
        self._factory = factory
        #: of all segments, or, under True, of everybody as one
        self._believed: dict[bool, HierarchicalPosterior] = {}
        #: by segment, None for everybody
        self._posteriors: dict[int | None, Posterior] = {}
        self._best: dict[int | None, _Best] = {}

    def more_was_seen(self) -> None:
        """Find all anew but the best lists, which may wait."""
        self._believed.clear()
        self._posteriors.clear()

    def something_changed(self) -> None:
        """Find all anew."""
        self.more_was_seen()
        self._best.clear()

    def worth_changed(self) -> None:
        """Keep what is believed, and find anew what is best."""
        self._posteriors.clear()
        self._best.clear()

    def posterior(self, segment: int | None) -> Posterior:
        """Of a segment, or of everybody: of what was counted of all segments together, as if there were but one."""
        if segment not in self._posteriors:
            setting, counts, worth = self._factory.setting, self._factory.counted, self._factory.items.worth
            everybody = segment is None
            if everybody not in self._believed:
                counted = counts.for_everybody() if everybody else counts.in_order()
                seen_by = replace(setting, segments=1) if everybody else setting
                self._believed[everybody] = believed(
                    seen_by, counted, memory=self._factory.policy.options.get("memory")
                )
            self._posteriors[segment] = posterior_of(
                self._believed[everybody],
                counts.tally(segment),
                setting.position_bias,
                segment=segment or 0,
                values=worth.values.copy(),
                excluded=worth.excluded,
            )
        return self._posteriors[segment]

    def best(self, segment: int | None) -> Posterior:
        """The same, up to a fiftieth out of date: to be asked in every decision."""
        known = self._best.get(segment)
        rounds = self._factory.counts.rounds
        if known is None or rounds > known.rounds * (1.0 + OUTDATED):
            known = _Best(self.posterior(segment), rounds)
            self._best[segment] = known
        return known.posterior


def best_list(posterior: Posterior, ruling: Ruling) -> Ranking:
    """The best list under the rules of a decision; slots for which nothing is left are those at the end."""
    slots = np.arange(posterior.tally.slots) < ruling.allowed
    return posterior.best_list(slots, excluded=ruling.excluded, pinned=ruling.pinned)
