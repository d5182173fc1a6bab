"""The state of a world in one replication: available items, current attractiveness, and the best list per segment."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from slotwise.core.types import EMPTY, FloatArray, IntArray, Ranking
from slotwise.environments.availability import NEVER
from slotwise.environments.world import World
from slotwise.jit import inlined, jit, record
from slotwise.optimize.top_k import keep_if_top
from slotwise.simulation.available_items import presence_of
from slotwise.simulation.delay_queue import Waiting, nothing_waiting
from slotwise.simulation.visitor_clicks import Visitors, expected_of_visit, visitors_of
from slotwise.simulation.world_items import Drawn


@record
class Living:
    """The state of a world at one round."""

    #: how they click
    visitors: Visitors
    #: segments × slots, and the slots of each by decreasing bias
    position_bias: FloatArray
    slot_order: IntArray
    #: segments × items: as given or drawn, and with walk and cycle, as it is now
    base: FloatArray
    attractiveness: FloatArray
    #: per segment, shares added up
    shares: FloatArray
    #: per segment: the best list of now, and its reward
    best: IntArray
    best_reward: FloatArray
    #: the first round at which anything changes
    next_change: int
    #: of `presence_of`
    presence: Any
    #: per item whether it is there, and how many are
    is_there: IntArray
    there: int
    #: arrivals and departures in order: round, item, and 1 or 0
    event_round: IntArray
    event_item: IntArray
    event_arrives: IntArray
    next_event: int
    #: jumps in order: round, and attractiveness, jumps × segments × items that were given
    jump_round: IntArray
    jump_to: FloatArray
    next_jump: int
    #: rounds between moves of walk and cycle; the next, NEVER if there is neither
    step: int
    next_move: int
    #: per item the value of its walk; the factor that a step keeps, and the spread of the noise that it adds
    walked: FloatArray
    walk_keeps: float
    walk_adds: float
    amplitude: float
    period: float
    phases: FloatArray
    #: delay: a fixed part, log(1 - p) of the geometric part or 0, and the rounds of a batch
    delay_rounds: int
    delay_log_stay: float
    delay_every: int
    waiting: Waiting
    #: room for the tally of one round, slots × items, of zeros
    clicks: FloatArray
    passes: FloatArray


def begin(world: World, drawn: Drawn, rng: np.random.Generator) -> Living:
    """Return the world before its first round, with the items of this replication."""
    segments, items = drawn.attractiveness.shape
    slots = world.slots
    biases = np.array([segment.position_bias for segment in world.segments])
    rounds = np.concatenate([drawn.arrivals, drawn.departures])
    arrives = np.repeat([1, 0], items)
    # arrivals come before departures
    happens = np.flatnonzero((rounds > 0) & (rounds < NEVER))
    in_order = happens[np.lexsort((-arrives[happens], rounds[happens]))]
    is_there = (drawn.arrivals == 0).astype(np.int64)
    walk, cycle, delay = world.walk, world.cycle, world.delay
    jumps = [jump.attractiveness for jump in world.drift]
    walked = np.zeros(items)
    if walk is not None:
        walked += rng.normal(0.0, walk.sd, items)
    keeps = math.exp(-world.step / walk.rounds) if walk else 0.0
    moves = walk is not None or cycle is not None
    return Living(
        visitors=visitors_of(world),
        position_bias=biases,
        slot_order=np.argsort(-biases, axis=1, kind="stable"),
        base=drawn.attractiveness.copy(),
        attractiveness=drawn.attractiveness.copy(),
        shares=np.cumsum([segment.share for segment in world.segments]),
        best=np.full((segments, slots), EMPTY),
        best_reward=np.zeros(segments),
        next_change=0,
        presence=presence_of(slots, items, world.comes_and_goes),
        is_there=is_there,
        there=int(is_there.sum()),
        event_round=rounds[in_order],
        event_item=in_order % items,
        event_arrives=arrives[in_order],
        next_event=0,
        jump_round=np.array([jump.round for jump in world.drift], np.int64),
        jump_to=np.array(jumps).reshape(len(jumps), segments, world.items),
        next_jump=0,
        step=world.step,
        next_move=0 if moves else NEVER,
        walked=walked,
        walk_keeps=keeps,
        walk_adds=walk.sd * math.sqrt(-math.expm1(-2.0 * world.step / walk.rounds)) if walk else 0.0,
        amplitude=float(cycle.amplitude) if cycle else 0.0,
        period=float(cycle.period) if cycle else 1.0,
        phases=drawn.phases,
        delay_rounds=delay.rounds,
        # P(D > d) = (1 - p)^(d + 1), p = 1/(1 + mean)
        delay_log_stay=-math.log1p(1.0 / delay.mean_rounds) if delay.mean_rounds else 0.0,
        delay_every=delay.every,
        waiting=nothing_waiting(slots),
        clicks=np.zeros((slots, items)),
        passes=np.zeros((slots, items)),
    )


@jit
def change(living: Living, now: int, rng: np.random.Generator) -> bool:
    """Apply the changes of round `now`; return whether items came or went, or it is the first round."""
    came_or_went = now == 0
    while living.next_event < len(living.event_round) and living.event_round[living.next_event] <= now:
        item, arrives = living.event_item[living.next_event], living.event_arrives[living.next_event]
        living.is_there[item] = arrives
        living.there += 2 * arrives - 1
        living.next_event += 1
        came_or_went = True
    moved = now == 0
    while living.next_jump < len(living.jump_round) and living.jump_round[living.next_jump] <= now:
        to = living.jump_to[living.next_jump]
        for segment in range(to.shape[0]):
            for item in range(to.shape[1]):
                living.base[segment, item] = to[segment, item]
        living.next_jump += 1
        moved = True
    if living.next_move <= now:
        if now > 0 and living.walk_adds > 0.0:
            for item in range(len(living.walked)):
                living.walked[item] = living.walk_keeps * living.walked[item] + living.walk_adds * rng.standard_normal()
        living.next_move += living.step
        moved = True
    if moved:
        _move(living, now)
    _find_best(living)
    living.next_change = living.next_move
    if living.next_event < len(living.event_round):
        living.next_change = min(living.next_change, living.event_round[living.next_event])
    if living.next_jump < len(living.jump_round):
        living.next_change = min(living.next_change, living.jump_round[living.next_jump])
    return came_or_went


@inlined
def _move(living: Living, now: int) -> None:
    """Compute the current attractiveness."""
    segments, items = living.base.shape
    # a cycle is where it was at its last move
    at = now - now % living.step
    for item in range(items):
        factor = 1.0
        if living.next_move < NEVER:
            turn = math.sin(2.0 * math.pi * (at / living.period + living.phases[item]))
            factor = math.exp(living.walked[item] + living.amplitude * turn)
        for segment in range(segments):
            living.attractiveness[segment, item] = living.base[segment, item] * factor


@inlined
def _find_best(living: Living) -> None:
    """Find the best list of each segment and its reward.

    The most attractive available items go into the most visible of the first slots. If that need not be the best list,
    a local search starts from it.
    """
    segments, items = living.attractiveness.shape
    slots = living.position_bias.shape[1]
    wanted = min(slots, living.there)
    top = np.zeros(slots, np.int64)
    for segment in range(segments):
        attractiveness, best = living.attractiveness[segment], living.best[segment]
        count = 0
        for item in range(items):
            if living.is_there[item] == 0:
                continue
            count = keep_if_top(attractiveness, item, top, count, wanted)
        place = 0
        for slot in living.slot_order[segment]:
            best[slot] = EMPTY
            if slot < wanted:
                best[slot] = top[place]
                place += 1
        living.best_reward[segment] = reward_now(living, segment, best)
        if not living.visitors.sorts:
            _climb(living, segment, best, wanted)


@jit
def _climb(living: Living, segment: int, best: Ranking, wanted: int) -> None:
    """Exchange two slots, or an item for an available one that is not shown, as long as that gains reward."""
    gained = True
    while gained:
        gained = False
        for slot in range(wanted):
            for item in range(len(living.is_there)):
                if living.is_there[item] == 0:
                    continue
                before, other = best[slot], -1
                for place in range(wanted):
                    if best[place] == item:
                        other = place
                if other == slot:
                    continue
                best[slot] = item
                if other >= 0:
                    best[other] = before
                reward = reward_now(living, segment, best)
                # more than rounding does
                if reward > living.best_reward[segment] + 1e-12:
                    living.best_reward[segment] = reward
                    gained = True
                    continue
                best[slot] = before
                if other >= 0:
                    best[other] = item


@inlined
def reward_now(living: Living, segment: int, ranking: Ranking) -> float:
    """Return the expected number of clicks of a visitor of this segment in this round."""
    bias, attractiveness = living.position_bias[segment], living.attractiveness[segment]
    return expected_of_visit(living.visitors, segment, bias, attractiveness, ranking)


@inlined
def draw_segment(living: Living, rng: np.random.Generator) -> int:
    """Draw the segment of the next visitor; with one segment nothing is drawn."""
    last = len(living.shares) - 1
    if last == 0:
        return 0
    drawn, segment = rng.random(), 0
    while segment < last and drawn >= living.shares[segment]:
        segment += 1
    return segment


@inlined
def draw_due(living: Living, now: int, rng: np.random.Generator) -> int:
    """Draw the round before which the outcome of round `now` is due: the next one if there is no delay."""
    due = now + 1 + living.delay_rounds
    if living.delay_log_stay < 0.0:
        due += int(math.log(1.0 - rng.random()) / living.delay_log_stay)
    return -(-due // living.delay_every) * living.delay_every
