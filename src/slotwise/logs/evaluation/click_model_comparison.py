"""Which click model describes a page? Each is fitted to most impressions and judged by the clicks on the others."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from slotwise.click_models import choice_model
from slotwise.core.errors import InvalidInput
from slotwise.core.types import EMPTY, FloatArray, IntArray
from slotwise.logs.counting.click_sets import ClickSets
from slotwise.logs.evaluation.click_model_fits import CLICK_MODELS
from slotwise.logs.evaluation.click_model_likelihoods import FittedModel
from slotwise.logs.fitting.number_format import percent

#: the share of the impressions that is held out
PART = 0.2
#: a difference is clear if it is more than this many standard errors
CLEAR = 2.0
#: no probability is taken to be smaller: one impression must not decide
SMALLEST = 1e-9


def name_of(id: str) -> str:
    """Return the name of a model for a sentence.

    >>> name_of("mnl")
    'Multinomial logit'
    """
    return choice_model(id).name.removesuffix(" with position bias")


@dataclass(frozen=True, eq=False)
class ModelScore:
    """One model on the impressions held out, a number for each."""

    id: str
    #: log-likelihood of the first click; of all clicks, -inf where the model has them impossible
    first: FloatArray
    every: FloatArray
    #: of whether each slot was clicked, slot by slot, added up
    slots: FloatArray
    #: how many clicks it expects
    clicks: FloatArray

    @property
    def name(self) -> str:
        """As it is registered, shortened."""
        return name_of(self.id)


@dataclass(frozen=True, eq=False)
class ModelComparison:
    """Click models on impressions that they have not seen."""

    placement: str | None
    #: how many impressions the models were fitted to
    seen: int
    #: of these and those held out, how many have several clicks
    with_several: int
    #: per impression held out: how many it stands for, its clicks, its filled slots
    times: IntArray
    clicks: IntArray
    filled: IntArray
    models: tuple[ModelScore, ...]
    #: whether the first click is that in time; otherwise it is the uppermost
    ordered: bool
    #: models that the log cannot identify, and why
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def held_out(self) -> int:
        """How many impressions there are to judge by."""
        return int(self.times.sum())

    @property
    def several(self) -> float:
        """The share of all impressions, held out or not, with several clicks."""
        return self.with_several / max(1, self.seen + self.held_out)

    def mean(self, values: FloatArray) -> float:
        """Per impression."""
        with np.errstate(invalid="ignore"):
            return float((values * self.times).sum() / self.held_out)

    def perplexity(self, model: ModelScore) -> float:
        """Of whether a slot is clicked: 1 for a certain prediction, 2 for a coin toss."""
        return math.exp(-float(model.slots @ self.times) / float(self.filled @ self.times))

    def best(self, values: str) -> list[ModelScore]:
        """The models in the order of their log-likelihood of `first` or `every`, those that can have it."""
        able = [model for model in self.models if np.isfinite(getattr(model, values)).all()]
        return sorted(able, key=lambda model: -self.mean(getattr(model, values)))

    def is_clear(self, better: FloatArray, worse: FloatArray) -> bool:
        """Whether the first is better by more than chance would have it."""
        apart = better - worse
        middle = self.mean(apart)
        error = math.sqrt(self.mean((apart - middle) ** 2) / max(1, self.held_out - 1))
        return middle > CLEAR * error

    def describing(self) -> str:
        """The id of the model that describes the page: of all clicks if some impressions have several."""
        return self.simplest("every" if self.several and self.best("every") else "first").id

    def simplest(self, values: str) -> ModelScore:
        """The first in the order of `CLICK_MODELS` that is not clearly worse than the best."""
        best = getattr(self.best(values)[0], values)
        able = [model for model in self.models if np.isfinite(getattr(model, values)).all()]
        return next(model for model in able if not self.is_clear(best, getattr(model, values)))

    def in_words(self) -> list[str]:
        """Which model describes the page, in sentences."""
        if not self.models:
            return ["There are too few impressions to hold any out, so that no model can be judged."]
        which = "click" if not self.several else "first click" if self.ordered else "uppermost click"
        words = [self._in_words("first", f"the {which}")]
        if self.several:
            words += [self._in_words("every", "all clicks together") + self._impossible_in_words()]
            words += [self._number_in_words()]
        return [*words, *(f"“{name_of(id)}” is left out: {why}." for id, why in self.left_out.items())]

    def in_a_sentence(self) -> str:
        """Return which model describes the first click, and all clicks if some impressions have several."""
        return " ".join(self.in_words()[: 2 if self.several else 1])

    def _in_words(self, values: str, what: str) -> str:
        able = self.best(values)
        if not able:
            return f"No model was compared that could describe {what}."
        best, *others = able
        chosen = self.simplest(values)
        if not others:
            return f"“{chosen.name}” describes {what}; there is no other to compare it with."
        other = others[0] if chosen is best else best
        chosen_mean, two = (self.mean(getattr(model, values)) for model in (chosen, other))
        clear = self.is_clear(getattr(chosen, values), getattr(other, values))
        how = "clearly better than" if clear else "as well as any, no clear difference from"
        return (
            f"“{chosen.name}” describes {what}, {how} “{other.name}” (log-likelihood {chosen_mean:.4f} and {two:.4f})."
        )

    def _impossible_in_words(self) -> str:
        """Which models have several clicks impossible."""
        able = self.best("every")
        impossible = [f"“{model.name}”" for model in self.models if model not in able]
        if not impossible:
            return ""
        return f" {' and '.join(impossible)} cannot account for the {percent(self.several)} with several clicks."

    def _number_in_words(self) -> str:
        expected = ", ".join(f"{self.mean(model.clicks):.2f} by “{model.name}”" for model in self.models)
        seen = self.mean(self.clicks.astype(np.float64))
        return f"Those held out have {seen:.2f} clicks on average. Expected are {expected}."

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers; None where a model has what happened impossible."""
        if not self.held_out:
            return {"fitted_to": self.seen, "held_out": 0, "models": {}, "left_out": self.left_out}
        return {
            "fitted_to": self.seen,
            "held_out": self.held_out,
            "several_clicks": self.several,
            "clicks": self.mean(self.clicks.astype(np.float64)),
            "first_click": "in time" if self.ordered else "uppermost",
            "describes": self.describing(),
            "models": {
                model.id: {
                    "first_click": self.mean(model.first),
                    "all_clicks": self.mean(model.every) if np.isfinite(model.every).all() else None,
                    "perplexity": self.perplexity(model),
                    "clicks": self.mean(model.clicks),
                }
                for model in self.models
            },
            "left_out": self.left_out,
            "words": self.in_words(),
        }


def compare_each(clicks: Iterable[ClickSets], seed: int = 0) -> list[ModelComparison]:
    """`compare` every placement, with draws of its own: the same ones for all would be off together."""
    return [compare(sets, rng=np.random.default_rng([seed, number])) for number, sets in enumerate(clicks)]


def compare(
    sets: ClickSets,
    ids: Sequence[str] = tuple(CLICK_MODELS),
    rng: np.random.Generator | None = None,
    part: float = PART,
) -> ModelComparison:
    """Hold out a random part of the impressions, fit each model to the rest, and judge it by that part."""
    left_out = {id: why for id in ids if (why := _nothing_known(id, sets))}
    held_out, training = sets.split(part, rng or np.random.default_rng(0))
    able = [id for id in ids if id not in left_out] if held_out.impressions and training.impressions else []
    return ModelComparison(
        sets.placement,
        training.impressions,
        sets.several,
        held_out.times,
        held_out.clicks.sum(axis=1),
        (held_out.shown != EMPTY).sum(axis=1),
        tuple(_judged(CLICK_MODELS[id](training), held_out) for id in able),
        sets.ordered,
        left_out,
    )


def combined(comparisons: Iterable[ModelComparison]) -> ModelComparison:
    """All placements together, with the models that were judged in every one of them that has any."""
    every = [each for each in comparisons if each.models]
    if not every:
        raise InvalidInput("no placement has impressions enough to compare click models by")
    common = [model.id for model in every[0].models if all(model.id in _ids(each) for each in every)]

    def joined(id: str, values: str) -> FloatArray:
        parts = [getattr(model, values) for each in every for model in each.models if model.id == id]
        return np.concatenate(parts)

    return ModelComparison(
        None,
        sum(each.seen for each in every),
        sum(each.with_several for each in every),
        np.concatenate([each.times for each in every]),
        np.concatenate([each.clicks for each in every]),
        np.concatenate([each.filled for each in every]),
        tuple(ModelScore(id, *(joined(id, name) for name in ("first", "every", "slots", "clicks"))) for id in common),
        all(each.ordered for each in every),
        {
            id: f"in {count:,} of {len(every):,} placements {why}"
            for id in CLICK_MODELS
            if (reasons := [each.left_out[id] for each in every if id in each.left_out])
            for count, why in [(len(reasons), reasons[0])]
        },
    )


def _ids(comparison: ModelComparison) -> list[str]:
    return [model.id for model in comparison.models]


def _judged(model: FittedModel, sets: ClickSets) -> ModelScore:
    rows = np.arange(len(sets.times))
    rates = np.clip(model.rates(sets.shown), SMALLEST, 1.0 - SMALLEST)
    slots = np.where(sets.shown == EMPTY, 0.0, np.where(sets.clicks, np.log(rates), np.log1p(-rates)))
    return ModelScore(
        model.id,
        np.log(np.maximum(model.law_of_first(sets.shown)[rows, sets.first], SMALLEST)),
        model.log_likelihood(sets.shown, sets.clicks),
        slots.sum(axis=1),
        np.where(sets.shown == EMPTY, 0.0, rates).sum(axis=1),
    )


def _nothing_known(id: str, sets: ClickSets) -> str | None:
    """Why a model cannot be compared, if it cannot: it would be another one, or nothing happened."""
    if not sets.clicks.any():
        return "no impression has a click"
    if id in ("dcm", "ubm") and not sets.several:
        return "no impression has several clicks, so that nothing is known of what people do after a click"
    return None


def why_not(id: str, sets: ClickSets) -> str | None:
    """Why this log cannot identify a model, if it cannot.

    Such a model can still be compared, on lists like those that it was fitted to; it has no estimate for
    other lists.
    """
    if why := _nothing_known(id, sets):
        return why
    if id in ("pbm", "ubm", "mnl"):
        apart = _slots_apart(sets)
        if apart:
            return (
                f"slot {apart[0] + 1} cannot be compared with others, as none of its items was clicked anywhere and "
                "shown in them too"
            )
    return None


def _slots_apart(sets: ClickSets) -> list[int]:
    """The slots that no clicked item ties to the others; slots that were always empty are not asked for."""
    filled = sets.shown != EMPTY
    used = np.flatnonzero(filled.any(axis=0))
    clicked = np.zeros(sets.items, np.bool_)
    clicked[sets.shown[sets.clicks]] = True
    ties = np.zeros((sets.slots, sets.items), np.bool_)
    for slot in used:
        ties[slot, sets.shown[filled[:, slot], slot]] = True
    ties &= clicked
    reached = {int(used[0])}
    while (
        newly_reached := {int(slot) for slot in used if (ties[slot] & ties[list(reached)].any(axis=0)).any()} - reached
    ):
        reached |= newly_reached
    return [int(slot) for slot in used if slot not in reached]


def fit_click_model(id: str, sets: ClickSets) -> FittedModel:
    """A click model fitted to all impressions; refused where the log cannot identify it."""
    if why := why_not(id, sets):
        where = "" if sets.placement is None else f" from {sets.placement}"
        raise InvalidInput(f"“{name_of(id)}” cannot be fitted{where}: {why}")
    return CLICK_MODELS[id](sets)
