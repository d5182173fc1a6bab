"""The state of the hierarchical posterior: one record for each thing that is estimated, drawn or counted.

Attractiveness is α_sj = m_j ε_sj for segment s and item j. The item's level m_j ~ Gamma(s, s/μ_j) is shared by all
segments, with μ_j = exp(x_jᵀβ) of its features; ε_sj ~ Gamma(κ, κ/ν_sj) is the segment's deviation from it. ν is 1, or,
if features are of segments and items together, exp((x_sj - x_j)ᵀβ) with x_j the average over the segments. The position
bias is λ_k δ_sk, λ_k ~ Gamma(c, c) and δ_sk ~ Gamma(τ, τ). With one segment there is neither ε nor δ.

| record | changed by |
| --- | --- |
| `PosteriorCounts` | `slotwise.posterior.counts` |
| `PairEffects` | `slotwise.posterior.pair_effects` |
| `Pending` | `slotwise.posterior.updates` |
| `BiasPosterior`, `SegmentEffects` | `slotwise.posterior.hyperparameters` |
| `ItemPrior` | `slotwise.posterior.feature_regression` |
| `Forgetting` | `slotwise.posterior.forgetting` |
| `TasteChanges` | `slotwise.posterior.taste_changes` |
| `Draw` | `slotwise.posterior.sampling` |
| `ColdStart` | `slotwise.posterior.cold_start_cap` |
"""

from __future__ import annotations

from slotwise.core.types import BoolArray, FloatArray
from slotwise.jit import record
from slotwise.posterior.list_counts import ListCounts

#: the kinds of counts: those in use, those of the current period, and from DECAYED on one for each memory of the past
IN_USE, PERIOD_COUNTS, DECAYED = 0, 1, 2


@record
class PairEffects:
    """The effect δ_kj of each pair of slot and item, and the test of whether there are any."""

    #: whether the test has fired, so that the posterior has pair effects
    is_used: bool
    #: whether it has ever fired, so that counts are multiplied by weights
    is_weighed: bool
    #: the log of the Bayes factor at the last test, and the number of rounds from which on it is due again
    evidence: float
    check_at: float
    #: the clicks that the last test rested on, Σ_j tr V_j
    tested: float
    #: ν
    similarity: float
    #: w, N and E, items × slots
    weight: FloatArray
    clicks: FloatArray
    expected: FloatArray
    #: scratch: clicks and expected clicks of one item and of all, 4 × slots; V and νI + V of one item, its least
    #: pivots, a number per slot, the log of the Bayes factor for each ν
    sums: FloatArray
    information: FloatArray
    matrix: FloatArray
    least: FloatArray
    share: FloatArray
    factors: FloatArray
    #: factors of the position bias, by which the expected clicks of each slot are those counted
    slots: FloatArray


@record
class PosteriorCounts:
    """Sufficient statistics. The passes of lists in the table are not in `unlisted_passes`.

    Clicks and passes in use are multiplied by the weight of their pair, except `pair_clicks`.
    """

    #: kinds × segments × items × slots
    pair_clicks: FloatArray
    #: their sums over slots, kinds × segments × items, and over items, kinds × segments × slots
    clicks: FloatArray
    slot_clicks: FloatArray
    pairs: PairEffects
    #: kinds × segments × items × slots
    unlisted_passes: FloatArray
    lists: ListCounts
    #: all passes in use, segments × items × slots
    passes: FloatArray
    #: rounds in use, and those of them without a click, as weights of passes
    rounds: float
    no_clicks: float
    #: rounds learned from tallies, so that their lists are unknown
    tally_rounds: float
    #: rounds that showed each item, all segments together, never decayed
    item_rounds: FloatArray


@record
class Pending:
    """Rounds that were shown and whose outcome is not counted yet."""

    rounds: float
    #: segments × items × slots
    by_slot: FloatArray
    #: Σ_s w_sj δ_sk ε_sj of them, items × slots, with w as in `SegmentEffects`
    level_passes: FloatArray


@record
class BiasPosterior:
    """The posterior of log λ: normal at its mode, with attractiveness integrated out."""

    #: c, and whether λ is known and not drawn
    shape: float
    is_known: bool
    #: the mode of log λ, and a root of its covariance: upper triangular R with RRᵀ = (-ℓ″)⁻¹
    mode: FloatArray
    root: FloatArray
    #: scratch of Newton's method: the step, λ at the mode, the share of each slot in an exposure, and L with LLᵀ = -ℓ″
    step: FloatArray
    at_mode: FloatArray
    share: FloatArray
    cholesky: FloatArray


@record
class ItemFit:
    """A Gamma regression of the levels of items: m_j ~ Gamma(s, s/μ_j), μ_j = exp(x_jᵀβ)."""

    #: s, and μ per item
    shape: float
    mean: FloatArray
    #: β of a constant and of the features after it, a root of its covariance, and the ridge of all but the constant
    weights: FloatArray
    root: FloatArray
    ridge: float
    #: the score of β and the information on it, and the score at β = 0 if the information were the same everywhere
    score: FloatArray
    information: FloatArray
    pull: FloatArray
    #: scratch: a vector and a matrix with a column per weight, three numbers per item
    noise: FloatArray
    factor: FloatArray
    room: FloatArray


@record
class ItemPrior:
    """The prior of the levels of items, by a constant alone or by their features."""

    #: per item the features with a constant in front
    features: FloatArray
    #: x_sj - x_j, segments × items × features with a 0 in front; no features if items have the same in all segments
    segment_features: FloatArray
    #: the fit by the constant alone, the fit by the features, and whether the second one is in use
    constant: ItemFit
    featured: ItemFit
    uses_features: bool
    #: s and μ of the fit in use, and ν, segments × items
    shape: float
    mean: FloatArray
    segment_mean: FloatArray


@record
class SegmentEffects:
    """Estimates for each segment given the hyperparameters, and how far segments deviate from each other."""

    #: the mean of m, per item
    level: FloatArray
    #: κ, and the mean of ε, segments × items
    similarity: float
    deviation: FloatArray
    #: τ, and the mean of δ, segments × slots
    slot_similarity: float
    slot_deviation: FloatArray
    #: E_sj = Σ_k λ_k δ_sk Ñ_sjk, segments × items
    exposure: FloatArray
    #: the means of α, segments × items, and of λδ, segments × slots
    mean: FloatArray
    mean_bias: FloatArray
    #: whether a segment has a round, counted or pending; its estimates are set with the first
    is_used: BoolArray
    #: sums over segments, so that a decision need not walk them: N_sj per item; the evidence of m among clicks and
    #: exposure, w_sj N_sj and w_sj ν_sj E_sj with w = κ/(κ + mνE) at the last fit; and δ_sk ε_sj Ñ_sjk, items × slots
    level_clicks: FloatArray
    evidence_clicks: FloatArray
    evidence_exposure: FloatArray
    level_passes: FloatArray


@record
class TasteChanges:
    """Models of how tastes changed, and how well each predicted the clicks of the last periods."""

    is_watched: bool
    #: n, e, N and M: clicks and expected clicks, those of the period first, then of each memory; memories × items
    clicks: FloatArray
    expected: FloatArray
    #: the decayed log-likelihood of no change, and of each model of drift
    unchanged: float
    drifts: FloatArray
    #: the model of drift in use, or -1; whether a break has to predict better than it; and the mean of r
    drift: int
    is_drifting: bool
    ratio: FloatArray
    #: per window: periods since it was opened, -1 if it is not, and the log-likelihood ratio of a break at its start
    ages: FloatArray
    leads: FloatArray
    #: periods since the last break
    age: float


@record
class Forgetting:
    """The memories of the past that are kept, and how their counts decay."""

    #: the half-life of each memory, in rounds; it is infinite for a window, which has the counts since it was opened
    half_lives: FloatArray
    #: rounds of a period, and how many of the current one are left
    period: float
    rounds_left: float
    #: scratch: the weight of the past in each memory, and passes, segments × items × slots
    weights: FloatArray
    passes: FloatArray
    changes: TasteChanges


@record
class Draw:
    """A draw of all that segments share: λ, β and m."""

    #: b: parameters are drawn as if there were b times the evidence; and 1/√b, the scale of a standard deviation
    boldness: float
    spread: float
    #: decisions that the draw still serves
    decisions_left: int
    #: λ, β and m as drawn
    position_bias: FloatArray
    weights: FloatArray
    level: FloatArray
    #: s/μ, per item, by β as drawn
    prior_rate: FloatArray
    #: scratch, per slot
    noise: FloatArray


@record
class ColdStart:
    """The cold-start cap: how many slots items without a counted outcome may take."""

    #: the part of all slots, and the slots left to them; infinite until a list has none of them
    max_share: float
    slots_left: float


@record
class HierarchicalPosterior:
    """The posterior of attractiveness and position bias, drawn for the current segment."""

    #: λδ as drawn, per slot, and the Gamma posterior of α given the draw, per item
    position_bias: FloatArray
    shape: FloatArray
    rate: FloatArray
    segment: int
    #: whether the draw is of the current segment and the current pending rounds
    is_current: bool
    #: the number of rounds from which on the hyperparameters are out of date
    refit_at: float
    counts: PosteriorCounts
    pending: Pending
    bias: BiasPosterior
    items: ItemPrior
    segments: SegmentEffects
    forgetting: Forgetting
    draw: Draw
    cold_start: ColdStart
