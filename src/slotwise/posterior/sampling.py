"""What is believed for one decision on pages as they are: drawn for all visitors, then for the segment at hand."""

from __future__ import annotations

import math

import numpy as np

from slotwise.jit import inlined, jit
from slotwise.posterior.factory import IN_USE, Lived
from slotwise.posterior.forgetting import end_period
from slotwise.posterior.posterior_interface import imagine, turn_to
from slotwise.posterior.updates import keep_house

#: a draw is kept for no longer than this part of the rounds so far
KEPT_PART = 0.01


@turn_to.register(Lived)
def _turn_to(belief: Lived, segment: int) -> None:
    if segment != belief.segment:
        belief.segment = segment
        belief.at_hand = False


@imagine.register(Lived)
def _imagine(belief: Lived, rng: np.random.Generator) -> None:
    if belief.wait > 0:
        belief.wait -= 1
    else:
        belief.wait = min(belief.keep, int(belief.rounds * KEPT_PART)) - 1
        if belief.memory.left <= 0.0:
            end_period(belief)
        if belief.rounds >= belief.outdated:
            keep_house(belief, 1)
        draw_shared(belief, rng)
        belief.at_hand = False
    if not belief.at_hand:
        bring_to_hand(belief, rng)
        # a draw of how one crowd sees the slots is for one decision, and so is what is in flight
        belief.at_hand = belief.clicks.shape[1] == 1


@jit
def draw_shared(belief: Lived, rng: np.random.Generator) -> None:
    """Draw what all segments share: λ, β and m."""
    bias, noise, mode = belief.drawn_bias, belief.noise, belief.mode
    slots = len(mode)
    scale = 1.0
    if belief.whole_draws > 0.0:
        belief.is_whole = rng.random() < belief.whole_draws
    if not belief.is_told:
        wider = 1.0 / belief.bias_spread if belief.is_whole else 1.0
        for slot in range(slots):
            noise[slot] = wider * rng.standard_normal()
        now, then = 0.0, 0.0
        for slot in range(slots):
            drawn = mode[slot]
            for other in range(slot, slots):
                drawn += belief.spread[slot, other] * noise[other]
            bias[slot] = math.exp(drawn)
            seen = 1e-9
            for segment in range(belief.passes.shape[0]):
                seen += belief.slot_clicks[IN_USE, segment, slot]
            # what clicks say of a slot's share in all exposure is what the scale of a draw goes by
            now += seen * drawn
            then += seen * mode[slot]
            noise[slot] = seen
        total = 0.0
        for slot in range(slots):
            total += noise[slot]
        scale = math.exp((now - then) / total)
    if belief.trusts_features:
        _draw_weights(belief, rng)
        for item in range(len(belief.level)):
            drawn = 0.0
            for column in range(len(belief.drawn_weights)):
                drawn += belief.features[item, column] * belief.drawn_weights[column]
            belief.prior_rate[item] = belief.item_shape * math.exp(-drawn) * scale
    else:
        for item in range(len(belief.level)):
            belief.prior_rate[item] = belief.item_shape / belief.item_mean[item] * scale
    if belief.passes.shape[0] > 1:
        _draw_levels(belief, rng)


@inlined
def _draw_weights(belief: Lived, rng: np.random.Generator) -> None:
    fit, noise = belief.featured, belief.featured.noise
    spread = 1.0 if belief.is_whole else belief.weights_spread
    for column in range(len(noise)):
        noise[column] = spread * rng.standard_normal()
    for column in range(len(noise)):
        drawn = fit.weights[column]
        for other in range(column, len(noise)):
            drawn += fit.root[column, other] * noise[other]
        belief.drawn_weights[column] = drawn


@jit
def _draw_levels(belief: Lived, rng: np.random.Generator) -> None:
    """m_j ~ Gamma(w(s + Σ_s N_sj), w(s/μ_j + Σ_s E_sj ε_sj)), ε at its mean; what is in flight narrows it.

    ε is not known but from the same clicks: with it integrated out, N of a cell say as much of m as Nκ/(κ + mE) would
    if it were. w is the part that is left. Where m is not drawn it is settled at its mean.
    """
    segments, items, slots = belief.passes.shape
    waiting = pass_rate(belief) if belief.in_flight > 0.0 else 0.0
    own = belief.own_taste
    for item in range(items):
        shape, rate, flying = belief.item_shape, belief.prior_rate[item], 0.0
        evidence = shape
        for segment in range(segments):
            clicks, seen, sent = belief.clicks[IN_USE, segment, item], 0.0, 0.0
            for slot in range(slots):
                bias = belief.drawn_bias[slot] * belief.slot_level[segment, slot]
                seen += bias * belief.passes[segment, item, slot]
                sent += bias * belief.flying[segment, item, slot]
            part = own / (own + belief.level[item] * belief.own_mean[segment, item] * seen)
            shape += clicks
            evidence += part * clicks
            rate += seen * belief.own_level[segment, item]
            flying += part * waiting * sent * belief.own_level[segment, item]
        widened = evidence / shape
        narrowed = widened + flying / rate
        belief.level_evidence[item] = shape * narrowed
        if belief.draws_levels:
            belief.drawn_level[item] = rng.standard_gamma(shape * narrowed) / (rate * narrowed)
        else:
            belief.drawn_level[item] = shape / rate


@inlined
def pass_rate(belief: Lived) -> float:
    """The part of rounds that end without a click."""
    return (belief.no_clicks + 1.0) / (belief.rounds + 2.0)


@inlined
def _drawn_own(belief: Lived, item: int) -> float:
    """ν of an item to the segment at hand, by β as last drawn; 1 if features are not relied on."""
    total, columns = 0.0, belief.own_features.shape[2]
    if columns == 0 or not belief.trusts_features:
        return 1.0
    for column in range(columns):
        total += belief.own_features[belief.segment, item, column] * belief.drawn_weights[column]
    return math.exp(total)


@jit
def bring_to_hand(belief: Lived, rng: np.random.Generator) -> None:
    """Position bias, shape and rate for the segment at hand, and what of the rate is assumed."""
    segments, items, slots = belief.passes.shape
    segment, bias = belief.segment, belief.position_bias
    prior = belief.item_shape
    beyond = max(0.0, prior - 1.0)
    beyond_part = beyond / prior
    for slot in range(slots):
        bias[slot] = belief.drawn_bias[slot]
    if segments > 1:
        prior = belief.own_taste
        for slot in range(slots):
            shape = belief.own_slots + belief.slot_clicks[IN_USE, segment, slot]
            bias[slot] *= belief.slot_level[segment, slot] * rng.standard_gamma(shape) / shape
    waiting = pass_rate(belief) if belief.in_flight > 0.0 else 0.0
    for item in range(items):
        rate = (
            prior / (belief.drawn_level[item] * _drawn_own(belief, item)) if segments > 1 else belief.prior_rate[item]
        )
        shape = prior + belief.clicks[IN_USE, segment, item]
        of_prior = rate
        for slot in range(slots):
            rate += bias[slot] * belief.passes[segment, item, slot]
        if segments == 1:
            belief.assumed[item] = beyond_part * of_prior
        elif not belief.draws_levels:
            # the variance of log α is 1/shape, and that of log m times the square of the prior's part in the mean
            drawn_to = shape * (of_prior / rate) ** 2
            known = 1.0 / (1.0 + drawn_to / belief.level_evidence[item])
            belief.assumed[item] = rate * (known - 1.0 / (1.0 + drawn_to / (belief.level_evidence[item] - beyond)))
            shape *= known
            rate *= known
        if waiting > 0.0:
            flying = 0.0
            for slot in range(slots):
                flying += bias[slot] * belief.flying[segment, item, slot]
            # as many clicks and as much exposure as are expected: the mean stays
            narrowed = 1.0 + waiting * flying / rate
            shape *= narrowed
            rate *= narrowed
        belief.shape[item] = shape
        belief.rate[item] = rate
