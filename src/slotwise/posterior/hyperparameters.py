"""Empirical Bayes: the hyperparameters of items, segments and slots, and the mode of the position bias.

With Gamma priors, and clicks taken as Poisson with mean γ·passes, attractiveness given the bias is Gamma:

    α_j | λ ~ Gamma(s + N_·j, r + Σ_k λ_kÑ_kj).

Integrated out of the likelihood it leaves a posterior of the bias alone, log-concave, with one dimension per slot for
any number of items. With λ_k ~ Gamma(c, c) it is, up to a constant,

    ℓ(log λ) = Σ_k [(c + N_k·) log λ_k - cλ_k] - Σ_j (s + N_·j) log(r + Σ_k λ_kÑ_kj).

A draw of log λ is from the normal approximation at the mode. No slot is an anchor: the priors fix the scale. With
several segments the second sum is over segments and items.
"""

from __future__ import annotations

import math

from slotwise.core.small_linalg import factorise, inverse_root, solve
from slotwise.core.types import FloatArray
from slotwise.jit import inlined, jit
from slotwise.posterior.counts import weigh_lists
from slotwise.posterior.feature_regression import evidence_part, learn_items, weigh_evidence
from slotwise.posterior.gamma_prior import MAX_STEP, MIN_SHAPE, NO_EXPOSURE, digamma, shape_of
from slotwise.posterior.pair_effects import learn_pairs, weigh_pairs
from slotwise.posterior.state import IN_USE, BiasPosterior, ItemPrior, PosteriorCounts, SegmentEffects

#: rounds of weighing lists and fitting in a refit; the next refit continues from its result
TIMES = 2
#: EM steps in each of them
STEPS = 3
#: Newton's method for the mode of log λ ends with a step shorter than MIN_STEP, or after MAX_STEPS
MIN_STEP = 0.01
MAX_STEPS = 50
#: κ and τ before any data, also those of the pseudo-cells and pseudo-slots that are added to the real ones
SEGMENT_SIMILARITY = 20.0
SLOT_SIMILARITY = 200.0
EXTRA_CELLS = 2.0
EXTRA_SLOTS = 2.0
#: κ and τ are no larger: segments are then alike for all practical purposes
MAX_SIMILARITY = 1e4


@jit
def refit(counts: PosteriorCounts, bias: BiasPosterior, items: ItemPrior, segments: SegmentEffects) -> None:
    """Refit all hyperparameters to the counts in use, starting from the last fit."""
    for _ in range(TIMES):
        fit_bias(counts, bias, items, segments)
        if counts.pairs.is_used:
            learn_pairs(counts)
        for _ in range(STEPS):
            learn_levels(counts, items, segments)
            learn_items(counts, items, segments)
        if counts.passes.shape[0] > 1:
            # from the current means: those before a large tally are far from the fit
            update_means(counts, bias, items, segments)
            _learn_slots(counts, bias, segments)
            _expose(counts, bias, segments)
        update_means(counts, bias, items, segments)
    if counts.passes.shape[0] > 1:
        weigh_evidence(counts, items, segments)
        sum_passes(items, segments, counts.passes, segments.level_passes, False)


@jit
def sum_passes(
    items: ItemPrior, segments: SegmentEffects, passes: FloatArray, sums: FloatArray, is_weighed: bool
) -> None:
    """Set `sums`, items × slots, to Σ_s δ_sk ε_sj of passes; times w_sj, the part that is evidence, if `is_weighed`."""
    number_of_segments, number_of_items, slots = passes.shape
    sums[:] = 0.0
    for segment in range(number_of_segments):
        if segments.is_used[segment]:
            for item in range(number_of_items):
                part = evidence_part(items, segments, segment, item) if is_weighed else 1.0
                for slot in range(slots):
                    weight = part * level_weight(segments, segment, item, slot)
                    sums[item, slot] += weight * passes[segment, item, slot]


@inlined
def level_weight(segments: SegmentEffects, segment: int, item: int, slot: int) -> float:
    """Return δ_sk ε_sj, which a pass of a cell counts in the exposure of its item's level."""
    return float(segments.slot_deviation[segment, slot] * segments.deviation[segment, item])


@inlined
def use_segment(items: ItemPrior, segments: SegmentEffects, segment: int) -> None:
    """Set the estimates of a segment before its first round: those of all."""
    if not segments.is_used[segment]:
        segments.is_used[segment] = True
        for item in range(len(segments.level)):
            segments.deviation[segment, item] = items.segment_mean[segment, item]
            segments.mean[segment, item] = segments.level[item] * items.segment_mean[segment, item]


@jit
def fit_bias(counts: PosteriorCounts, bias: BiasPosterior, items: ItemPrior, segments: SegmentEffects) -> None:
    """Weigh lists at the means, and set the mode of log λ, the root of its covariance, and the exposure of items."""
    if counts.lists.count > 0 or counts.pairs.is_weighed:
        weigh_lists(counts, segments, IN_USE, counts.passes)
        if counts.pairs.is_weighed:
            weigh_pairs(counts, segments)
    if not bias.is_known:
        find_mode(counts, IN_USE, counts.passes, bias, bias.mode, items, segments)
        inverse_root(bias.cholesky, 1.0, bias.root)
    _expose(counts, bias, segments)


@jit
def update_means(counts: PosteriorCounts, bias: BiasPosterior, items: ItemPrior, segments: SegmentEffects) -> None:
    """Set the means of α and of λδ in each cell given the hyperparameters."""
    number_of_segments, number_of_items = segments.mean.shape
    for segment in range(number_of_segments):
        for slot in range(len(bias.mode)):
            segments.mean_bias[segment, slot] = math.exp(bias.mode[slot]) * segments.slot_deviation[segment, slot]
        if not segments.is_used[segment]:
            continue
        for item in range(number_of_items):
            shape, rate = items.shape, items.shape / items.mean[item]
            if number_of_segments > 1:
                shape, rate = (
                    segments.similarity,
                    segments.similarity / (segments.level[item] * items.segment_mean[segment, item]),
                )
            segments.mean[segment, item] = (shape + counts.clicks[IN_USE, segment, item]) / (
                rate + segments.exposure[segment, item]
            )


@jit
def find_mode(
    counts: PosteriorCounts,
    kind: int,
    passes: FloatArray,
    bias: BiasPosterior,
    mode: FloatArray,
    items: ItemPrior,
    segments: SegmentEffects,
) -> None:
    """Set `mode` by Newton's method to the mode of log λ given one kind of counts; leaves L with LLᵀ = -ℓ″."""
    for _ in range(MAX_STEPS):
        _newton_step(counts, kind, passes, bias, mode, items, segments)
        longest = 0.0
        for slot in range(len(mode)):
            mode[slot] += min(MAX_STEP, max(-MAX_STEP, bias.step[slot]))
            longest = max(longest, abs(bias.step[slot]))
        if longest < MIN_STEP:
            break


@jit
def _newton_step(
    counts: PosteriorCounts,
    kind: int,
    passes: FloatArray,
    bias: BiasPosterior,
    mode: FloatArray,
    items: ItemPrior,
    segments: SegmentEffects,
) -> None:
    """Set step = (-ℓ″)⁻¹ ℓ′ at the current mode by Cholesky; terms of -ℓ″ are written for γÑ/E, the cells' shares."""
    clicks, slot_clicks = counts.clicks[kind], counts.slot_clicks[kind]
    number_of_segments, number_of_items, slots = passes.shape
    step, matrix, at_mode, share = bias.step, bias.cholesky, bias.at_mode, bias.share
    for slot in range(slots):
        for other in range(slots):
            matrix[slot, other] = 0.0
        at_mode[slot] = math.exp(mode[slot])
        step[slot] = bias.shape - bias.shape * at_mode[slot]
        matrix[slot, slot] = bias.shape * at_mode[slot]
        for segment in range(number_of_segments):
            step[slot] += slot_clicks[segment, slot]
    for segment in range(number_of_segments):
        if not segments.is_used[segment]:
            continue
        for item in range(number_of_items):
            # most of very many items were never shown
            if counts.item_rounds[item] == 0.0:
                continue
            exposure = 0.0
            for slot in range(slots):
                share[slot] = at_mode[slot] * segments.slot_deviation[segment, slot] * passes[segment, item, slot]
                exposure += share[slot]
            if exposure > 0.0:
                shape, rate = items.shape, items.shape / items.mean[item]
                if number_of_segments > 1:
                    own = items.segment_mean[segment, item]
                    shape, rate = segments.similarity, segments.similarity / (segments.level[item] * own)
                exposure += rate
                weight = (shape + clicks[segment, item]) / exposure
                for slot in range(slots):
                    drop = weight * share[slot]
                    if drop > 0.0:
                        step[slot] -= drop
                        matrix[slot, slot] += drop
                        for other in range(slot + 1):
                            matrix[slot, other] -= drop * share[other] / exposure
    for slot in range(slots):
        share[slot] = 0.0
    factorise(matrix, share, 0)
    solve(matrix, step, 0)


@jit
def _expose(counts: PosteriorCounts, bias: BiasPosterior, segments: SegmentEffects) -> None:
    """Set the exposure E_sj = Σ_k λ_k δ_sk Ñ_sjk at the mode."""
    number_of_segments, number_of_items, slots = counts.passes.shape
    for segment in range(number_of_segments):
        if not segments.is_used[segment]:
            continue
        for slot in range(slots):
            bias.share[slot] = math.exp(bias.mode[slot]) * segments.slot_deviation[segment, slot]
        for item in range(number_of_items):
            if counts.item_rounds[item] > 0.0:
                exposure = 0.0
                for slot in range(slots):
                    exposure += bias.share[slot] * counts.passes[segment, item, slot]
                segments.exposure[segment, item] = exposure


@jit
def learn_levels(counts: PosteriorCounts, items: ItemPrior, segments: SegmentEffects) -> None:
    """Set m and ε to their means, and κ by EM: log κ - ψ(κ) = mean(E ε - E log ε) - 1 over cells with exposure."""
    number_of_segments, number_of_items = segments.exposure.shape
    if number_of_segments == 1:
        return
    own = segments.similarity
    # pseudo-cells, as similar as segments are a priori
    count, gap = EXTRA_CELLS, EXTRA_CELLS * (math.log(SEGMENT_SIMILARITY) - digamma(SEGMENT_SIMILARITY) + 1.0)
    shape, rate = segments.level_clicks, segments.level
    for item in range(number_of_items):
        shape[item], rate[item] = 0.0, items.shape / items.mean[item]
    for segment in range(number_of_segments):
        if segments.is_used[segment]:
            for item in range(number_of_items):
                shape[item] += counts.clicks[IN_USE, segment, item]
                rate[item] += segments.exposure[segment, item] * segments.deviation[segment, item]
    for item in range(number_of_items):
        segments.level[item] = (items.shape + shape[item]) / rate[item]
    for segment in range(number_of_segments):
        if not segments.is_used[segment]:
            continue
        for item in range(number_of_items):
            exposure, mean = segments.exposure[segment, item], items.segment_mean[segment, item]
            if exposure > NO_EXPOSURE:
                # of ε/ν
                a, b = own + counts.clicks[IN_USE, segment, item], own + segments.level[item] * mean * exposure
                segments.deviation[segment, item] = mean * a / b
                count += 1.0
                gap += a / b - digamma(a) + math.log(b)
            else:
                segments.deviation[segment, item] = mean
    segments.similarity = min(MAX_SIMILARITY, max(MIN_SHAPE, shape_of(max(1e-5, gap / count - 1.0))))


@jit
def _learn_slots(counts: PosteriorCounts, bias: BiasPosterior, segments: SegmentEffects) -> None:
    """Set δ to its mean, and τ by EM likewise."""
    number_of_segments, number_of_items, slots = counts.passes.shape
    own = segments.slot_similarity
    count, gap = EXTRA_SLOTS, EXTRA_SLOTS * (math.log(SLOT_SIMILARITY) - digamma(SLOT_SIMILARITY) + 1.0)
    for segment in range(number_of_segments):
        if not segments.is_used[segment]:
            continue
        for slot in range(slots):
            expected = 0.0
            for item in range(number_of_items):
                expected += counts.passes[segment, item, slot] * segments.mean[segment, item]
            expected *= math.exp(bias.mode[slot])
            if expected > NO_EXPOSURE:
                a, b = own + counts.slot_clicks[IN_USE, segment, slot], own + expected
                segments.slot_deviation[segment, slot] = a / b
                count += 1.0
                gap += a / b - digamma(a) + math.log(b)
    segments.slot_similarity = min(MAX_SIMILARITY, max(1.0, shape_of(max(1e-5, gap / count - 1.0))))
