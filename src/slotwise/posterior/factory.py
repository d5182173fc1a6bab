"""The hierarchical posterior before the first round."""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.core.policy_task import PolicyTask
from slotwise.core.types import FloatArray, HalfLife
from slotwise.posterior.feature_regression import RIDGE, starting_fit
from slotwise.posterior.forgetting import parse_half_lives, start_forgetting
from slotwise.posterior.gamma_prior import ATTRACTIVENESS_RATE, ATTRACTIVENESS_SHAPE, BIAS_SHAPE
from slotwise.posterior.hyperparameters import SEGMENT_SIMILARITY, SLOT_SIMILARITY
from slotwise.posterior.list_counts import empty_list_counts
from slotwise.posterior.pair_effects import no_pair_effects
from slotwise.posterior.state import (
    DECAYED,
    BiasPosterior,
    ColdStart,
    Draw,
    HierarchicalPosterior,
    ItemPrior,
    Pending,
    PosteriorCounts,
    SegmentEffects,
)

#: whether a round counts as a pass if it has no click, or always as its expected number of passes
Passes = Literal["hard", "soft"]
#: lists in the table of counts by list if passes are soft
MAX_LISTS = 256
#: the mean of attractiveness before any data
PRIOR_MEAN = ATTRACTIVENESS_SHAPE / ATTRACTIVENESS_RATE
#: the share of slots for items with no counted outcome
DEFAULT_COLD_START_CAP = 0.2


def hierarchical_posterior(
    task: PolicyTask,
    *,
    passes: Passes = "soft",
    half_life: HalfLife = None,
    bias_shape: float = BIAS_SHAPE,
    boldness: float = 1.0,
    own_taste: float = SEGMENT_SIMILARITY,
    own_slots: float = SLOT_SIMILARITY,
    ridge: float = RIDGE,
    room: int = MAX_LISTS,
    new_items_at_most: float = DEFAULT_COLD_START_CAP,
) -> HierarchicalPosterior:
    """Return the hierarchical posterior before the first round; the position bias is drawn unless it is known.

    Parameters
    ----------
    task
        Slots, items, segments, features, and the position bias if it is known.
    passes
        How rounds count as passes.
    half_life
        The half-life of counts.
    bias_shape
        c of the prior λ_k ~ Gamma(c, c).
    boldness
        b: parameters are drawn as if there were b times the evidence.
    own_taste, own_slots
        κ and τ before any data: how similar segments are in attractiveness and in position bias.
    ridge
        1/variance of the weights of features before any data.
    room
        Lists in the table of counts by list.
    new_items_at_most
        The cold-start cap.
    """
    validation.one_of("passes", passes, get_args(Passes))
    boldness = validation.positive_number("boldness", boldness)
    segments, items, slots = task.segments, task.items, task.slots
    memories = len(parse_half_lives(half_life))
    kinds = DECAYED + memories if memories else 1
    prior = _item_prior(task, validation.positive_number("ridge", ridge))
    return HierarchicalPosterior(
        position_bias=_first_bias(task),
        shape=np.full(items, ATTRACTIVENESS_SHAPE),
        rate=np.full(items, ATTRACTIVENESS_RATE),
        segment=0,
        is_current=False,
        refit_at=0.0,
        counts=_no_counts(task, kinds, room if passes == "soft" else 0),
        pending=Pending(rounds=0.0, by_slot=np.zeros((segments, items, slots)), level_passes=np.zeros((items, slots))),
        bias=_bias_prior(task, validation.positive_number("bias_shape", bias_shape)),
        items=prior,
        segments=_segment_prior(
            task,
            validation.positive_number("own_taste", own_taste),
            validation.positive_number("own_slots", own_slots),
        ),
        forgetting=start_forgetting(half_life, segments, items, slots),
        draw=Draw(
            boldness=boldness,
            spread=boldness**-0.5,
            decisions_left=0,
            position_bias=_first_bias(task),
            weights=np.zeros(prior.features.shape[1]),
            level=np.full(items, PRIOR_MEAN),
            prior_rate=np.full(items, ATTRACTIVENESS_RATE),
            noise=np.zeros(slots),
        ),
        cold_start=ColdStart(max_share=validation.share("new_items_at_most", new_items_at_most), slots_left=math.inf),
    )


def _first_bias(task: PolicyTask) -> FloatArray:
    """Return a fresh array of λ before the first draw: the known bias, or 1."""
    return np.ones(task.slots) if task.position_bias is None else task.position_bias.copy()


def _no_counts(task: PolicyTask, kinds: int, room: int) -> PosteriorCounts:
    segments, items, slots = task.segments, task.items, task.slots
    return PosteriorCounts(
        pair_clicks=np.zeros((kinds, segments, items, slots)),
        pairs=no_pair_effects(items, slots),
        clicks=np.zeros((kinds, segments, items)),
        slot_clicks=np.zeros((kinds, segments, slots)),
        unlisted_passes=np.zeros((kinds, segments, items, slots)),
        lists=empty_list_counts(room, slots, kinds),
        passes=np.zeros((segments, items, slots)),
        rounds=0.0,
        no_clicks=0.0,
        tally_rounds=0.0,
        item_rounds=np.zeros(items),
    )


def _bias_prior(task: PolicyTask, shape: float) -> BiasPosterior:
    slots = task.slots
    return BiasPosterior(
        shape=shape,
        is_known=task.position_bias is not None,
        mode=np.zeros(slots) if task.position_bias is None else np.log(task.position_bias),
        root=np.zeros((slots, slots)),
        step=np.zeros(slots),
        at_mode=np.zeros(slots),
        share=np.zeros(slots),
        cholesky=np.zeros((slots, slots)),
    )


def _item_prior(task: PolicyTask, ridge: float) -> ItemPrior:
    segments, items = task.segments, task.items
    features, segment_features = split_features(task.features, segments, items)
    return ItemPrior(
        features=features,
        segment_features=segment_features,
        constant=starting_fit(items, 1, RIDGE),
        featured=starting_fit(items, features.shape[1], ridge),
        uses_features=False,
        shape=ATTRACTIVENESS_SHAPE,
        mean=np.full(items, PRIOR_MEAN),
        segment_mean=np.ones((segments, items)),
    )


def _segment_prior(task: PolicyTask, similarity: float, slot_similarity: float) -> SegmentEffects:
    segments, items, slots = task.segments, task.items, task.slots
    return SegmentEffects(
        level=np.full(items, PRIOR_MEAN),
        similarity=similarity,
        deviation=np.ones((segments, items)),
        slot_similarity=slot_similarity,
        slot_deviation=np.ones((segments, slots)),
        exposure=np.zeros((segments, items)),
        mean=np.full((segments, items), PRIOR_MEAN),
        mean_bias=np.ones((segments, slots)) * _first_bias(task),
        is_used=np.full(segments, segments == 1),
        level_clicks=np.zeros(items),
        evidence_clicks=np.zeros(items),
        evidence_exposure=np.zeros(items),
        level_passes=np.zeros((items, slots)),
    )


def split_features(features: ArrayLike | None, segments: int, items: int) -> tuple[FloatArray, FloatArray]:
    """Return features of items, with a constant 1 in front, and the deviation of each segment, with a 0 in front.

    Features are items × features, or segments × items × features; without features there is the constant alone.
    """
    if features is None:
        return np.ones((items, 1)), np.zeros((segments, items, 0))
    given = np.asarray(features, np.float64)
    if given.ndim not in (2, 3) or given.shape[-2] != items:
        raise InvalidInput(f"features must have a row for each of the {items} items, got shape {given.shape}")
    if given.ndim == 3 and len(given) != segments:
        raise InvalidInput(f"features must be of each of the {segments} segments, got shape {given.shape}")
    if not np.isfinite(given).all():
        raise InvalidInput("features must be finite numbers, got one that is not")
    of_items = given if given.ndim == 2 else given.mean(axis=0)
    of_segments = np.zeros((segments, items, 0))
    if given.ndim == 3 and segments > 1:
        of_segments = np.pad(given - of_items, ((0, 0), (0, 0), (1, 0)))
    return np.column_stack([np.ones(items), of_items]), of_segments
