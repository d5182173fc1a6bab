"""The hierarchical posterior before the first round, and which settings need it."""

from __future__ import annotations

import math
from typing import Any, Literal, get_args

import numpy as np

from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.core.policy_task import Setting
from slotwise.core.types import FloatArray, HalfLife
from slotwise.posterior.feature_regression import RIDGE, starting_fit
from slotwise.posterior.forgetting import half_lives, starting_forgetting
from slotwise.posterior.gamma_prior import ATTRACTIVENESS_RATE, ATTRACTIVENESS_SHAPE, BIAS_SHAPE
from slotwise.posterior.hyperparameters import SEGMENT_SIMILARITY, SLOT_SIMILARITY
from slotwise.posterior.list_counts import empty_list_counts
from slotwise.posterior.state import (
    DECAYED,
    Bias,
    ColdStart,
    Counts,
    Draw,
    HierarchicalPosterior,
    Items,
    Pending,
    Segments,
)

#: how a round with a click counts: not at all, or as part of a pass
Passes = Literal["hard", "soft"]
#: distinct lists that are remembered where passes are soft
ROOM = 256
#: the part of the slots that items without a counted outcome may take
NEW_ITEMS_AT_MOST = 0.2


def lived(
    setting: Setting,
    *,
    passes: Passes = "soft",
    half_life: HalfLife = None,
    bias_shape: Any = BIAS_SHAPE,
    bias_spread: Any = 1.0,
    weights_spread: float = 1.0,
    whole_draws: float = 0.0,
    keep: int = 1,
    own_taste: Any = SEGMENT_SIMILARITY,
    own_slots: Any = SLOT_SIMILARITY,
    ridge: Any = RIDGE,
    room: int = ROOM,
    new_items_at_most: Any = NEW_ITEMS_AT_MOST,
    draws_levels: bool = True,
) -> HierarchicalPosterior:
    """Before the first round; the position bias is drawn unless the setting tells it.

    `draws_levels` is for policies that sample; those with a bound of their own want evidence in place of a draw.
    """
    validation.one_of("passes", passes, get_args(Passes))
    segments, items, slots = setting.segments, setting.items, setting.slots
    tried = half_lives(half_life)
    kinds = DECAYED + len(tried) if len(tried) else 1
    features, segment_features = with_constant(setting.features, segments, items)
    columns = features.shape[1]
    prior_mean = ATTRACTIVENESS_SHAPE / ATTRACTIVENESS_RATE
    told = setting.position_bias
    return HierarchicalPosterior(
        position_bias=np.ones(slots) if told is None else told.copy(),
        shape=np.full(items, ATTRACTIVENESS_SHAPE),
        rate=np.full(items, ATTRACTIVENESS_RATE),
        assumed=np.zeros(items),
        is_full_draw=False,
        segment=0,
        is_current=False,
        refit_at=0.0,
        counts=Counts(
            clicks=np.zeros((kinds, segments, items)),
            slot_clicks=np.zeros((kinds, segments, slots)),
            unlisted_passes=np.zeros((kinds, segments, items, slots)),
            lists=empty_list_counts(room if passes == "soft" else 0, slots, kinds),
            passes=np.zeros((segments, items, slots)),
            rounds=0.0,
            no_clicks=0.0,
            item_rounds=np.zeros(items),
        ),
        pending=Pending(rounds=0.0, by_slot=np.zeros((segments, items, slots))),
        bias=Bias(
            shape=validation.positive_number("bias_shape", bias_shape),
            scale=validation.positive_number("bias_spread", bias_spread),
            is_known=told is not None,
            mode=np.zeros(slots) if told is None else np.log(told),
            root=np.zeros((slots, slots)),
            step=np.zeros(slots),
            at_mode=np.zeros(slots),
            share=np.zeros(slots),
            cholesky=np.zeros((slots, slots)),
        ),
        items=Items(
            features=features,
            segment_features=segment_features,
            constant=starting_fit(items, 1, RIDGE),
            featured=starting_fit(items, columns, validation.positive_number("ridge", ridge)),
            uses_features=False,
            shape=ATTRACTIVENESS_SHAPE,
            mean=np.full(items, prior_mean),
            segment_mean=np.ones((segments, items)),
        ),
        segments=Segments(
            level=np.full(items, prior_mean),
            similarity=validation.positive_number("own_taste", own_taste),
            deviation=np.ones((segments, items)),
            slot_similarity=validation.positive_number("own_slots", own_slots),
            slot_deviation=np.ones((segments, slots)),
            exposure=np.zeros((segments, items)),
            mean=np.full((segments, items), prior_mean),
            mean_bias=np.ones((segments, slots)) * (1.0 if told is None else told),
        ),
        forgetting=starting_forgetting(half_life, segments, items, slots),
        draw=Draw(
            weights_scale=weights_spread,
            full_share=whole_draws,
            draws_levels=draws_levels,
            max_decisions=keep,
            decisions_left=0,
            position_bias=np.ones(slots) if told is None else told.copy(),
            weights=np.zeros(columns),
            level=np.full(items, prior_mean),
            level_evidence=np.full(items, ATTRACTIVENESS_SHAPE),
            prior_rate=np.full(items, ATTRACTIVENESS_RATE),
            noise=np.zeros(slots),
        ),
        cold_start=ColdStart(max_share=validation.share("new_items_at_most", new_items_at_most), slots_left=math.inf),
    )


def is_lived(setting: Setting, passes: Passes, half_life: Any) -> bool:
    """Whether there is anything that takes this belief, and not one of the simpler ones."""
    validation.one_of("passes", passes, get_args(Passes))
    forgets = len(half_lives(half_life)) > 0
    return passes == "soft" or forgets or setting.segments > 1 or setting.features is not None


def with_constant(features: Any, segments: int, items: int) -> tuple[FloatArray, FloatArray]:
    """Items × features, a 1 in front of each row, and what each segment has beyond that, a 0 in front.

    Features are items × features, or segments × items × features; the constant alone where there are none.
    """
    if features is None:
        return np.ones((items, 1)), np.zeros((segments, items, 0))
    found = np.asarray(features, np.float64)
    if found.ndim not in (2, 3) or found.shape[-2] != items:
        raise InvalidInput(f"features must have a row for each of the {items} items, got shape {found.shape}")
    if found.ndim == 3 and len(found) != segments:
        raise InvalidInput(f"features must be of each of the {segments} segments, got shape {found.shape}")
    if not np.isfinite(found).all():
        raise InvalidInput("features must be finite numbers, got one that is not")
    middle = found if found.ndim == 2 else found.mean(axis=0)
    own = np.zeros((segments, items, 0))
    if found.ndim == 3 and segments > 1:
        own = np.pad(found - middle, ((0, 0), (0, 0), (1, 0)))
    return np.column_stack([np.ones(items), middle]), own
