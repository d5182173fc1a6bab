"""Which model best predicts the clicks of impressions that it has not seen?

Every model here gives each pair of slot and item odds γ against no click, so that all are compared on one footing: the
probability of the clicks, given the list and at most one click. Priors are weak and equal: one pseudo-click a
parameter, centred on the estimate from slots alone, so that an item that was not seen yet is like the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from slotwise.core.rankings import Rankings
from slotwise.core.types import EMPTY, FloatArray
from slotwise.estimators import GammaPrior, maximum_a_posteriori
from slotwise.estimators.likelihoods.joint_likelihood import Joint
from slotwise.estimators.likelihoods.list_likelihood import log_likelihoods
from slotwise.estimators.position_based_em import position_based
from slotwise.logs.fitting.holdout_split import PART, split

#: a larger log is sampled down to this many impressions, which distinguish the models as well
MAX_IMPRESSIONS = 100_000
WEAK_SHAPE = 1.0
#: a difference is clear if it is more than this many standard errors
CLEAR = 2.0
#: a difference is slight if it is less than this share of the difference to the worst model
SLIGHT = 0.02
#: what it means if a model predicts better than multinomial logit with slot bias
REMEDIES = {
    "slots and items (position-based model)": "users seem to judge items one by one, rather than to choose among them.",
    "items only": "slots hardly differ here, or too few data to estimate by how much.",
    "slots only": "items hardly differ here, or too few data on each to estimate by how much.",
    "all alike": "too few data to separate slots and items.",
}
MIN_ODDS = 1e-9


@dataclass(frozen=True)
class Score:
    """One model on the impressions held out."""

    model: str
    #: mean per impression
    log_likelihood: float
    #: difference to the first model, and its standard error over impressions
    difference: float
    standard_error: float


@dataclass(frozen=True)
class HoldoutComparison:
    """The models' scores, multinomial logit with slot bias first."""

    fitted_on: int
    impressions: int
    scores: tuple[Score, ...]

    def in_words(self) -> str:
        """Which model predicts best, and what that means."""
        if not self.scores:
            return "There are too few impressions to hold any out."
        ours, others = self.scores[0].model, self.scores[1:]
        # with many impressions anything is significant, even what the priors of the models make of rare items
        matters = SLIGHT * max(abs(score.difference) for score in others)
        better = [score for score in others if score.difference > max(CLEAR * score.standard_error, matters)]
        level = [score.model for score in others if abs(score.difference) <= max(CLEAR * score.standard_error, matters)]
        if better:
            best = max(better, key=lambda score: score.difference)
            return (
                f"“{best.model}” predicts the impressions held out better than “{ours}”, by "
                f"{1000 * best.difference:.3g} per thousand: {REMEDIES[best.model]}"
            )
        if level:
            return f"“{ours}” predicts no worse than any other; no clear difference from “{'” and “'.join(level)}”."
        return f"“{ours}” predicts the impressions held out better than every other model."


def multinomial_logit(seen: Rankings) -> FloatArray:
    """γ_kj = λ_kα_j."""
    by_slot, items, slots = slot_odds(seen), np.full(seen.items, WEAK_SHAPE), np.full(seen.slots, WEAK_SHAPE)
    priors = (items, items / by_slot[0]), (slots, slots * by_slot[0] / by_slot)
    bias, attractiveness, _, _ = Joint.of(seen, *priors).maximise()
    return np.outer(bias, attractiveness)


def items_only(seen: Rankings) -> FloatArray:
    """γ_kj = α_j: no slot is better than another."""
    prior = GammaPrior(WEAK_SHAPE, WEAK_SHAPE / common_odds(seen))
    bias = np.ones(seen.slots)
    estimate = maximum_a_posteriori(seen, attractiveness_prior=prior, position_bias=bias)
    return np.outer(bias, estimate.attractiveness)


def slots_only(seen: Rankings) -> FloatArray:
    """γ_kj = λ_k: no item is better than another."""
    return np.outer(slot_odds(seen), np.ones(seen.items))


def position_based_model(seen: Rankings) -> FloatArray:
    """γ_kj = q/(1 - q), q = θ_ka_j: slots are clicked independently of each other, given at most one click."""
    by_slot = slot_odds(seen)
    chances = by_slot / (1.0 + by_slot)
    return position_based(
        seen,
        attraction_prior=GammaPrior(WEAK_SHAPE, WEAK_SHAPE / chances[0]),
        examination_prior=GammaPrior(WEAK_SHAPE, WEAK_SHAPE * chances[0] / chances),
    ).odds


def alike(seen: Rankings) -> FloatArray:
    """γ is the same for all pairs."""
    return np.full((seen.slots, seen.items), common_odds(seen))


#: functions from impressions to the odds of every pair, slots × items, by the names in the report
MODELS: dict[str, Callable[[Rankings], FloatArray]] = {
    "slots and items (multinomial logit)": multinomial_logit,
    "slots and items (position-based model)": position_based_model,
    "items only": items_only,
    "slots only": slots_only,
    "all alike": alike,
}


def compare_on_holdout(rankings: Rankings, seed: int = 0, part: float = PART) -> HoldoutComparison:
    """Hold out a random part of the impressions, fit every model to the rest, and score it on that part.

    >>> from slotwise.core.rankings import Rankings
    >>> seen = Rankings([[0, 1], [1, 0]], [[300, 60], [30, 240]], [500, 500], items=2)
    >>> max(compare_on_holdout(seen).scores, key=lambda score: score.log_likelihood).model
    'items only'
    """
    rng = np.random.default_rng(seed)
    if rankings.rounds > MAX_IMPRESSIONS:
        rankings, _ = split(rankings, MAX_IMPRESSIONS / rankings.rounds, rng)
    rankings = _only_shown(rankings)
    kept_out, training = split(rankings, part, rng)
    if not kept_out.rounds:
        return HoldoutComparison(training.rounds, 0, ())
    counts = np.column_stack([kept_out.clicks, kept_out.passes])
    happened = counts > 0
    times, total = counts[happened], kept_out.rounds
    values = {name: np.column_stack(log_likelihoods(kept_out, fit(training)))[happened] for name, fit in MODELS.items()}
    base = next(iter(values.values()))
    scores = []
    for name, value in values.items():
        mean, difference = times @ value / total, times @ (value - base) / total
        variance = times @ (value - base - difference) ** 2 / max(1, total - 1)
        scores.append(Score(name, float(mean), float(difference), float(np.sqrt(variance / total))))
    return HoldoutComparison(training.rounds, total, tuple(scores))


def _only_shown(rankings: Rankings) -> Rankings:
    """The same rankings, of the items that are in them: of a sample, others would only take time."""
    shown = np.zeros(rankings.items, np.bool_)
    shown[rankings.shown[rankings.shown != EMPTY]] = True
    places = np.cumsum(shown) - 1
    lists = np.where(rankings.shown == EMPTY, EMPTY, places[np.maximum(rankings.shown, 0)])
    return rankings.renumbered(lists, max(1, int(shown.sum())))


def slot_odds(seen: Rankings) -> FloatArray:
    """γ of each slot if all items are alike: the slots themselves take the place of the items."""
    lists = np.where(seen.shown == EMPTY, EMPTY, np.arange(seen.slots))
    as_items = Rankings(lists, seen.clicks, seen.passes, items=seen.slots)
    prior = GammaPrior(WEAK_SHAPE, WEAK_SHAPE / common_odds(seen))
    return maximum_a_posteriori(as_items, attractiveness_prior=prior, position_bias=np.ones(seen.slots)).attractiveness


def common_odds(seen: Rankings) -> float:
    """The γ with as many expected clicks as there were, half a click more and half a pass more: ΣT nγ/(1 + nγ) = N."""
    filled, times = (seen.shown != EMPTY).sum(axis=1), seen.times
    # lists of one length are one case
    lengths, place = np.unique(filled, return_inverse=True)
    times = np.bincount(place, weights=times, minlength=len(lengths))
    clicks, total = seen.clicks.sum() + 0.5, times.sum() + 1.0

    def missing(log_odds: float) -> float:
        weight = lengths * np.exp(log_odds)
        return float(times @ (weight / (1.0 + weight)) * total / max(times.sum(), 1.0) - clicks)

    low, high = np.log(MIN_ODDS), -np.log(MIN_ODDS)
    if not lengths.any() or missing(low) >= 0.0 or missing(high) <= 0.0:
        return float(clicks / total)
    while low < (middle := (low + high) / 2.0) < high and high - low > 1e-13:
        low, high = (low, middle) if missing(middle) > 0.0 else (middle, high)
    return float(np.exp(middle))
