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
from slotwise.simulation.available_items import availability_of
from slotwise.simulation.delay_queue import DelayQueue, empty_queue
from slotwise.simulation.visitor_clicks import Visitors, expected_of_visit, visitors_of
from slotwise.simulation.world_items import Drawn


@record
class WorldState:
    """The state of a world at one round."""

    #: how visitors click
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
    #: of `availability_of`
    availability: Any
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
    waiting: DelayQueue
    #: room for the tally of one round, slots × items, of zeros
    clicks: FloatArray
    passes: FloatArray


def start_world(world: World, drawn: Drawn, rng: np.random.Generator) -> WorldState:
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
    return WorldState(
        visitors=visitors_of(world),
        position_bias=biases,
        slot_order=np.argsort(-biases, axis=1, kind="stable"),
        base=drawn.attractiveness.copy(),
        attractiveness=drawn.attractiveness.copy(),
        shares=np.cumsum([segment.share for segment in world.segments]),
        best=np.full((segments, slots), EMPTY),
        best_reward=np.zeros(segments),
        next_change=0,
        availability=availability_of(slots, items, world.comes_and_goes),
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
        waiting=empty_queue(slots),
        clicks=np.zeros((slots, items)),
        passes=np.zeros((slots, items)),
    )


@jit
def change(state: WorldState, now: int, rng: np.random.Generator) -> bool:
    """Apply the changes of round `now`; return whether items came or went, or it is the first round."""
    came_or_went = now == 0
    while state.next_event < len(state.event_round) and state.event_round[state.next_event] <= now:
        item, arrives = state.event_item[state.next_event], state.event_arrives[state.next_event]
        state.is_there[item] = arrives
        state.there += 2 * arrives - 1
        state.next_event += 1
        came_or_went = True
    moved = now == 0
    while state.next_jump < len(state.jump_round) and state.jump_round[state.next_jump] <= now:
        to = state.jump_to[state.next_jump]
        for segment in range(to.shape[0]):
            for item in range(to.shape[1]):
                state.base[segment, item] = to[segment, item]
        state.next_jump += 1
        moved = True
    if state.next_move <= now:
        if now > 0 and state.walk_adds > 0.0:
            for item in range(len(state.walked)):
                state.walked[item] = state.walk_keeps * state.walked[item] + state.walk_adds * rng.standard_normal()
        state.next_move += state.step
        moved = True
    if moved:
        _move(state, now)
    _find_best(state)
    state.next_change = state.next_move
    if state.next_event < len(state.event_round):
        state.next_change = min(state.next_change, state.event_round[state.next_event])
    if state.next_jump < len(state.jump_round):
        state.next_change = min(state.next_change, state.jump_round[state.next_jump])
    return came_or_went


@inlined
def _move(state: WorldState, now: int) -> None:
    """Compute the current attractiveness."""
    segments, items = state.base.shape
    # a cycle is where it was at its last move
    at = now - now % state.step
    for item in range(items):
        factor = 1.0
        if state.next_move < NEVER:
            turn = math.sin(2.0 * math.pi * (at / state.period + state.phases[item]))
            factor = math.exp(state.walked[item] + state.amplitude * turn)
        for segment in range(segments):
            state.attractiveness[segment, item] = state.base[segment, item] * factor


@inlined
def _find_best(state: WorldState) -> None:
    """Find the best list of each segment and its reward.

    The most attractive available items go into the most visible of the first slots. If that need not be the best list,
    a local search starts from it.
    """
    segments, items = state.attractiveness.shape
    slots = state.position_bias.shape[1]
    wanted = min(slots, state.there)
    top = np.zeros(slots, np.int64)
    for segment in range(segments):
        attractiveness, best = state.attractiveness[segment], state.best[segment]
        count = 0
        for item in range(items):
            if state.is_there[item] == 0:
                continue
            count = keep_if_top(attractiveness, item, top, count, wanted)
        place = 0
        for slot in state.slot_order[segment]:
            best[slot] = EMPTY
            if slot < wanted:
                best[slot] = top[place]
                place += 1
        state.best_reward[segment] = reward_now(state, segment, best)
        if not state.visitors.sorts:
            _climb(state, segment, best, wanted)


@jit
def _climb(state: WorldState, segment: int, best: Ranking, wanted: int) -> None:
    """Exchange two slots, or an item for an available one that is not shown, as long as that gains reward."""
    gained = True
    while gained:
        gained = False
        for slot in range(wanted):
            for item in range(len(state.is_there)):
                if state.is_there[item] == 0:
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
                reward = reward_now(state, segment, best)
                # more than a rounding error
                if reward > state.best_reward[segment] + 1e-12:
                    state.best_reward[segment] = reward
                    gained = True
                    continue
                best[slot] = before
                if other >= 0:
                    best[other] = item


@inlined
def reward_now(state: WorldState, segment: int, ranking: Ranking) -> float:
    """Return the expected number of clicks of a visitor of this segment in this round."""
    bias, attractiveness = state.position_bias[segment], state.attractiveness[segment]
    return expected_of_visit(state.visitors, segment, bias, attractiveness, ranking)


@inlined
def draw_segment(state: WorldState, rng: np.random.Generator) -> int:
    """Draw the segment of the next visitor; with one segment nothing is drawn."""
    last = len(state.shares) - 1
    if last == 0:
        return 0
    drawn, segment = rng.random(), 0
    while segment < last and drawn >= state.shares[segment]:
        segment += 1
    return segment


@inlined
def draw_due(state: WorldState, now: int, rng: np.random.Generator) -> int:
    """Draw the round before which the outcome of round `now` is due: the next one if there is no delay."""
    due = now + 1 + state.delay_rounds
    if state.delay_log_stay < 0.0:
        due += int(math.log(1.0 - rng.random()) / state.delay_log_stay)
    return -(-due // state.delay_every) * state.delay_every
