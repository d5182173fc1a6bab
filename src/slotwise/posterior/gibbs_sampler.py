"""Beliefs about the position bias given the last sample of attractiveness: one step of Gibbs sampling a decision."""

from __future__ import annotations

from typing import Any

import numpy as np

from slotwise.core import validation
from slotwise.core.policy_task import Setting
from slotwise.core.types import EMPTY, NO_CLICK, FloatArray, IntArray, Ranking
from slotwise.jit import jit, record
from slotwise.posterior.exact_sums import add_tally, expose
from slotwise.posterior.list_counts import place_of
from slotwise.posterior.posterior_interface import imagine, update, update_by_tally


@record
class GibbsBias:
    """The Poisson likelihood: λ_k ~ Gamma(c + N_k·, d + Σ_j α_jÑ_kj), and 1 for the first slot."""

    position_bias: FloatArray
    #: of α given λ, per item
    shape: FloatArray
    rate: FloatArray
    #: r, per item
    prior_rate: FloatArray
    #: of λ, per slot: c + N_k·, and d
    bias_shape: FloatArray
    bias_rate: float
    #: Ñ, items × slots
    passes: FloatArray
    #: α as the policy last drew it
    attractiveness: FloatArray


def gibbs_bias(
    setting: Setting, attractiveness: FloatArray, *, shape: Any, rate: Any, bias_shape: Any, bias_rate: Any
) -> GibbsBias:
    """Before the first round; `attractiveness` is the array that the policy draws into."""
    rates = validation.per_item("rate", rate, setting.items)
    return GibbsBias(
        position_bias=np.ones(setting.slots),
        shape=validation.per_item("shape", shape, setting.items),
        rate=rates.copy(),
        prior_rate=rates,
        bias_shape=np.full(setting.slots, validation.positive_number("bias_shape", bias_shape)),
        bias_rate=validation.positive_number("bias_rate", bias_rate),
        passes=np.zeros((setting.items, setting.slots)),
        attractiveness=attractiveness,
    )


@imagine.register(GibbsBias)
def _imagine(belief: GibbsBias, rng: np.random.Generator) -> bool:
    bias, passes, attractiveness = belief.position_bias, belief.passes, belief.attractiveness
    items, slots = passes.shape
    bias[:] = belief.bias_rate
    for item in range(items):
        for slot in range(1, slots):
            bias[slot] += attractiveness[item] * passes[item, slot]
    bias[0] = 1.0
    for slot in range(1, slots):
        bias[slot] = rng.standard_gamma(belief.bias_shape[slot]) / bias[slot]
    expose(bias, passes, belief.prior_rate, belief.rate)
    return True


@update.register(GibbsBias)
def _update(belief: GibbsBias, ranking: Ranking, clicked: int) -> None:
    if clicked == NO_CLICK:
        for slot in range(len(ranking)):
            if ranking[slot] != EMPTY:
                belief.passes[ranking[slot], slot] += 1.0
    else:
        belief.bias_shape[clicked] += 1.0
        belief.shape[ranking[clicked]] += 1.0


@update_by_tally.register(GibbsBias)
def _absorb(belief: GibbsBias, clicks: FloatArray, passes: FloatArray) -> None:
    add_tally(belief.shape, belief.bias_shape, belief.passes, clicks, passes)


@record
class JointGibbs:
    """The likelihood of the choices themselves, made conjugate by one variable a list: Z_A ~ Gamma(T_A, 1 + S_A).

    T_A counts the rounds in which list A was shown. Given Z, λ and α are as in `GibbsBias`, with Σ_{A: A_k=j} Z_A for
    Ñ_kj. A decision takes time in proportion to the number of distinct lists that were ever shown.
    """

    #: λ, the Poisson belief whose `passes` are these sums
    gibbs: GibbsBias
    position_bias: FloatArray
    shape: FloatArray
    rate: FloatArray
    #: distinct lists, room × slots, the rounds of each, and how many there are
    rankings: IntArray
    rounds: FloatArray
    count: int
    #: a hash table: the number of a list, or -1, at the first free place from its hash on
    table: IntArray


def joint_gibbs(
    setting: Setting, attractiveness: FloatArray, *, shape: Any, rate: Any, bias_shape: Any, bias_rate: Any
) -> JointGibbs:
    """Before the first round; `attractiveness` is the array that the policy draws into."""
    gibbs = gibbs_bias(setting, attractiveness, shape=shape, rate=rate, bias_shape=bias_shape, bias_rate=bias_rate)
    room = 64
    return JointGibbs(
        gibbs=gibbs,
        position_bias=gibbs.position_bias,
        shape=gibbs.shape,
        rate=gibbs.rate,
        rankings=np.zeros((room, setting.slots), np.int64),
        rounds=np.zeros(room),
        count=0,
        table=np.full(4 * room, -1),
    )


@imagine.register(JointGibbs)
def _imagine_joint(belief: JointGibbs, rng: np.random.Generator) -> bool:
    gibbs, rankings = belief.gibbs, belief.rankings
    passes, bias, attractiveness = gibbs.passes, gibbs.position_bias, gibbs.attractiveness
    passes[:, :] = 0.0
    for number in range(belief.count):
        total = 1.0
        for slot in range(len(bias)):
            if rankings[number, slot] != EMPTY:
                total += bias[slot] * attractiveness[rankings[number, slot]]
        drawn = rng.standard_gamma(belief.rounds[number]) / total
        for slot in range(len(bias)):
            if rankings[number, slot] != EMPTY:
                passes[rankings[number, slot], slot] += drawn
    return bool(imagine(gibbs, rng))


@update.register(JointGibbs)
def _update_joint(belief: JointGibbs, ranking: Ranking, clicked: int) -> None:
    number = find(belief, ranking)  # first: it may make room, in another array
    belief.rounds[number] += 1.0
    if clicked != NO_CLICK:
        belief.gibbs.bias_shape[clicked] += 1.0
        belief.shape[ranking[clicked]] += 1.0


@jit
def find(belief: JointGibbs, ranking: Ranking) -> int:
    """The number of this list; a new one if it was never shown."""
    place = place_of(belief.table, belief.rankings, ranking)
    number = belief.table[place]
    if number < 0:
        if belief.count == len(belief.rounds):
            _grow(belief)
            place = place_of(belief.table, belief.rankings, ranking)
        number = belief.count
        belief.count += 1
        belief.table[place] = number
        for slot in range(len(ranking)):
            belief.rankings[number, slot] = ranking[slot]
    return int(number)


@jit
def _grow(belief: JointGibbs) -> None:
    """Twice the room."""
    room = 2 * len(belief.rounds)
    rankings, rounds = np.zeros((room, belief.rankings.shape[1]), np.int64), np.zeros(room)
    rankings[: belief.count] = belief.rankings[: belief.count]
    rounds[: belief.count] = belief.rounds[: belief.count]
    table = np.full(4 * room, -1)
    for number in range(belief.count):
        table[place_of(table, rankings, rankings[number])] = number
    belief.rankings, belief.rounds, belief.table = rankings, rounds, table
