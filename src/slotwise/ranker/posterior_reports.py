"""Posterior reports of a learner: estimates, best lists, and draws of what lists bring."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

import numpy as np

from slotwise.core.types import EMPTY, FloatArray
from slotwise.posterior import Posterior
from slotwise.ranker.estimates import Estimates
from slotwise.ranker.item_catalog import Ruling
from slotwise.ranker.list_value_draws import draw_best_lists, draw_prospects
from slotwise.ranker.policy_runner import PolicyFactory
from slotwise.ranker.posterior_cache import Beliefs, best_list


class PosteriorReports:
    """The part of a learner that reads the posterior and changes nothing."""

    def __init__(self, factory: PolicyFactory) -> None:
        self._factory = factory
        self._items = factory.items
        self._beliefs = Beliefs(factory)

    def estimates(self, level: float = 0.95, segment: int | None = None) -> Estimates:
        """What each item and slot is worth to everybody, or to a segment; found anew only after something changed.

        For everybody they rest on what was counted of all segments together, as if there were but one.
        """
        with self._posterior(segment) as found:
            return Estimates.of(found, tuple(self._items.ids), self._factory.counted.shown(segment), level)

    def best_list(self, segment: int | None = None, pin: Mapping[str, int] | None = None) -> tuple[str, ...]:
        """The list of the largest expected value, for what is expected of each item by everybody, or by a segment."""
        with self._posterior(segment) as found:
            return self._items.named(best_list(found, self._ruling((), pin)))

    def slot_chances(self, segment: int | None = None, pin: Mapping[str, int] | None = None) -> list[dict[str, float]]:
        """Per slot, how likely each item is to be there in the best list; those that are not likely are left out.

        >>> from slotwise.ranker import Learner
        >>> learner = Learner(["a", "b", "c"], slots=1, rng=np.random.default_rng(1))
        >>> learner.absorb([[40, 30, 10]], [[100, 100, 100]])
        >>> [sorted(chances) for chances in learner.slot_chances()]
        [['a', 'b']]
        """
        with self._posterior(segment) as found:
            drawn = draw_best_lists(found, self._ruling((), pin))
        chances = []
        for column in drawn.T:
            items, counts = np.unique(column[column != EMPTY], return_counts=True)
            chances.append(dict(zip(self._items.named(items), (counts / len(drawn)).tolist(), strict=True)))
        return chances

    def prospects(self, lists: Iterable[Iterable[str]], segment: int | None = None) -> FloatArray:
        """Draws of what a view of each list brings by what is believed, lists × draws; see `ranker.prospects`.

        >>> from slotwise.ranker import Learner
        >>> learner = Learner(["a", "b", "c"], slots=1, rng=np.random.default_rng(1))
        >>> learner.absorb([[40, 20, 10]], [[100, 100, 100]])
        >>> drawn = learner.prospects([["a"], ["c"]])
        >>> drawn.mean(axis=1).round(1).tolist()
        [0.3, 0.1]
        """
        rankings = [np.array(self._items.numbered("lists", items), np.int64) for items in lists]
        with self._posterior(segment) as found:
            return draw_prospects(found, rankings)

    def choose_best(
        self, exclude: Iterable[str] = (), pin: Mapping[str, int] | None = None, segment: int = 0
    ) -> tuple[str, ...]:
        """The best list for one page view, in place of what `choose` would show to learn more, under the same rules.

        It rests on what was learned, found anew whenever a fiftieth more was.
        """
        number, ruling = self._segment_or_all(segment), self._ruling(exclude, pin)
        with self._factory.kernels.for_estimates(len(self._items)):
            return self._items.named(best_list(self._beliefs.best(number), ruling))

    @contextmanager
    def _posterior(self, segment: int | None) -> Iterator[Posterior]:
        """The posterior of a segment or of everybody, while compiled code may be used on it."""
        with self._factory.kernels.for_estimates(len(self._items)):
            yield self._beliefs.posterior(self._segment_or_all(segment))

    def _ruling(self, exclude: Iterable[str], pin: Mapping[str, int] | None) -> Ruling:
        return self._items.ruling(self._items.rules(exclude, pin, self._factory.slots))

    def _segment_or_all(self, segment: int | None) -> int | None:
        """A single segment is everybody."""
        if segment is None:
            return None
        number = self._factory.segment(segment)
        return number if self._factory.segments > 1 else None
