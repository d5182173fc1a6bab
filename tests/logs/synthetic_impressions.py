"""Impressions with random lists, under any odds of slot and item."""

from __future__ import annotations

from typing import Any

import numpy as np

from slotwise import NO_CLICK, Rankings


def drawn(odds: Any, impressions: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Uniformly random lists, and the slot clicked in each, or NO_CLICK."""
    slots, items = odds.shape
    shown = np.argsort(rng.random((impressions, items)), axis=1)[:, :slots]
    weights = np.cumsum(odds[np.arange(slots), shown], axis=1)
    left = rng.random(impressions) * (1.0 + weights[:, -1]) - 1.0
    clicked = np.minimum((weights <= left[:, None]).sum(axis=1), slots - 1)
    return shown, np.where(left < 0.0, NO_CLICK, clicked)


def rankings(odds: Any, impressions: int, rng: np.random.Generator) -> Rankings:
    return Rankings.of_rounds(*drawn(odds, impressions, rng), items=odds.shape[1])
