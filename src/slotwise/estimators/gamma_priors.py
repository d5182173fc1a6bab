"""Gamma priors and their validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.core.types import FloatArray


@dataclass(frozen=True, eq=False)
class GammaPrior:
    """A Gamma distribution with mean shape/rate.

    Parameters
    ----------
    shape, rate
        A positive number for all items or slots, or a list with one entry for each.
    """

    shape: Any
    rate: Any


def checked_prior(name: str, prior: object, size: int, each: str) -> tuple[FloatArray, FloatArray]:
    """Return shape and rate with an entry for each of `size` items or slots; errors name the field."""
    if not isinstance(prior, GammaPrior):
        raise InvalidInput(f"{name} must be a GammaPrior, got {prior!r}")
    shape, rate = (
        _checked(f"{name}.{field}", value, size, each)
        for field, value in (("shape", prior.shape), ("rate", prior.rate))
    )
    return shape, rate


def _checked(name: str, value: Any, size: int, each: str) -> FloatArray:
    if value is None:
        raise InvalidInput(f"{name} must be given, got None")
    if np.ndim(value) == 0 and not isinstance(value, str):
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = np.nan
        if isinstance(value, bool) or not (np.isfinite(number) and number > 0):
            raise InvalidInput(f"{name} must be positive and finite, got {value!r}")
        return np.full(size, number)
    values = validation.positive_vector(name, value, each=each)
    if len(values) != size:
        raise InvalidInput(f"{name} must have one entry per {each}, {size}, got {len(values)}")
    return values
