"""Epoch-UCB UPB, unknown position bias, Algorithm 3 of Grant and Leslie; and Epoch-UCB* UPB, with narrower bounds."""

from __future__ import annotations

import math
from typing import Any, Literal, get_args

import numpy as np

from slotwise.core import validation
from slotwise.core.policy_task import PolicyTask
from slotwise.core.tally import add_counts, count_epoch, count_no_clicks
from slotwise.core.types import EMPTY, FloatArray, IntArray, Ranking
from slotwise.estimators.algorithm_1_newton import Solver, settle, solver
from slotwise.estimators.algorithm_1_sweeps import START_ATTRACTIVENESS, START_BIAS, EpochCounts
from slotwise.estimators.uncertainty.implicit_derivatives import at_algorithm_1
from slotwise.estimators.uncertainty.sensitivity import Trial, analytic, finite_differences, trial
from slotwise.jit import record
from slotwise.optimize.list_solver import arrange
from slotwise.policies.epochs import Epochs, in_epochs
from slotwise.policies.interface import choose, learn_epoch, lists_for, update_from_tally
from slotwise.policies.policy_registry import register

#: the factor of β² log(Jl²) in Corollary 1; and of Epoch-UCB* UPB: 0.5² log(√J·l) = 0.125 log(Jl²)
WIDTH = 36.0
NARROWER = 0.125

Sensitivity = Literal["finite-difference", "analytic"]

LOCKED_IN = (
    "its bound of an item that was shown in one slot only is nearly infinite; with values it may then overrate one "
    "valuable item, show nothing else, and never correct this"
)


@record
class EpochUCBUnknownBias:
    """Rank by α + √(36 β² log(Jl²)) in epoch l, with α and λ by Algorithm 1 and β their sensitivity to a click.

    β is nearly infinite for an item that was shown in one slot only. That moves the item up, and so into other slots.
    With values it can make a list of one valuable item look unbeatable forever.
    """

    #: N and Ñ over complete epochs, slots × items, with the sums of Ñ
    clicks: FloatArray
    passes: FloatArray
    slot_passes: FloatArray
    item_passes: FloatArray
    #: the last estimates, where the next ones start from
    position_bias: FloatArray
    attractiveness: FloatArray
    beta_squared: FloatArray
    solver: Solver
    trial: Trial
    analytic: bool
    width: float
    #: l - 1, complete epochs
    epochs: float
    index: FloatArray
    lists: Any
    ranking: Ranking


@register(
    "epoch-ucb-upb",
    name="Epoch-UCB UPB",
    position_bias="unknown",
    citation="Grant and Leslie, Learning to Rank under Multinomial Logit Choice, Algorithm 3",
    limits={"values": LOCKED_IN},
)
def epoch_ucb_upb(task: PolicyTask, *, sensitivity: Sensitivity = "finite-difference") -> Epochs:
    """Algorithm 3."""
    return _start(task, WIDTH, sensitivity)


@register(
    "epoch-ucb-upb-star",
    name="Epoch-UCB* UPB",
    position_bias="unknown",
    citation="Grant and Leslie, Learning to Rank under Multinomial Logit Choice, §6",
    limits={"values": LOCKED_IN},
)
def epoch_ucb_upb_star(task: PolicyTask, *, sensitivity: Sensitivity = "finite-difference") -> Epochs:
    """Rank by α + 0.5 √(β² log(√J·l)) in epoch l."""
    return _start(task, NARROWER, sensitivity)


def _start(task: PolicyTask, width: float, sensitivity: Sensitivity) -> Epochs:
    """Epoch-UCB for unknown bias with a confidence bound of this width."""
    validation.one_of("sensitivity", sensitivity, get_args(Sensitivity))
    slots, items = task.slots, task.items
    policy = EpochUCBUnknownBias(
        clicks=np.zeros((slots, items)),
        passes=np.zeros((slots, items)),
        slot_passes=np.zeros(slots),
        item_passes=np.zeros(items),
        position_bias=np.full(slots, START_BIAS),
        attractiveness=np.full(items, START_ATTRACTIVENESS),
        beta_squared=np.zeros(items),
        solver=solver(slots, items),
        trial=trial(slots, items),
        analytic=sensitivity == "analytic",
        width=width,
        epochs=0.0,
        index=np.zeros(items),
        lists=lists_for(task),
        ranking=np.zeros(slots, np.int64),
    )
    return in_epochs(policy, task)


@choose.register(EpochUCBUnknownBias)
def _choose(policy: EpochUCBUnknownBias, rng: np.random.Generator) -> Ranking:
    clicks, passes, slot_passes, item_passes = policy.clicks, policy.passes, policy.slot_passes, policy.item_passes
    bias, attractiveness, beta_squared = policy.position_bias, policy.attractiveness, policy.beta_squared
    solver, room = policy.solver, policy.trial
    if policy.epochs > 0.0:
        counts = EpochCounts(clicks, slot_passes, item_passes)
        settle(solver, counts, bias, attractiveness)
        at_algorithm_1(solver.nearby, clicks, item_passes, bias, attractiveness)
        if policy.analytic:
            analytic(solver.nearby, room, passes, attractiveness, beta_squared)
        else:
            finite_differences(solver, room, counts, passes, bias, attractiveness, beta_squared)
    for slot in range(len(bias)):
        # a slot that was always empty keeps its initial bias, or it would never be tried
        if slot_passes[slot] == 0.0:
            bias[slot] = START_BIAS
    index, ranking = policy.index, policy.ranking
    epoch = policy.epochs + 1.0
    width = policy.width * math.log(len(index) * epoch * epoch)
    for item in range(len(index)):
        if item_passes[item] > 0.0:
            index[item] = attractiveness[item] + math.sqrt(width * beta_squared[item])
        else:
            index[item] = math.inf
    arrange(policy.lists, index, bias, ranking, rng)
    return ranking


@learn_epoch.register(EpochUCBUnknownBias)
def _learn_epoch(policy: EpochUCBUnknownBias, ranking: Ranking, clicks: IntArray) -> None:
    policy.epochs += 1.0
    count_epoch(policy.clicks, policy.passes, ranking, clicks)
    for slot in range(len(ranking)):
        if ranking[slot] != EMPTY:
            policy.slot_passes[slot] += 1.0
            policy.item_passes[ranking[slot]] += 1.0


@update_from_tally.register(EpochUCBUnknownBias)
def _update_from_tally(policy: EpochUCBUnknownBias, clicks: FloatArray, passes: FloatArray) -> None:
    slots, items = clicks.shape
    policy.epochs += count_no_clicks(passes)
    add_counts(policy.clicks, policy.passes, clicks, passes)
    for slot in range(slots):
        for item in range(items):
            policy.slot_passes[slot] += passes[slot, item]
            policy.item_passes[item] += passes[slot, item]
