"""What a belief answers: settle on a position bias for a decision, and take in a round, an epoch or a whole tally.

A belief is a record with at least the fields `position_bias`, per slot, and `shape` and `rate`, per item: given that
bias, attractiveness is Gamma(shape, rate).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from slotwise.core.errors import InvalidInput
from slotwise.core.types import NO_CLICK, FloatArray, IntArray, Ranking
from slotwise.jit import generic, inlined


def _as_numbers(belief: Any, clicks: Any, passes: Any) -> tuple[Any, FloatArray, FloatArray]:
    return belief, np.ascontiguousarray(clicks, np.float64), np.ascontiguousarray(passes, np.float64)


@generic()
def imagine(belief: Any, rng: np.random.Generator) -> bool:  # type: ignore[empty-body]
    """Draw a position bias for the next decision, with the posterior of attractiveness given it.

    Returns False if the last draw is still in use.
    """


@generic()
def update(belief: Any, ranking: Ranking, clicked: int) -> None:
    """Take in one round."""


def _more_than_a_tally(belief: Any, clicks: FloatArray, passes: FloatArray) -> None:  # noqa: ARG001
    raise InvalidInput("what this belief remembers does not follow from a tally")


@generic(prepare=_as_numbers, default=_more_than_a_tally)
def update_by_tally(belief: Any, clicks: FloatArray, passes: FloatArray) -> None:
    """Take in a whole tally, slots × items; two tallies one after the other are their sum."""


@inlined
def update_by_epoch(belief: Any, ranking: Ranking, clicks: IntArray) -> None:
    """Take in one complete epoch: `clicks` per slot, then one no-click."""
    for slot in range(len(ranking)):
        for _ in range(clicks[slot]):
            update(belief, ranking, slot)
    update(belief, ranking, NO_CLICK)


# For beliefs that tell visitors apart and know what is on its way; the others have nothing to do.


@generic(default=lambda belief, segment: None)  # noqa: ARG005
def turn_to(belief: Any, segment: int) -> None:
    """From here on, what is imagined and taken in is for a visitor of this segment."""


@generic(default=lambda belief, ranking: None)  # noqa: ARG005
def expect(belief: Any, ranking: Ranking) -> None:
    """Know that this list was shown, and that its outcome comes later."""


@generic(default=lambda belief, ranking: None)  # noqa: ARG005
def settle(belief: Any, ranking: Ranking) -> None:
    """An outcome of this list is expected no longer."""


@generic(default=lambda belief, still: None)  # noqa: ARG005
def hold_still(belief: Any, still: bool) -> None:
    """While it holds still, what is learned of all together waits; afterwards the next tally brings it up to date."""


@generic(default=lambda belief, item: False)  # noqa: ARG005
def is_new(belief: Any, item: int) -> bool:  # type: ignore[empty-body]
    """Whether an item has no counted outcome, and is one of those that `hold_back` may hold back."""


@generic(default=lambda belief, lists, index, ranking, rng: False)  # noqa: ARG005
def hold_back(  # type: ignore[empty-body]
    belief: Any, lists: Any, index: FloatArray, ranking: Ranking, rng: np.random.Generator
) -> bool:
    """Arrange `ranking` anew where the one that `index` gives has too many new items, and say whether that was so."""
