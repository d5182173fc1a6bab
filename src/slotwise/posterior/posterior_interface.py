"""The functions of a posterior: draw parameters for a decision, and update by a round, an epoch or a tally.

A posterior is a record with at least the fields of `GammaPosterior`.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from slotwise.click_models.base import first_click
from slotwise.core.errors import InvalidInput
from slotwise.core.types import BoolArray, FloatArray, IntArray, Ranking
from slotwise.jit import generic


class GammaPosterior(Protocol):
    """A posterior in which attractiveness given the position bias is Gamma(shape, rate)."""

    #: λ, per slot
    position_bias: FloatArray
    #: of α given λ, per item
    shape: FloatArray
    rate: FloatArray


def _as_floats(
    posterior: GammaPosterior, clicks: ArrayLike, passes: ArrayLike
) -> tuple[GammaPosterior, FloatArray, FloatArray]:
    return posterior, np.ascontiguousarray(clicks, np.float64), np.ascontiguousarray(passes, np.float64)


@generic()
def draw_parameters(posterior: GammaPosterior, rng: np.random.Generator) -> bool:  # type: ignore[empty-body]
    """Draw a position bias for the next decision, with the posterior of attractiveness given it.

    Returns False if the last draw is still in use.
    """


@generic(default=lambda posterior, attractiveness, odds, rng: False)  # noqa: ARG005
def draw_pair_odds(  # type: ignore[empty-body]
    posterior: GammaPosterior, attractiveness: FloatArray, odds: FloatArray, rng: np.random.Generator
) -> bool:
    """Draw the odds of each pair, slots × items, given λ and α as drawn; return False if they are λα."""


@generic()
def update(posterior: GammaPosterior, ranking: Ranking, clicked: int) -> None:
    """Learn from one round."""


def _update_by_first_click(posterior: GammaPosterior, ranking: Ranking, clicks: BoolArray) -> None:
    update(posterior, ranking, first_click(clicks))


@generic(default=_update_by_first_click)
def update_by_clicks(posterior: GammaPosterior, ranking: Ranking, clicks: BoolArray) -> None:
    """Learn from one round of a visitor who may click several times: per slot, whether it was clicked.

    By default a posterior learns from the first, uppermost click.
    """


def _needs_more_than_a_tally(posterior: GammaPosterior, clicks: FloatArray, passes: FloatArray) -> None:  # noqa: ARG001
    raise InvalidInput("this posterior cannot be computed from a tally")


@generic(prepare=_as_floats, default=_needs_more_than_a_tally)
def update_by_tally(posterior: GammaPosterior, clicks: FloatArray, passes: FloatArray) -> None:
    """Learn from a tally, slots × items; two tallies one after the other count as their sum."""


# For posteriors with segments and pending rounds; the others ignore them.


@generic(default=lambda posterior, segment: None)  # noqa: ARG005
def set_segment(posterior: GammaPosterior, segment: int) -> None:
    """Make this the current segment, for which the next parameters are drawn and the next rounds are counted."""


@generic(default=lambda posterior, items, rows: None)  # noqa: ARG005
def set_features(posterior: GammaPosterior, items: IntArray, rows: FloatArray) -> None:
    """Set the features of items without counts, one row for each, before the next parameters are drawn."""


@generic(default=lambda posterior, ranking: None)  # noqa: ARG005
def add_pending(posterior: GammaPosterior, ranking: Ranking) -> None:
    """Count a round with this list as pending: its outcome follows."""


@generic(default=lambda posterior, ranking: None)  # noqa: ARG005
def remove_pending(posterior: GammaPosterior, ranking: Ranking) -> None:
    """Count a round with this list as pending no longer."""


@generic(default=lambda posterior, deferred: None)  # noqa: ARG005
def defer_refits(posterior: GammaPosterior, deferred: bool) -> None:
    """While deferred, hyperparameters are not refitted; the next tally after that refits them."""


@generic(default=lambda posterior, lists, index, ranking, rng: False)  # noqa: ARG005
def apply_cold_start_cap(  # type: ignore[empty-body]
    posterior: GammaPosterior, lists: object, index: FloatArray, ranking: Ranking, rng: np.random.Generator
) -> bool:
    """Arrange `ranking` again if the one by `index` has too many new items; return whether it had."""
