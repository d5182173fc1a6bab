"""Pair effects: a test, always on, of whether slots act alike on all items, and the wider posterior if they do not.

The model is γ_kj = λ_kα_j. The alternative has an effect of each pair, γ_kj = λ_kα_jδ_kj with δ_kj ~ Gamma(ν, ν).

**The test.** Take the N_sj clicks on item j in segment s as given. By the model they fall on its slots with the shares
q_k ∝ λ_kÑ_sjk, whatever the attractiveness. With N_kj clicks on a pair and E_kj = Σ_s N_sj q_sjk of them expected, the
Bayes factor of the alternative is

    Π_kj Γ(ν + N_kj)/Γ(ν) · ν^ν/(ν + E_kj)^(ν + N_kj) · e^E_kj · Π_j √(Π_k (ν + E_kj) / det(νI + V_j)),

with V_j = diag(E_j) - Σ_s N_sj q_sj q_sjᵀ. The root is Laplace's method for the attractiveness, under flat priors of
log α_sj; an item that was in one slot only says nothing. As both sides treat a factor of all odds of an item alike, the
Bayes factor is a test martingale: the chance that it ever exceeds 1/p is at most p, however often one looks (Ville's
inequality; Pérez-Ortiz, Lardy, de Heide and Grünwald, E-statistics, group invariance and anytime-valid testing, 2024).
So is its mean over several ν. It follows from the tally alone.

**The wider posterior.** With δ integrated out, the clicks on a pair are negative binomial. The score of the log of
their mean is w_kj(N_kj - E_kj), w_kj = ν/(ν + E_kj). All that is fitted to clicks and passes is therefore fitted to
w_kjN_kj and w_kjÑ_kj. Given λ and α as drawn, δ_kj ~ Gamma(ν + N_kj, ν + λ_kα_jÑ_kj). ν is fitted by EM, as κ is.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from slotwise.core.small_linalg import factorise
from slotwise.core.types import FloatArray
from slotwise.estimators.diagnostics import MIN_EXPECTED_CLICKS
from slotwise.jit import inlined, jit
from slotwise.posterior.gamma_prior import MIN_SHAPE, NO_EXPOSURE, digamma, log_gamma, shape_of
from slotwise.posterior.posterior_interface import draw_pair_odds
from slotwise.posterior.state import IN_USE, HierarchicalPosterior, PairEffects, PosteriorCounts, SegmentEffects

#: the probability that the test ever fires though the model is true
FALSE_ALARMS = 0.01
#: candidates of ν: the standard deviation of an effect is 1/√ν, from a tenth to 0.8
SIMILARITIES = (100.0, 25.0, 6.25, 1.5625)
#: steps of iterative scaling of the position bias before the test
SCALINGS = 8
#: the test is repeated when the rounds have grown by this part
CHECK_GROWTH = 0.1
#: ν before any data, also that of the pseudo-pairs that are added to the real ones, and the largest ν
PAIR_SIMILARITY = 20.0
EXTRA_PAIRS = 2.0
MAX_SIMILARITY = 1e4
#: larger evidence is reported as this
MAX_LOG_EVIDENCE = math.log(1e9)


class ModelCheck(NamedTuple):
    """The test of whether slots act alike on all items, and what was done."""

    #: whether enough clicks are on items that were in several slots
    is_tested: bool
    #: whether slots do not act alike, so that the posterior has effects of pairs of slot and item
    is_wrong: bool
    #: how many times likelier the counts are with effects of pairs than without
    evidence: float
    #: the typical relative effect of a pair, 1/√ν; 0 if the posterior has none
    spread: float

    @property
    def sentence(self) -> str:
        """What was found and done.

        >>> ModelCheck(True, False, 0.2, 0.0).sentence
        'No sign that slots act differently on different items.'
        """
        if not self.is_tested:
            return "Not enough data to test the model: too few items were clicked in several slots."
        if not self.is_wrong:
            return "No sign that slots act differently on different items."
        return (
            f"Slots do not act alike on all items: effects of pairs of slot and item of typically {self.spread:.0%} "
            "were found. Lists and intervals account for them."
        )


def model_check(pairs: PairEffects) -> ModelCheck:
    """Return the result of the last test."""
    spread = 1.0 / math.sqrt(pairs.similarity) if pairs.is_used else 0.0
    # a number that JSON can hold
    evidence = math.exp(min(MAX_LOG_EVIDENCE, pairs.evidence))
    return ModelCheck(bool(pairs.tested >= MIN_EXPECTED_CLICKS), bool(pairs.is_used), evidence, spread)


def pair_effects(posterior: HierarchicalPosterior) -> FloatArray | None:
    """Return the mean of δ, slots × items, or None if the posterior has no effects of pairs."""
    pairs = posterior.counts.pairs
    if not pairs.is_used:
        return None
    return np.asarray((pairs.similarity + pairs.clicks) / (pairs.similarity + pairs.expected)).T


def no_pair_effects(items: int, slots: int) -> PairEffects:
    """Return the state before the first round."""
    return PairEffects(
        is_used=False,
        is_weighed=False,
        evidence=0.0,
        tested=0.0,
        check_at=0.0,
        similarity=PAIR_SIMILARITY,
        weight=np.ones((items, slots)),
        clicks=np.zeros((items, slots)),
        expected=np.zeros((items, slots)),
        sums=np.zeros((4, slots)),
        information=np.zeros((slots, slots)),
        matrix=np.zeros((slots, slots)),
        least=np.zeros(slots),
        share=np.zeros(slots),
        slots=np.ones(slots),
        factors=np.zeros(len(SIMILARITIES)),
    )


@inlined
def pair_weight(counts: PosteriorCounts, item: int, slot: int) -> float:
    """Return w_kj, which a click or a pass of the pair counts."""
    return float(counts.pairs.weight[item, slot]) if counts.pairs.is_used else 1.0


@inlined
def pair_mean(counts: PosteriorCounts, item: int, slot: int) -> float:
    """Return the mean of δ_kj."""
    pairs = counts.pairs
    if not pairs.is_used:
        return 1.0
    return float((pairs.similarity + pairs.clicks[item, slot]) / (pairs.similarity + pairs.expected[item, slot]))


@jit
def check_pairs(counts: PosteriorCounts, segments: SegmentEffects) -> bool:
    """Repeat the test if it is due; return whether the posterior has to be fitted again."""
    pairs = counts.pairs
    if counts.rounds < pairs.check_at:
        return False
    pairs.check_at = counts.rounds * (1.0 + CHECK_GROWTH)
    pairs.evidence = _log_bayes_factor(counts, segments)
    is_wrong = pairs.evidence > -math.log(FALSE_ALARMS)
    if is_wrong == pairs.is_used:
        return False
    pairs.is_used = is_wrong
    pairs.is_weighed = True
    pairs.similarity = PAIR_SIMILARITY
    pairs.weight[:] = 1.0
    pairs.clicks[:] = 0.0
    pairs.expected[:] = 0.0
    return True


@jit
def _log_bayes_factor(counts: PosteriorCounts, segments: SegmentEffects) -> float:
    """Return the log of the mean Bayes factor over the candidates of ν."""
    pairs = counts.pairs
    factors, matrix = pairs.factors, pairs.matrix
    _, number_of_items, slots = counts.passes.shape
    clicks, expected, information = pairs.sums[0], pairs.sums[1], pairs.information
    scale = 1.0 / _overdispersion(counts, segments)
    _fit_slots(counts, segments, clicks, expected, information)
    factors[:] = 0.0
    pairs.tested = 0.0
    for item in range(number_of_items):
        _expect(counts, segments, item, clicks, expected, information)
        tested = 0.0
        for slot in range(slots):
            tested += information[slot, slot]
        pairs.tested += tested
        # an item in one slot says nothing
        if tested <= NO_EXPOSURE:
            continue
        for number in range(len(SIMILARITIES)):
            similarity = SIMILARITIES[number]
            for slot in range(slots):
                n, e = scale * clicks[slot], scale * expected[slot]
                factors[number] += log_gamma(similarity + n) - log_gamma(similarity) + e
                factors[number] += similarity * math.log(similarity)
                factors[number] -= (similarity + n - 0.5) * math.log(similarity + e)
                for other in range(slot + 1):
                    matrix[slot, other] = scale * information[slot, other]
                matrix[slot, slot] += similarity
            factorise(matrix, pairs.least, 0)
            for slot in range(slots):
                factors[number] -= math.log(matrix[slot, slot])
    largest, total = factors.max(), 0.0
    for factor in factors:
        total += math.exp(factor - largest)
    return float(largest + math.log(total / len(factors)))


@jit
def _expect(
    counts: PosteriorCounts,
    segments: SegmentEffects,
    item: int,
    clicks: FloatArray,
    expected: FloatArray,
    information: FloatArray,
) -> None:
    """Set the clicks on an item by slot, those expected given its clicks in each segment, and V."""
    pairs, share = counts.pairs, counts.pairs.share
    slots = len(share)
    clicks[:] = 0.0
    expected[:] = 0.0
    information[:] = 0.0
    for segment in range(counts.passes.shape[0]):
        total, exposure = 0.0, 0.0
        for slot in range(slots):
            clicks[slot] += counts.pair_clicks[IN_USE, segment, item, slot]
            total += counts.pair_clicks[IN_USE, segment, item, slot]
            passes = counts.passes[segment, item, slot] / pair_weight(counts, item, slot)
            share[slot] = pairs.slots[slot] * segments.mean_bias[segment, slot] * passes
            exposure += share[slot]
        if total > 0.0 and exposure > 0.0:
            for slot in range(slots):
                share[slot] /= exposure
                expected[slot] += total * share[slot]
                information[slot, slot] += total * share[slot]
                for other in range(slot + 1):
                    information[slot, other] -= total * share[slot] * share[other]


@jit
def _fit_slots(
    counts: PosteriorCounts,
    segments: SegmentEffects,
    clicks: FloatArray,
    expected: FloatArray,
    information: FloatArray,
) -> None:
    """Scale the position bias until as many clicks are expected in each slot as there are, as the model has it."""
    pairs = counts.pairs
    slots = len(pairs.slots)
    seen, fitted = pairs.sums[2], pairs.sums[3]
    pairs.slots[:] = 1.0
    for _ in range(SCALINGS):
        seen[:] = 0.0
        fitted[:] = 0.0
        for item in range(counts.passes.shape[1]):
            _expect(counts, segments, item, clicks, expected, information)
            for slot in range(slots):
                seen[slot] += clicks[slot]
                fitted[slot] += expected[slot]
        for slot in range(slots):
            if fitted[slot] > 0.0:
                pairs.slots[slot] *= seen[slot] / fitted[slot]


@jit
def _overdispersion(counts: PosteriorCounts, segments: SegmentEffects) -> float:
    """Return the variance of clicks over their mean: 1 + γ, averaged over clicks, for the part that is from tallies."""
    number_of_segments, number_of_items, slots = counts.passes.shape
    clicks, weighted = 0.0, 0.0
    for segment in range(number_of_segments):
        for item in range(number_of_items):
            for slot in range(slots):
                count = counts.pair_clicks[IN_USE, segment, item, slot]
                clicks += count
                weighted += count * segments.mean_bias[segment, slot] * segments.mean[segment, item]
    return 1.0 + min(1.0, counts.tally_rounds / max(1.0, counts.rounds)) * float(weighted / max(1.0, clicks))


@jit
def weigh_pairs(counts: PosteriorCounts, segments: SegmentEffects) -> None:
    """Set N, E and w, and multiply clicks and passes in use by w; the passes have just been counted."""
    pairs = counts.pairs
    number_of_segments, number_of_items, slots = counts.passes.shape
    counts.clicks[IN_USE] = 0.0
    counts.slot_clicks[IN_USE] = 0.0
    for item in range(number_of_items):
        for slot in range(slots):
            n, e = 0.0, 0.0
            for segment in range(number_of_segments):
                n += counts.pair_clicks[IN_USE, segment, item, slot]
                mean = segments.mean_bias[segment, slot] * segments.mean[segment, item]
                e += mean * counts.passes[segment, item, slot]
            weight = pairs.similarity / (pairs.similarity + e) if pairs.is_used else 1.0
            pairs.clicks[item, slot], pairs.expected[item, slot], pairs.weight[item, slot] = n, e, weight
            for segment in range(number_of_segments):
                counts.passes[segment, item, slot] *= weight
                clicks = weight * counts.pair_clicks[IN_USE, segment, item, slot]
                counts.clicks[IN_USE, segment, item] += clicks
                counts.slot_clicks[IN_USE, segment, slot] += clicks


@jit
def learn_pairs(counts: PosteriorCounts) -> None:
    """Fit ν by EM: log ν - ψ(ν) = mean(E δ - E log δ) - 1 over pairs that were passed."""
    pairs = counts.pairs
    number_of_segments, number_of_items, slots = counts.passes.shape
    count, gap = EXTRA_PAIRS, EXTRA_PAIRS * (math.log(PAIR_SIMILARITY) - digamma(PAIR_SIMILARITY) + 1.0)
    for item in range(number_of_items):
        of_item = 0.0
        for segment in range(number_of_segments):
            of_item += counts.clicks[IN_USE, segment, item]
        for slot in range(slots):
            if pairs.expected[item, slot] > NO_EXPOSURE:
                of_slot = 0.0
                for segment in range(number_of_segments):
                    of_slot += counts.slot_clicks[IN_USE, segment, slot]
                a, b = pairs.similarity + pairs.clicks[item, slot], pairs.similarity + pairs.expected[item, slot]
                count += 1.0
                gap += a / b - digamma(a) + math.log(b)
                # λα is fitted to the same clicks: its error would hide a part of the effects
                part = 1.0 - pairs.weight[item, slot]
                gap += 0.5 * part**2 * (1.0 / max(1.0, of_item) + 1.0 / max(1.0, of_slot))
    pairs.similarity = min(MAX_SIMILARITY, max(MIN_SHAPE, shape_of(max(1e-5, gap / count - 1.0))))


@draw_pair_odds.register(HierarchicalPosterior)
def _draw_pair_odds(
    posterior: HierarchicalPosterior, attractiveness: FloatArray, odds: FloatArray, rng: np.random.Generator
) -> bool:
    """Fill `odds` with λ_kα_jδ_kj, given λ and α as drawn."""
    pairs, segments, segment = posterior.counts.pairs, posterior.segments, posterior.segment
    if not pairs.is_used:
        return False
    boldness = posterior.draw.boldness
    for slot in range(odds.shape[0]):
        bias = posterior.position_bias[slot]
        for item in range(odds.shape[1]):
            drawn = bias * attractiveness[item]
            mean = segments.mean_bias[segment, slot] * segments.mean[segment, item]
            shape = pairs.similarity + pairs.clicks[item, slot]
            rate = pairs.similarity + pairs.expected[item, slot] * drawn / mean
            odds[slot, item] = drawn * rng.standard_gamma(boldness * shape) / (boldness * rate)
    return True
