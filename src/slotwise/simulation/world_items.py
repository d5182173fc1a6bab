"""The items of one replication of a world: attractiveness, features, arrivals and departures."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from slotwise.core.types import FloatArray, IntArray
from slotwise.environments.availability import NEVER, keep_one
from slotwise.environments.dynamics import Churn
from slotwise.environments.world import World


@dataclass(frozen=True, eq=False)
class Drawn:
    """All items of one replication: the given items, those of the start, and arrivals in order."""

    arrivals: IntArray
    departures: IntArray
    #: segments × items
    attractiveness: FloatArray
    #: items × features
    features: FloatArray | None
    #: per item, of a cycle
    phases: FloatArray


def draw_items(world: World, rounds: int, rng: np.random.Generator) -> Drawn:
    """Draw the items of one replication."""
    churn, items = world.churn, world.items_in(rounds)
    arrivals, attractiveness, features = world.arrivals, world.attractiveness, world.features
    departures = np.full(world.items, NEVER) if world.departures is None else world.departures.copy()
    if churn is not None:
        new_items = items - world.items
        drawn, described = draw_attractiveness(churn, len(world.segments), new_items, rng)
        attractiveness = np.concatenate([attractiveness, drawn], axis=1)
        if churn.features:
            features = described if features is None else np.concatenate([features, described])
        arrivals = np.concatenate([arrivals, draw_arrivals(churn, new_items, rng)])
        stays = draw_lifetimes(churn, items, rng)
        given = 0 if world.departures is None else world.items
        departures = np.concatenate([departures, np.full(new_items, NEVER)])
        # written so that nothing overflows
        departures[given:] = NEVER - np.maximum(NEVER - arrivals[given:] - stays[given:], 0)
        keep_one(arrivals, departures)
    phases = np.zeros(items)
    if world.cycle is not None:
        phases = rng.random(items)
        if world.cycle.phases is not None:
            phases[: world.items] = world.cycle.phases
    return Drawn(arrivals, departures, attractiveness, features, phases)


def draw_arrivals(churn: Churn, items: int, rng: np.random.Generator) -> IntArray:
    """Draw arrival rounds: 0 for the items of the start, a Poisson process for the others."""
    arrivals = np.zeros(items, np.int64)
    if items > churn.start:
        times = np.cumsum(rng.exponential(churn.every / churn.arrivals, items - churn.start))
        arrivals[churn.start :] = np.ceil(np.minimum(times, float(NEVER)))
    return arrivals


def draw_lifetimes(churn: Churn, items: int, rng: np.random.Generator) -> IntArray:
    """Draw the number of rounds that each item stays: geometric from 1 on, or NEVER."""
    if churn.lifetime is None:
        return np.full(items, NEVER)
    stays: IntArray = np.minimum(rng.geometric(1.0 / churn.lifetime, items), NEVER)
    return stays


def draw_attractiveness(
    churn: Churn, segments: int, items: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Draw attractiveness, segments × items, and features, items × features.

    log α_sj = log middle + spread·(√explained w_s·f_j + √(1 - explained) z_sj), with weights w_s of length 1, and both
    w_s·w_t and the correlation of z_sj and z_tj equal to the agreement.
    """
    agreement = churn.agreement if segments > 1 else 1.0
    features = rng.standard_normal((items, churn.features))
    residual = _agreeing(agreement, rng.standard_normal((segments + 1, items)))
    logarithm = math.sqrt(1.0 - churn.explained) * residual
    if churn.features:
        # orthonormal rows, as many as there can be; one is enough where all segments agree
        rows = min(segments + 1, churn.features)
        axes = np.zeros((segments + 1, churn.features))
        axes[:rows] = np.linalg.qr(rng.standard_normal((churn.features, rows)))[0].T
        if agreement == 0.0:
            # the first row is not needed, and there may be none to spare for it
            axes = np.roll(axes, 1, axis=0)
        logarithm += math.sqrt(churn.explained) * _agreeing(agreement, axes) @ features.T
    return churn.middle * np.exp(churn.spread * logarithm), features


def _agreeing(agreement: float, rows: FloatArray) -> FloatArray:
    """Return a row per segment: a mixture of the first row, which is common, and one of its own."""
    mixed: FloatArray = math.sqrt(agreement) * rows[0] + math.sqrt(1.0 - agreement) * rows[1:]
    return mixed
