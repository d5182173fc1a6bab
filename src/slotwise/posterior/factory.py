"""A belief for pages as they are: several crowds, items with features, tastes that change, outcomes on their way.

Attractiveness is α_sj = m_j ε_sj for segment s and item j: m_j ~ Gamma(s, s/μ_j) is what an item is to everybody, with
μ_j = exp(x_jᵀβ) of its features, and ε_sj ~ Gamma(κ, κ/ν_sj) what it is to one crowd more than to another. ν is 1, or,
where features are of segments and items together, exp((x_sj - x_j)ᵀβ) with x_j the average over the segments. Slots are
seen as λ_k δ_sk, λ_k ~ Gamma(c, c) and δ_sk ~ Gamma(τ, τ). s and β are learned
(`slotwise.posterior.feature_regression`), and so are
κ and τ (`slotwise.posterior.hyperparameters`). With one segment there is neither ε nor δ.

Given λ, δ and m, the attractiveness of each item to the segment at hand is Gamma(shape, rate): that is what a policy
reads, with the part of the rate that is only assumed (`slotwise.posterior.sampling`). λ is drawn from its posterior at
the mode with attractiveness integrated out (`slotwise.posterior.hyperparameters`).

Passes may be *soft*: a round with list A, clicked or not, counts as 1/(1+S_A) of a pass, which is what a pass is worth
on average, at the estimates of the moment, and is weighed anew as these improve (`slotwise.posterior.updates`).
Counts may fade (`slotwise.posterior.forgetting`). Rounds that are shown and not yet counted narrow the belief as if
they had
gone as expected.
"""

from __future__ import annotations

import math
from typing import Any, Literal, get_args

import numpy as np

from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.core.policy_task import Setting
from slotwise.core.types import FloatArray
from slotwise.jit import record
from slotwise.posterior.feature_regression import RIDGE, ItemFit, starting_fit
from slotwise.posterior.forgetting import Memory, half_lives, starting_memory
from slotwise.posterior.gamma_prior import ATTRACTIVENESS_RATE, ATTRACTIVENESS_SHAPE, BIAS_SHAPE
from slotwise.posterior.hyperparameters import OWN_SLOTS, OWN_TASTE
from slotwise.posterior.list_counts import SeenLists, seen_lists

#: how a round with a click counts: not at all, or as part of a pass
Passes = Literal["hard", "soft"]
#: distinct lists that are remembered where passes are soft
ROOM = 256
#: the part of the slots that items without a counted outcome may take
NEW_ITEMS_AT_MOST = 0.2
#: the kinds of counts: those in use, 1 for those of this period, and from TRIED on one for each half-life that is tried
IN_USE, TRIED = 0, 2


@record
class Lived:
    """What is believed of items and slots, for the segment at hand."""

    #: λδ as last drawn, per slot, and the posterior of α given what was drawn, per item: for the segment at hand
    position_bias: FloatArray
    shape: FloatArray
    rate: FloatArray
    prior_rate: FloatArray
    #: of `rate`, what the prior assumes beyond one click's worth, per item, as of the last draw; none where m is drawn
    assumed: FloatArray
    segment: int
    #: whether those are up to date
    at_hand: bool

    #: counts, kinds × segments × items or slots or both; passes of lists that are in the table are not in `folded`
    clicks: FloatArray
    slot_clicks: FloatArray
    folded: FloatArray
    seen: SeenLists
    #: all passes in use, segments × items × slots
    passes: FloatArray
    #: rounds in use, how many of them were passes, and from when on what was learned is out of date
    rounds: float
    no_clicks: float
    outdated: float
    #: rounds that wait for their outcome, segments × items × slots, and all of them
    flying: FloatArray
    in_flight: float

    #: c, and the scale of the spread of a draw of λ; whether λ is told and not drawn
    bias_shape: float
    bias_spread: float
    is_told: bool
    #: the scale of the spread of a draw of β
    weights_spread: float
    #: the part of the draws that have all of their spread, and whether the last one has
    whole_draws: float
    is_whole: bool
    #: the mode of log λ, and a root of its covariance
    mode: FloatArray
    spread: FloatArray
    #: a draw is kept for so many decisions at most, and this one for so many more
    keep: int
    wait: int
    #: λ as last drawn
    drawn_bias: FloatArray

    #: per item the features with a constant in front; s and μ by the constant alone, and by the features
    features: FloatArray
    plain: ItemFit
    featured: ItemFit
    #: whether what features say is relied on; s and μ of that fit, and β as last drawn if it is
    trusts_features: bool
    item_shape: float
    item_mean: FloatArray
    drawn_weights: FloatArray
    #: x_sj - x_j, segments × items × features with a 0 in front; no features where items have the same in all segments
    own_features: FloatArray
    #: m: its mean, as last drawn, and the evidence of it where it is not drawn but settled at its mean
    level: FloatArray
    drawn_level: FloatArray
    level_evidence: FloatArray
    #: whether m is drawn; otherwise what is not known of it is taken off the evidence of each cell
    draws_levels: bool
    #: κ, and the mean of ε, segments × items
    own_taste: float
    own_level: FloatArray
    #: ν, segments × items
    own_mean: FloatArray
    #: τ, and the mean of δ, segments × slots
    own_slots: float
    slot_level: FloatArray
    #: the means of α, segments × items, and of λδ, segments × slots
    mean: FloatArray
    mean_bias: FloatArray
    #: rounds counted of each item, whoever saw it; which part of the slots items without any may take, and how many
    #: slots they have left
    counted: FloatArray
    new_items_at_most: float
    slots_for_new: float

    memory: Memory
    #: room: vectors and a matrix of slots, exposure of cells
    step: FloatArray
    noise: FloatArray
    share: FloatArray
    cholesky: FloatArray
    exposure: FloatArray


def lived(
    setting: Setting,
    *,
    passes: Passes = "soft",
    memory: Any = "none",
    bias_shape: Any = BIAS_SHAPE,
    bias_spread: Any = 1.0,
    weights_spread: float = 1.0,
    whole_draws: float = 0.0,
    keep: int = 1,
    own_taste: Any = OWN_TASTE,
    own_slots: Any = OWN_SLOTS,
    ridge: Any = RIDGE,
    room: int = ROOM,
    new_items_at_most: Any = NEW_ITEMS_AT_MOST,
    draws_levels: bool = True,
) -> Lived:
    """Before the first round; the position bias is drawn unless the setting tells it.

    `draws_levels` is for policies that sample; those with a bound of their own want evidence in place of a draw.
    """
    validation.one_of("passes", passes, get_args(Passes))
    segments, items, slots = setting.segments, setting.items, setting.slots
    tried = half_lives(memory)
    kinds = TRIED + len(tried) if len(tried) else 1
    features, own_features = with_constant(setting.features, segments, items)
    columns = features.shape[1]
    prior_mean = ATTRACTIVENESS_SHAPE / ATTRACTIVENESS_RATE
    told = setting.position_bias
    return Lived(
        position_bias=np.ones(slots) if told is None else told.copy(),
        shape=np.full(items, ATTRACTIVENESS_SHAPE),
        rate=np.full(items, ATTRACTIVENESS_RATE),
        prior_rate=np.full(items, ATTRACTIVENESS_RATE),
        assumed=np.zeros(items),
        segment=0,
        at_hand=False,
        clicks=np.zeros((kinds, segments, items)),
        slot_clicks=np.zeros((kinds, segments, slots)),
        folded=np.zeros((kinds, segments, items, slots)),
        seen=seen_lists(room if passes == "soft" else 0, slots, kinds),
        passes=np.zeros((segments, items, slots)),
        rounds=0.0,
        no_clicks=0.0,
        outdated=0.0,
        flying=np.zeros((segments, items, slots)),
        in_flight=0.0,
        bias_shape=validation.positive_number("bias_shape", bias_shape),
        bias_spread=validation.positive_number("bias_spread", bias_spread),
        is_told=told is not None,
        weights_spread=weights_spread,
        whole_draws=whole_draws,
        is_whole=False,
        mode=np.zeros(slots) if told is None else np.log(told),
        spread=np.zeros((slots, slots)),
        keep=keep,
        wait=0,
        drawn_bias=np.ones(slots) if told is None else told.copy(),
        features=features,
        plain=starting_fit(items, 1, RIDGE),
        featured=starting_fit(items, columns, validation.positive_number("ridge", ridge)),
        trusts_features=False,
        item_shape=ATTRACTIVENESS_SHAPE,
        item_mean=np.full(items, prior_mean),
        drawn_weights=np.zeros(columns),
        own_features=own_features,
        level=np.full(items, prior_mean),
        drawn_level=np.full(items, prior_mean),
        level_evidence=np.full(items, ATTRACTIVENESS_SHAPE),
        draws_levels=draws_levels,
        own_taste=validation.positive_number("own_taste", own_taste),
        own_level=np.ones((segments, items)),
        own_mean=np.ones((segments, items)),
        own_slots=validation.positive_number("own_slots", own_slots),
        slot_level=np.ones((segments, slots)),
        mean=np.full((segments, items), prior_mean),
        mean_bias=np.ones((segments, slots)) * (1.0 if told is None else told),
        counted=np.zeros(items),
        new_items_at_most=validation.share("new_items_at_most", new_items_at_most),
        slots_for_new=math.inf,
        memory=starting_memory(memory, segments, items, slots),
        step=np.zeros(slots),
        noise=np.zeros(slots),
        share=np.zeros(slots),
        cholesky=np.zeros((slots, slots)),
        exposure=np.zeros((segments, items)),
    )


def is_lived(setting: Setting, passes: Passes, memory: Any) -> bool:
    """Whether there is anything that takes this belief, and not one of the simpler ones."""
    validation.one_of("passes", passes, get_args(Passes))
    forgets = len(half_lives(memory)) > 0
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
