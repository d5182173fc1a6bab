"""The `Ranker`: rank, show, observe, from any number of threads."""

from __future__ import annotations

import os
import secrets
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.core.tally import Tally
from slotwise.core.types import HalfLife, IntArray
from slotwise.policies import PolicySpec
from slotwise.ranker.estimates import Estimates
from slotwise.ranker.feature_table import Given
from slotwise.ranker.learner import Learner
from slotwise.ranker.persistence import Saved, contents_of, read, write
from slotwise.ranker.segment_names import Name, SegmentNames, checked_name

#: rankings that may be pending; beyond that the oldest expire
MAX_PENDING = 100_000
#: segments that may be named
MAX_NAMED = 1_000


@dataclass(frozen=True)
class Ranking:
    """One list for one page view: the item of the first slot, of the second, and so on."""

    id: str
    items: tuple[str, ...]
    #: the visitor's segment, if one was named
    segment: str | None = None


class Ranker:
    """Learns the best order of named items from clicks.

    Every method may be called from any thread. A ranking is pending until its outcome is observed; at most 100,000 are
    pending, and beyond that the oldest expire. The policy takes pending outcomes into account: a new item is not shown
    to everybody only because its first outcomes are late. Of past decisions only sums are kept.

    Parameters
    ----------
    items
        Ids of the items, or a mapping of ids to features.
    slots
        Number of slots of the page.
    policy
        Id of a registered policy, such as ``"thompson-sampling"``; the default policy if None.
    position_bias
        Position bias of each slot; learned if None.
    values
        Value of a click on each item; 1 for items that are not in it. Lists then maximise value instead of clicks.
    features
        For each item a mapping of names to numbers and categories.
    half_life
        Page views after which a count weighs half, ``"auto"`` to follow detected changes, or None to forget nothing.
    new_items_at_most
        Largest share of the slots for items without an observed outcome; the policy's default if None.
    tally
        Counts of earlier page views, in the order of `items`, or with an attribute `item_ids`.
    seed
        Seed of the random numbers.

    Examples
    --------
    >>> from slotwise import Ranker
    >>> ranker = Ranker(items=["a", "b", "c"], slots=2, seed=1)
    >>> ranking = ranker.rank(exclude=["c"], pin={"b": 1})      # slots count from 1
    >>> ranking.items
    ('b', 'a')
    >>> ranker.observe(ranking, clicked="a")                    # or clicked=None
    >>> ranker.estimates()["a"].clicks
    1
    """

    def __init__(
        self,
        items: Iterable[str] | Given,
        slots: int,
        *,
        policy: str | PolicySpec | None = None,
        position_bias: ArrayLike | None = None,
        values: Mapping[str, float] | None = None,
        features: Given | None = None,
        half_life: HalfLife = None,
        new_items_at_most: float | None = None,
        tally: Tally | None = None,
        seed: int | None = None,
    ) -> None:
        if seed is not None:
            validation.whole_number("seed", seed, at_least=0)
        if isinstance(items, Mapping):
            if features is not None:
                raise InvalidInput(
                    f"features must be omitted if items map to their features, got {validation.short(features)}"
                )
            features = items
        learner = Learner(
            list(items) if isinstance(items, Mapping) else items,
            slots,
            policy=policy,
            position_bias=position_bias,
            values=values,
            features=features,
            half_life=half_life,
            new_items_at_most=new_items_at_most,
            rng=np.random.default_rng(seed),
        )
        self._restore(learner, Saved(pending={}, expired=0, segments=SegmentNames(), exploring=True))
        if tally is not None:
            self.update_from_tally(tally)

    def _restore(self, learner: Learner, saved: Saved) -> None:
        self._lock = threading.RLock()
        self._learner = learner
        self._pending = OrderedDict(saved.pending)
        self._expired = saved.expired
        self._segments = saved.segments
        self._exploring = saved.exploring
        for shown, segment in self._pending.values():
            learner.add_pending(shown, segment)

    def rank(self, exclude: Iterable[str] = (), pin: Mapping[str, int] | None = None, segment: Name = None) -> Ranking:
        """Choose the list for one page view.

        Parameters
        ----------
        exclude
            Items that may not be in the list.
        pin
            Items and the slots that they must be in, counted from 1.
        segment
            The visitor's segment, in any words. The items of a segment that was never named before are expected to be
            as attractive to it as to the others.

        Returns
        -------
        Ranking
            Shorter than the number of slots if fewer items are left; the last slots then stay empty.
        """
        with self._lock:
            number = self._segment_number(segment)
            choose = self._learner.choose if self._exploring else self._learner.choose_best
            ranking = Ranking(secrets.token_hex(16), choose(exclude, pin, number), checked_name(segment))
            self._pending[ranking.id] = ranking.items, number
            self._learner.add_pending(ranking.items, number)
            if len(self._pending) > MAX_PENDING:
                self._learner.remove_pending(*self._pending.popitem(last=False)[1])
                self._expired += 1
            return ranking

    def observe(self, ranking: Ranking | str, clicked: str | list[str] | tuple[str, ...] | None) -> None:
        """Learn the outcome of a ranking.

        Parameters
        ----------
        ranking
            The ranking, or its id.
        clicked
            The item that was clicked, several of them in the order of the clicks, or None.
        """
        id = ranking.id if isinstance(ranking, Ranking) else ranking
        with self._lock:
            pending = self._pending.get(id) if isinstance(id, str) else None
            if pending is None:
                raise InvalidInput(f"ranking {validation.short(id)} is not pending: unknown, or observed before")
            shown, segment = pending
            self._learner.learn(shown, clicked, segment)
            # last, so that a rejected outcome can be corrected
            self._learner.remove_pending(shown, segment)
            del self._pending[id]

    @property
    def exploring(self) -> bool:
        """Whether lists are chosen to learn from; otherwise each segment sees its best list. Outcomes always count."""
        return self._exploring

    @exploring.setter
    def exploring(self, exploring: bool) -> None:
        if not isinstance(exploring, bool):
            raise InvalidInput(f"exploring must be true or false, got {exploring!r}")
        with self._lock:
            self._exploring = exploring

    def update_from_tally(self, tally: Tally, segment: Name = None) -> None:
        """Add counts of page views elsewhere.

        Parameters
        ----------
        tally
            Counts in the order of `items`, or with `item_ids` of its own.
        segment
            The segment of the page views; None if they have none.
        """
        with self._lock:
            self._learner.update_from_tally(*_in_order(tally, self.items), segment=self._segment_number(segment))

    def add(self, item: str, value: float = 1.0, features: Mapping[str, float | str] | None = None) -> None:
        """Add a new item, or show a retired one again.

        Parameters
        ----------
        item
            Its id.
        value
            Value of a click on it.
        features
            Its features; those of a retired item stay if None.
        """
        with self._lock:
            self._learner.add(item, value, features)

    def retire(self, item: str) -> None:
        """Stop showing an item; its counts stay.

        Parameters
        ----------
        item
            The name of the item.
        """
        with self._lock:
            self._learner.retire(item)

    def set_value(self, item: str, value: float) -> None:
        """Set the value of a click on an item from here on.

        Parameters
        ----------
        item
            The name of the item.
        value
            The value of a click on it.
        """
        with self._lock:
            self._learner.set_value(item, value)

    def estimates(self, level: float = 0.95, segment: Name = None) -> Estimates:
        """Estimate attractiveness and position bias, with credible intervals.

        Parameters
        ----------
        level
            Probability of the credible intervals.
        segment
            The segment that the estimates are for; they are shrunk toward those of the others. None is for everybody,
            from the counts of all segments together.
        """
        with self._lock:
            return self._learner.estimates(level, self._segment_or_all(segment))

    def best_list(self, segment: Name = None) -> tuple[str, ...]:
        """Return the list with the largest expected value.

        Parameters
        ----------
        segment
            A segment; None for everybody.
        """
        with self._lock:
            return self._learner.best_list(self._segment_or_all(segment))

    def tally(self, segment: Name = None) -> Tally:
        """Return the counts so far, in the order of `items`.

        Parameters
        ----------
        segment
            A segment; None for everybody.
        """
        with self._lock:
            return self._learner.tally(self._segment_or_all(segment))

    @property
    def segments(self) -> tuple[str, ...]:
        """The segments that were named, in the order in which they came."""
        with self._lock:
            return self._segments.names

    @property
    def items(self) -> tuple[str, ...]:
        """All items, including retired ones, in the order of the tally."""
        return self._learner.items

    @property
    def retired(self) -> tuple[str, ...]:
        """The items that are no longer shown."""
        with self._lock:
            return self._learner.retired

    @property
    def pending(self) -> int:
        """The number of rankings whose outcome was not observed yet."""
        return len(self._pending)

    @property
    def expired(self) -> int:
        """The number of rankings that expired before their outcome was observed."""
        return self._expired

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the ranker to a file; an existing file survives a failure.

        Parameters
        ----------
        path
            The path of the file.
        """
        with self._lock:
            saved = Saved(self._pending, self._expired, self._segments, self._exploring)
            contents = contents_of(self._learner, saved)
        write(path, contents)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Ranker:
        """Read a file of `save`. The policy starts again from the counts.

        Parameters
        ----------
        path
            The path of a file of `save`.

        Raises
        ------
        UnreadableFile
            If the file is damaged, or not one of `save`.
        """
        ranker = cls.__new__(cls)
        ranker._restore(*read(path))
        return ranker

    def __repr__(self) -> str:
        return (
            f"Ranker({len(self.items)} items, {self._learner.slots} slots, policy={str(self._learner.policy)!r}, "
            f"{self._learner.rounds:,} page views, {self.pending:,} pending)"
        )

    def _segment_or_all(self, name: Name) -> int | None:
        return None if name is None else self._segments.number(name)

    def _segment_number(self, name: Name) -> int:
        """The number of a segment, new or not."""
        number = self._segments.known(name)
        if number is None:
            if len(self._segments.names) == MAX_NAMED:
                raise InvalidInput(
                    f"segment {validation.short(name)} exceeds the maximum of {len(self._segments.names):,} segments"
                )
            self._learner.add_segment()
            number = self._segments.add(name)
        return number


def _in_order(tally: Tally, items: tuple[str, ...]) -> tuple[IntArray, IntArray, IntArray]:
    """Clicks, passes and, if the tally has them, showings of `items`, in their order."""
    if not isinstance(tally, Tally):
        raise InvalidInput(f"tally must be a Tally, got {validation.short(tally)}")
    showings = getattr(tally, "showings", tally.clicks + tally.passes)
    ids = getattr(tally, "item_ids", None)
    if ids is None:
        return tally.clicks, tally.passes, showings.sum(axis=0)
    number = {item: place for place, item in enumerate(items)}
    for item in ids:
        if item not in number:
            raise InvalidInput(f"the tally counts {item!r}, which is not one of the {len(items)} items")
    columns = [number[item] for item in ids]
    ordered = np.zeros((3, tally.slots, len(items)), np.int64)
    ordered[:, :, columns] = tally.clicks, tally.passes, showings
    return ordered[0], ordered[1], ordered[2].sum(axis=0)
