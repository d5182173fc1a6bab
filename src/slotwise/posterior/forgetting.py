"""Forgetting: counts fade with a half-life that is given, or found from what comes next.

Rounds are counted in periods. At the end of each, the counts of the past are halved as often as half-lives fit into it,
once for each half-life that is tried; the period's own are added. A half-life is as good as it foresaw the period: by
the log-probability of its clicks, Σ_c [log Γ(A+n) - log Γ(A) + A log B - (A+n) log(B+e)] + Σ n log λ over cells c, with
Gamma(A, B) the belief about attractiveness that the faded counts left, n the period's clicks and e its exposure.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.core.types import FloatArray
from slotwise.jit import jit, record
from slotwise.posterior.hyperparameters import find_mode, weigh_lists

#: half-lives that are tried, in rounds, where one is to be found
GRID = (math.inf, 100_000.0, 30_000.0, 10_000.0, 3_000.0, 1_000.0)
#: rounds of a period, at most, and how many go into a half-life at least
PERIOD = 1_000.0
PERIODS_PER_HALF_LIFE = 20.0
#: what is left of a score after a period, and how far one must lead never forgetting
FADE = 0.98
LEAD = 4.0


@record
class Memory:
    """The half-lives that are tried, how well each foresaw what came, and which one is in use."""

    half_lives: FloatArray
    #: how well each has done, and its mode of log λ
    scores: FloatArray
    modes: FloatArray
    #: whether the best is to be found, and which it is
    is_found: bool
    best: int
    #: rounds in a period, and how many of this one are left
    period: float
    left: float
    #: room: what each keeps of its counts, and passes by segment, item and slot, those of the past and of this period
    kept: FloatArray
    then: FloatArray
    now: FloatArray


def half_lives(memory: Any) -> FloatArray:
    """The half-lives to try: none for "none", a grid for "auto", or the one that is given, in rounds."""
    if memory is None or memory == "none":
        return np.zeros(0)
    if memory == "auto":
        return np.array(GRID)
    if isinstance(memory, str):
        raise InvalidInput(f"memory must be none, auto or a half-life in rounds, got {memory!r}")
    return np.array([validation.positive_number("memory", memory)])


def starting_memory(memory: Any, segments: int, items: int, slots: int) -> Memory:
    """Before the first round: nothing forgotten, "none" to forget nothing, a half-life in rounds, or "auto"."""
    tried = half_lives(memory)
    # nothing ends where nothing is forgotten
    period = PERIOD if len(tried) else math.inf
    if len(tried) == 1:
        period = max(1.0, min(PERIOD, float(tried[0]) / PERIODS_PER_HALF_LIFE))
    room = (segments, items, slots) if len(tried) else (0, 0, 0)
    return Memory(
        half_lives=tried,
        scores=np.zeros(len(tried)),
        modes=np.zeros((len(tried), slots)),
        is_found=len(tried) > 1,
        best=0,
        period=period,
        left=period,
        kept=np.zeros(len(tried)),
        then=np.zeros(room),
        now=np.zeros(room),
    )


@jit
def end_period(belief: Any) -> None:
    """Score the half-lives by the period that ends, fade their counts, add the period's, and use the best.

    As long as nothing is forgotten, all else is as it would be if nothing ever were.
    """
    memory, tried = belief.memory, len(belief.memory.half_lives)
    rounds = memory.period - memory.left
    forgot = memory.half_lives[memory.best] < math.inf
    if memory.is_found:
        weigh_lists(belief, 1, memory.now)
        for number in range(tried):
            weigh_lists(belief, 2 + number, memory.then)
            memory.scores[number] = FADE * memory.scores[number] + _foreseen(belief, number)
        memory.best = 0
        for number in range(1, tried):
            if memory.scores[number] > memory.scores[memory.best] + (LEAD if memory.best == 0 else 0.0):
                memory.best = number
    for number in range(tried):
        memory.kept[number] = 0.5 ** (rounds / memory.half_lives[number])
    changes = forgot or memory.half_lives[memory.best] < math.inf
    kinds = len(belief.clicks)
    for counts in (belief.clicks, belief.slot_clicks):
        _fade(counts.reshape((kinds, counts.size // kinds)), memory.kept, memory.best, changes)
    _fade(belief.folded.reshape((kinds, belief.folded.size // kinds)), memory.kept, memory.best, changes)
    _fade(belief.seen.rounds, memory.kept, memory.best, changes)
    memory.left = memory.period
    if not changes:
        return
    weigh_lists(belief, 0, belief.passes)
    segments, items, slots = belief.passes.shape
    clicks, passes = 0.0, 0.0
    for slot in range(slots):
        passed = 0.0
        for segment in range(segments):
            clicks += belief.slot_clicks[0, segment, slot]
            for item in range(items):
                passed += belief.passes[segment, item, slot]
        passes = max(passes, passed)
    belief.no_clicks, belief.rounds = passes, clicks + passes
    belief.outdated = 0.0
    belief.wait = 0
    belief.at_hand = False


@jit
def _fade(counts: FloatArray, kept: FloatArray, best: int, changes: bool) -> None:
    """What is kept of the past, and the period's counts, for each half-life; those of the best are in use.

    Nothing changes in those in use if nothing of them was forgotten and nothing is to be.
    """
    kinds, cells = counts.shape
    for cell in range(cells):
        for kind in range(2, kinds):
            counts[kind, cell] = kept[kind - 2] * counts[kind, cell] + counts[1, cell]
        if changes:
            counts[0, cell] = counts[2 + best, cell]
        counts[1, cell] = 0.0


@jit
def _foreseen(belief: Any, number: int) -> float:
    """The log-probability that the counts under one half-life gave to the period's clicks."""
    memory = belief.memory
    then, now = memory.then, memory.now
    segments, items, slots = then.shape
    mode = memory.modes[number]
    if not belief.is_told:
        find_mode(belief, mode, belief.clicks[2 + number], belief.slot_clicks[2 + number], then)
    else:
        for slot in range(slots):
            mode[slot] = belief.mode[slot]
    score = 0.0
    for segment in range(segments):
        for slot in range(slots):
            score += belief.slot_clicks[1, segment, slot] * mode[slot]
        for item in range(items):
            exposure, added = 0.0, 0.0
            for slot in range(slots):
                bias = math.exp(mode[slot]) * belief.slot_level[segment, slot]
                exposure += bias * then[segment, item, slot]
                added += bias * now[segment, item, slot]
            if added > 0.0:
                shape, rate = belief.item_shape, belief.item_shape / belief.item_mean[item]
                if segments > 1:
                    own = belief.own_mean[segment, item]
                    shape, rate = belief.own_taste, belief.own_taste / (belief.level[item] * own)
                clicks = belief.clicks[1, segment, item]
                shape += belief.clicks[2 + number, segment, item]
                rate += exposure
                score += math.lgamma(shape + clicks) - math.lgamma(shape)
                score += shape * math.log(rate) - (shape + clicks) * math.log(rate + added)
    return score
