"""The loop in a changing world: apply changes, deliver due outcomes, choose, show, click or not."""

from __future__ import annotations

import numpy as np

from slotwise.click_models.base import first_click
from slotwise.core.tally import count_round
from slotwise.core.types import EMPTY, NO_CLICK, FloatArray, Ranking
from slotwise.jit import inlined, jit
from slotwise.policies.interface import (
    add_pending,
    choose,
    learn_clicks,
    learns_from,
    remove_pending,
    set_segment,
    update_from_tally,
)
from slotwise.simulation.available_items import can_be_shown, impose_availability, remember_list
from slotwise.simulation.delay_queue import is_due, put, take
from slotwise.simulation.loop import Trace, is_ranking, record_regret
from slotwise.simulation.visitor_clicks import visit
from slotwise.simulation.world_state import WorldState, change, draw_due, draw_segment, reward_now


@jit
def advance_world(
    policy: object,
    state: WorldState,
    rng: np.random.Generator,
    world_rng: np.random.Generator,
    trace: Trace,
    rounds: int,
) -> bool:
    """Play `rounds` more rounds; return False if the policy returned a list that cannot be shown.

    The world draws from `world_rng`, so that all policies have the same one; the policy and the clicks draw from `rng`.
    The tally counts the first click of a visit; the policy learns all of them.
    """
    clicks, passes, shown = trace.clicks, trace.passes, trace.shown
    slots = len(clicks)
    waiting, total = state.waiting, trace.total_regret
    until_recorded = trace.record_at[trace.recorded]
    for now in range(trace.round, trace.round + rounds):
        if now >= state.next_change:
            if change(state, now, world_rng):
                impose_availability(state.availability, state.is_there, state.there, policy)
        while is_due(waiting, now):
            row = take(waiting)
            late, late_clicks = waiting.ranking[row], waiting.clicks[row]
            set_segment(policy, int(waiting.segment[row]))
            remove_pending(policy, late)
            if learns_from(policy, late):
                learn_clicks(policy, late, late_clicks)
            else:
                slot = first_click(late_clicks)
                _mark(state.clicks, state.passes, late, slot, 1.0)
                update_from_tally(policy, state.clicks, state.passes)
                _mark(state.clicks, state.passes, late, slot, 0.0)
        segment = draw_segment(state, world_rng)
        set_segment(policy, segment)
        ranking = choose(policy, rng)
        # rounds from 1 on: no item was shown in round 0
        if not is_ranking(ranking, slots, shown, now + 1, True):
            return False
        if not can_be_shown(state.is_there, state.there, ranking):
            return False
        bias, attractiveness = state.position_bias[segment], state.attractiveness[segment]
        clicked = visit(state.visitors, segment, bias, attractiveness, ranking, rng)
        count_round(clicks, passes, ranking, clicked, True)
        total += state.best_reward[segment] - reward_now(state, segment, ranking)
        remember_list(state.availability, ranking)
        due = draw_due(state, now, world_rng)
        if due == now + 1 and not is_due(waiting, due):
            # last, because learning may change the policy's own array
            learn_clicks(policy, ranking, state.visitors.clicks)
        else:
            put(waiting, due, now, segment, ranking, state.visitors.clicks)
            add_pending(policy, ranking)
        if now + 1 == until_recorded:
            until_recorded = record_regret(trace, total)
    trace.round += rounds
    trace.total_regret = total
    return True


@inlined
def _mark(clicks: FloatArray, passes: FloatArray, ranking: Ranking, clicked: int, count: float) -> None:
    """Set the counts of one round in a tally of zeros, or reset them."""
    if clicked != NO_CLICK:
        clicks[clicked, ranking[clicked]] = count
        return
    for slot in range(len(ranking)):
        if ranking[slot] != EMPTY:
            passes[slot, ranking[slot]] = count
