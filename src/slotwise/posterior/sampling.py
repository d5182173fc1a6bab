"""Draws from the hierarchical posterior for a decision: of all that segments share, then for the current segment."""

from __future__ import annotations

import math

import numpy as np

from slotwise.core.types import FloatArray, IntArray
from slotwise.jit import inlined, jit
from slotwise.posterior.posterior_interface import draw_parameters, set_features, set_segment
from slotwise.posterior.state import (
    IN_USE,
    BiasPosterior,
    Draw,
    HierarchicalPosterior,
    ItemFit,
    ItemPrior,
    Pending,
    PosteriorCounts,
    SegmentEffects,
)
from slotwise.posterior.updates import finish_period, refresh

#: a draw of the shared parameters serves at most so many decisions, and at most this part of the rounds so far
MAX_DECISIONS_PER_DRAW = 16
MAX_AGE = 0.01


@set_segment.register(HierarchicalPosterior)
def _set_segment(posterior: HierarchicalPosterior, segment: int) -> None:
    if segment != posterior.segment:
        posterior.segment = segment
        posterior.is_current = False


@set_features.register(HierarchicalPosterior)
def _set_features(posterior: HierarchicalPosterior, items: IntArray, rows: FloatArray) -> None:
    prior, fit = posterior.items, posterior.items.featured
    for row in range(len(items)):
        item, log_mean = items[row], fit.weights[0]
        for column in range(rows.shape[1]):
            prior.features[item, column + 1] = rows[row, column]
            log_mean += rows[row, column] * fit.weights[column + 1]
        fit.mean[item] = math.exp(log_mean)
        if prior.uses_features:
            prior.mean[item] = fit.mean[item]
    # the draw in use has other features
    posterior.draw.decisions_left = 0
    posterior.is_current = False


@draw_parameters.register(HierarchicalPosterior)
def _draw_parameters(posterior: HierarchicalPosterior, rng: np.random.Generator) -> bool:
    draw, counts = posterior.draw, posterior.counts
    if draw.decisions_left > 0:
        draw.decisions_left -= 1
    else:
        draw.decisions_left = min(MAX_DECISIONS_PER_DRAW, int(counts.rounds * MAX_AGE)) - 1
        if posterior.forgetting.rounds_left <= 0.0:
            finish_period(posterior)
        if counts.rounds >= posterior.refit_at:
            refresh(posterior, 1)
        draw_shared(posterior, rng)
        posterior.is_current = False
    if posterior.is_current:
        return False
    draw_for_segment(posterior, rng)
    # a draw of a segment's position bias is for one decision, and so is one that accounts for pending rounds
    posterior.is_current = counts.clicks.shape[1] == 1
    return True


@jit
def draw_shared(posterior: HierarchicalPosterior, rng: np.random.Generator) -> None:
    """Draw λ, β and m, which all segments share."""
    draw, counts, items = posterior.draw, posterior.counts, posterior.items
    scale = 1.0 if posterior.bias.is_known else _draw_bias(draw, counts, posterior.bias, rng)
    if items.uses_features:
        _draw_weights(draw, items.featured, rng)
        for item in range(len(items.mean)):
            log_mean = 0.0
            for column in range(len(draw.weights)):
                log_mean += items.features[item, column] * draw.weights[column]
            draw.prior_rate[item] = items.shape * math.exp(-log_mean) * scale
    else:
        for item in range(len(items.mean)):
            draw.prior_rate[item] = items.shape / items.mean[item] * scale
    if counts.passes.shape[0] > 1:
        _draw_levels(draw, counts, posterior.pending, items, posterior.segments, rng)


@inlined
def _draw_bias(draw: Draw, counts: PosteriorCounts, bias: BiasPosterior, rng: np.random.Generator) -> float:
    """Draw λ, and return the scale of the draw against the mode."""
    mode, noise = bias.mode, draw.noise
    slots = len(mode)
    for slot in range(slots):
        noise[slot] = draw.spread * rng.standard_normal()
    now, then = 0.0, 0.0
    for slot in range(slots):
        drawn = mode[slot]
        for other in range(slot, slots):
            drawn += bias.root[slot, other] * noise[other]
        draw.position_bias[slot] = math.exp(drawn)
        clicks = 1e-9
        for segment in range(counts.passes.shape[0]):
            clicks += counts.slot_clicks[IN_USE, segment, slot]
        # the scale of a draw is an average over slots, weighted by their clicks, as these fix the exposure
        now += clicks * drawn
        then += clicks * mode[slot]
        noise[slot] = clicks
    total = 0.0
    for slot in range(slots):
        total += noise[slot]
    return math.exp((now - then) / total)


@inlined
def _draw_weights(draw: Draw, fit: ItemFit, rng: np.random.Generator) -> None:
    noise = fit.noise
    for column in range(len(noise)):
        noise[column] = draw.spread * rng.standard_normal()
    for column in range(len(noise)):
        drawn = fit.weights[column]
        for other in range(column, len(noise)):
            drawn += fit.root[column, other] * noise[other]
        draw.weights[column] = drawn


@jit
def _draw_levels(
    draw: Draw,
    counts: PosteriorCounts,
    pending: Pending,
    items: ItemPrior,
    segments: SegmentEffects,
    rng: np.random.Generator,
) -> None:
    """m_j ~ Gamma(w(s + Σ_s N_sj), w(s/μ_j + Σ_s E_sj ε_sj)), ε at its mean; pending rounds narrow it.

    ε is estimated from the same clicks: with it integrated out, N clicks of a cell are as much evidence of m as
    Nκ/(κ + mE) would be if ε were known. w is the part that is left.
    """
    waiting = _pass_rate(counts) if pending.rounds > 0.0 else 0.0
    for item in range(len(draw.level)):
        shape, rate, flying = items.shape + segments.level_clicks[item], draw.prior_rate[item], 0.0
        evidence = items.shape + segments.evidence_clicks[item]
        for slot in range(len(draw.position_bias)):
            rate += draw.position_bias[slot] * segments.level_passes[item, slot]
            flying += waiting * draw.position_bias[slot] * pending.level_passes[item, slot]
        widened = evidence / shape
        evidence = draw.boldness * (widened + flying / rate)
        draw.level[item] = rng.standard_gamma(shape * evidence) / (rate * evidence)


@inlined
def _pass_rate(counts: PosteriorCounts) -> float:
    """Return the part of rounds that end without a click."""
    return (counts.no_clicks + 1.0) / (counts.rounds + 2.0)


@inlined
def _drawn_segment_mean(draw: Draw, items: ItemPrior, segment: int, item: int) -> float:
    """Return ν by β as drawn; 1 if features are not in use."""
    total, columns = 0.0, items.segment_features.shape[2]
    if columns == 0 or not items.uses_features:
        return 1.0
    for column in range(columns):
        total += items.segment_features[segment, item, column] * draw.weights[column]
    return math.exp(total)


@jit
def draw_for_segment(posterior: HierarchicalPosterior, rng: np.random.Generator) -> None:
    """Set position bias, shape and rate for the current segment."""
    draw, counts, pending, segments = posterior.draw, posterior.counts, posterior.pending, posterior.segments
    number_of_segments, number_of_items, slots = counts.passes.shape
    segment, bias = posterior.segment, posterior.position_bias
    prior = posterior.items.shape
    for slot in range(slots):
        bias[slot] = draw.position_bias[slot]
    if number_of_segments > 1:
        prior = segments.similarity
        for slot in range(slots):
            shape = segments.slot_similarity + counts.slot_clicks[IN_USE, segment, slot]
            shape *= draw.boldness
            bias[slot] *= segments.slot_deviation[segment, slot] * rng.standard_gamma(shape) / shape
    waiting = _pass_rate(counts) if pending.rounds > 0.0 else 0.0
    for item in range(number_of_items):
        rate = draw.prior_rate[item]
        if number_of_segments > 1:
            rate = prior / (draw.level[item] * _drawn_segment_mean(draw, posterior.items, segment, item))
        shape = prior + counts.clicks[IN_USE, segment, item]
        # most items of a large catalogue have no passes, and reading them would take most of the time
        if counts.item_rounds[item] > 0.0:
            for slot in range(slots):
                rate += bias[slot] * counts.passes[segment, item, slot]
        if waiting > 0.0:
            flying = 0.0
            for slot in range(slots):
                flying += bias[slot] * pending.by_slot[segment, item, slot]
            # as many clicks and as much exposure as are expected: the mean stays
            narrowed = 1.0 + waiting * flying / rate
            shape *= narrowed
            rate *= narrowed
        posterior.shape[item] = shape
        posterior.rate[item] = rate / posterior.forgetting.changes.ratio[item]
