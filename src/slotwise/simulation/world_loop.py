"""The loop in a changing world: apply changes, deliver due outcomes, choose, show, click or not."""

from __future__ import annotations

import numpy as np

from slotwise.click_models.base import first_click
from slotwise.core.tally import count_round
from slotwise.core.types import EMPTY, NO_CLICK, FloatArray, Ranking
from slotwise.jit import inlined, jit
from slotwise.policies.interface import choose, expect, learn_clicks, learns_from, settle, turn_to, update_from_tally
from slotwise.simulation.available_items import can_be_shown, remember_shown, tell_presence
from slotwise.simulation.delay_queue import is_due, put, take
from slotwise.simulation.loop import Trace, is_ranking, record_regret
from slotwise.simulation.visitor_clicks import visit
from slotwise.simulation.world_state import Living, change, draw_due, draw_segment, reward_now


@jit
def live(
    policy: object,
    living: Living,
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
    waiting, total = living.waiting, trace.total_regret
    until_recorded = trace.record_at[trace.recorded]
    for now in range(trace.round, trace.round + rounds):
        if now >= living.next_change:
            if change(living, now, world_rng):
                tell_presence(living.presence, living.is_there, living.there, policy)
        while is_due(waiting, now):
            row = take(waiting)
            late, late_clicks = waiting.ranking[row], waiting.clicks[row]
            turn_to(policy, int(waiting.segment[row]))
            settle(policy, late)
            if learns_from(policy, late):
                learn_clicks(policy, late, late_clicks)
            else:
                slot = first_click(late_clicks)
                _mark(living.clicks, living.passes, late, slot, 1.0)
                update_from_tally(policy, living.clicks, living.passes)
                _mark(living.clicks, living.passes, late, slot, 0.0)
        segment = draw_segment(living, world_rng)
        turn_to(policy, segment)
        ranking = choose(policy, rng)
        # rounds from 1 on: no item was shown in round 0
        if not is_ranking(ranking, slots, shown, now + 1, True):
            return False
        if not can_be_shown(living.is_there, living.there, ranking):
            return False
        bias, attractiveness = living.position_bias[segment], living.attractiveness[segment]
        clicked = visit(living.visitors, segment, bias, attractiveness, ranking, rng)
        count_round(clicks, passes, ranking, clicked, True)
        total += living.best_reward[segment] - reward_now(living, segment, ranking)
        remember_shown(living.presence, ranking)
        due = draw_due(living, now, world_rng)
        if due == now + 1 and not is_due(waiting, due):
            # last: the array is the policy's own, to do with as it likes from here on
            learn_clicks(policy, ranking, living.visitors.clicks)
        else:
            put(waiting, due, now, segment, ranking, living.visitors.clicks)
            expect(policy, ranking)
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
