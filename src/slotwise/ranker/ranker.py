"""The `Ranker`: rank, show, observe, from as many threads as there are."""

from __future__ import annotations

import os
import secrets
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.core.tally import Tally
from slotwise.policies import PolicyEntry
from slotwise.ranker.estimates import Estimates
from slotwise.ranker.feature_table import Given
from slotwise.ranker.learner import Learner
from slotwise.ranker.persistence import Kept, contents_of, read, write
from slotwise.ranker.segment_names import Name, Segments, checked_name

#: rankings that may wait for their outcome; beyond that the oldest are forgotten
PENDING_LIMIT = 100_000
#: segments that may be named
MAX_NAMED = 1_000


@dataclass(frozen=True)
class Ranking:
    """One list for one page view: the item of the first slot, of the second, and so on."""

    id: str
    items: tuple[str, ...]
    #: whom it is for, where that was said
    segment: str | None = None


class Ranker:
    """Learns the best order of named items from what is clicked.

    The policy is the default one unless another is named; the position bias is learned unless it is given. What is
    shown is best for clicks, or, with `values`, for what clicks are worth. A `tally` of earlier page views starts it
    warm: in the order of `items`, or with an attribute `item_ids` that says its own.

    `features` are what is known of items, each a mapping of names to numbers and categories; `items` may be such a
    mapping itself. `memory` is the half-life of what was seen, in page views, or "auto" to find one; without it nothing
    is forgotten. `new_items_at_most` is the part of the slots that items without an outcome may take. Visitors are told
    apart by `rank(segment=…)`: segments are known from the first time that they are named.

    >>> from slotwise import Ranker
    >>> ranker = Ranker(items=["a", "b", "c"], slots=2, seed=1)
    >>> ranking = ranker.rank(exclude=["c"], pin={"b": 1})      # slots count from 1
    >>> ranking.items
    ('b', 'a')
    >>> ranker.observe(ranking, clicked="a")                    # or clicked=None
    >>> ranker.estimates()["a"].clicks
    1

    Every method may be called from any thread. A ranking waits for its outcome until it is observed; at most 100,000
    wait, and beyond that the oldest are forgotten, which `forgotten` counts. While they wait, what they will tell is
    expected: a new item is not shown to everybody only because its first outcomes are late. Nothing else is kept of
    past decisions but their sums.
    """

    def __init__(
        self,
        items: Iterable[str] | Given,
        slots: int,
        *,
        policy: str | PolicyEntry | None = None,
        position_bias: Any = None,
        values: Mapping[str, float] | None = None,
        features: Given | None = None,
        memory: str | float = "none",
        new_items_at_most: float | None = None,
        tally: Tally | None = None,
        seed: int | None = None,
    ) -> None:
        if seed is not None:
            validation.whole_number("seed", seed, at_least=0)
        if isinstance(items, Mapping):
            if features is not None:
                raise InvalidInput(
                    f"items map to their features already, got features {validation.short(features)} too"
                )
            features = items
        learner = Learner(
            list(items) if isinstance(items, Mapping) else items,
            slots,
            policy=policy,
            position_bias=position_bias,
            values=values,
            features=features,
            memory=memory,
            new_items_at_most=new_items_at_most,
            rng=np.random.default_rng(seed),
        )
        self._hold(learner, Kept(pending={}, forgotten=0, segments=Segments(), is_frozen=False))
        if tally is not None:
            self.absorb(tally)

    def _hold(self, learner: Learner, kept: Kept) -> None:
        self._lock = threading.RLock()
        self._learner = learner
        self._pending = OrderedDict(kept.pending)
        self._forgotten = kept.forgotten
        self._segments = kept.segments
        self._is_frozen = kept.is_frozen
        for shown, segment in self._pending.values():
            learner.expect(shown, segment)

    def rank(self, exclude: Iterable[str] = (), pin: Mapping[str, int] | None = None, segment: Name = None) -> Ranking:
        """The next list, without the items in `exclude`, and with each item in `pin` in its slot, counted from 1.

        `segment` is what kind of visitor it is for, in any words: one that was never named before is expected to be
        like the others. Where fewer items are left than there are slots, the list is shorter: the slots at the end stay
        empty.
        """
        with self._lock:
            number = self._segment_of(segment)
            choose = self._learner.choose_best if self._is_frozen else self._learner.choose
            ranking = Ranking(secrets.token_hex(16), choose(exclude, pin, number), checked_name(segment))
            self._pending[ranking.id] = ranking.items, number
            self._learner.expect(ranking.items, number)
            if len(self._pending) > PENDING_LIMIT:
                self._learner.settle(*self._pending.popitem(last=False)[1])
                self._forgotten += 1
            return ranking

    def observe(self, ranking: Ranking | str, clicked: str | None) -> None:
        """The outcome of a ranking, given as such or by its id: the item that was clicked, or None."""
        id = ranking.id if isinstance(ranking, Ranking) else ranking
        with self._lock:
            waiting = self._pending.get(id) if isinstance(id, str) else None
            if waiting is None:
                raise InvalidInput(f"ranking {validation.short(id)} waits for no outcome: unknown, or observed before")
            shown, segment = waiting
            self._learner.learn(shown, clicked, segment)
            # last: an outcome that was refused may be corrected
            self._learner.settle(shown, segment)
            del self._pending[id]

    def freeze(self) -> None:
        """Show the best list only from here on, to each segment its own; outcomes are still learned from."""
        with self._lock:
            self._is_frozen = True

    def thaw(self) -> None:
        """Show again what there is to learn from."""
        with self._lock:
            self._is_frozen = False

    @property
    def is_frozen(self) -> bool:
        """Whether it shows the best list only."""
        return self._is_frozen

    def absorb(self, tally: Tally, segment: Name = None) -> None:
        """Take in what was seen elsewhere: a tally in the order of `items`, or one with `item_ids` of its own."""
        with self._lock:
            self._learner.absorb(*_in_order(tally, self.items), segment=self._segment_of(segment))

    def add(self, item: str, value: float = 1.0, features: Mapping[str, float | str] | None = None) -> None:
        """A new item, or a retired one again; `features` are what is known of it."""
        with self._lock:
            self._learner.add(item, value, features)

    def retire(self, item: str) -> None:
        """Show an item no more; what was learned of it stays."""
        with self._lock:
            self._learner.retire(item)

    def value(self, item: str, value: float) -> None:
        """What a click on an item is worth from here on."""
        with self._lock:
            self._learner.value(item, value)

    def estimates(self, level: float = 0.95, segment: Name = None) -> Estimates:
        """What each item and slot is worth, with intervals, and how likely each item is to be in the best list.

        For everybody they rest on what was seen of all visitors together, and for a segment on what was seen of it, and
        of the others as far as they are alike.
        """
        with self._lock:
            return self._learner.estimates(level, None if segment is None else self._segments.number(segment))

    def best_list(self, segment: Name = None) -> tuple[str, ...]:
        """The list that is best for everybody, or for a segment, by what is expected of each item."""
        with self._lock:
            return self._learner.best_list(None if segment is None else self._segments.number(segment))

    def tally_of(self, segment: Name) -> Tally:
        """What was seen of one segment; None for visitors of whom nothing was said."""
        with self._lock:
            return self._learner.tally_of(self._segments.number(segment))

    @property
    def segments(self) -> tuple[str, ...]:
        """The segments that were named, in the order in which they came."""
        with self._lock:
            return self._segments.names

    @property
    def items(self) -> tuple[str, ...]:
        """Every item there ever was, in the order of the tally."""
        return self._learner.items

    @property
    def retired(self) -> tuple[str, ...]:
        """The items that are not shown any more."""
        with self._lock:
            return self._learner.retired

    @property
    def tally(self) -> Tally:
        """What was seen so far, of `items` in their order."""
        with self._lock:
            return self._learner.tally

    @property
    def pending(self) -> int:
        """How many rankings wait for their outcome."""
        return len(self._pending)

    @property
    def forgotten(self) -> int:
        """How many rankings were forgotten before their outcome came."""
        return self._forgotten

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all of it to `path`; what was there before survives a failure."""
        with self._lock:
            kept = Kept(self._pending, self._forgotten, self._segments, self._is_frozen)
            contents = contents_of(self._learner, kept)
        write(path, contents)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Ranker:
        """Read what `save` wrote; anything else is refused by name. The policy starts again from what was counted."""
        ranker = cls.__new__(cls)
        ranker._hold(*read(path))
        return ranker

    def _segment_of(self, name: Name) -> int:
        """The number of a segment, new or not."""
        number = self._segments.known(name)
        if number is None:
            if len(self._segments.names) == MAX_NAMED:
                raise InvalidInput(
                    f"segment {validation.short(name)} is one too many: {len(self._segments.names):,} were named before"
                )
            self._learner.add_segment()
            number = self._segments.add(name)
        return number


def _in_order(tally: Any, items: tuple[str, ...]) -> tuple[Any, Any, Any]:
    """Clicks, passes and, where the tally has them, showings of `items`, in their order."""
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
