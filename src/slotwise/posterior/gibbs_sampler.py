"""Gibbs sampling of position bias and attractiveness: one step a decision, given the last sample of the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from slotwise.core import validation
from slotwise.core.policy_task import PolicyTask
from slotwise.core.types import EMPTY, NO_CLICK, FloatArray, IntArray, Ranking
from slotwise.jit import inlined, jit, record
from slotwise.posterior.list_counts import place_of
from slotwise.posterior.posterior_interface import draw_parameters, update, update_by_tally


@record
class GibbsPosterior:
    """The posterior by the Poisson likelihood: λ_k ~ Gamma(c + N_k·, d + Σ_j α_jÑ_kj), and 1 for the first slot."""

    position_bias: FloatArray
    #: of the Gamma posterior of α given λ, per item
    shape: FloatArray
    rate: FloatArray
    #: r, per item
    prior_rate: FloatArray
    #: of λ, per slot: c + N_k·, and d
    bias_shape: FloatArray
    bias_rate: float
    #: Ñ, items × slots
    passes: FloatArray
    #: α as last drawn by the policy
    attractiveness: FloatArray


def gibbs_posterior(
    task: PolicyTask,
    attractiveness: FloatArray,
    *,
    shape: ArrayLike,
    rate: ArrayLike,
    bias_shape: float,
    bias_rate: float,
) -> GibbsPosterior:
    """Return the state before the first round; `attractiveness` is the array that the policy draws into."""
    rates = validation.per_item("rate", rate, task.items)
    return GibbsPosterior(
        position_bias=np.ones(task.slots),
        shape=validation.per_item("shape", shape, task.items),
        rate=rates.copy(),
        prior_rate=rates,
        bias_shape=np.full(task.slots, validation.positive_number("bias_shape", bias_shape)),
        bias_rate=validation.positive_number("bias_rate", bias_rate),
        passes=np.zeros((task.items, task.slots)),
        attractiveness=attractiveness,
    )


@draw_parameters.register(GibbsPosterior)
def _draw_parameters(posterior: GibbsPosterior, rng: np.random.Generator) -> bool:
    bias, passes, attractiveness = posterior.position_bias, posterior.passes, posterior.attractiveness
    items, slots = passes.shape
    bias[:] = posterior.bias_rate
    for item in range(items):
        for slot in range(1, slots):
            bias[slot] += attractiveness[item] * passes[item, slot]
    bias[0] = 1.0
    for slot in range(1, slots):
        bias[slot] = rng.standard_gamma(posterior.bias_shape[slot]) / bias[slot]
    _expose(bias, passes, posterior.prior_rate, posterior.rate)
    return True


@update.register(GibbsPosterior)
def _update(posterior: GibbsPosterior, ranking: Ranking, clicked: int) -> None:
    if clicked == NO_CLICK:
        for slot in range(len(ranking)):
            if ranking[slot] != EMPTY:
                posterior.passes[ranking[slot], slot] += 1.0
    else:
        posterior.bias_shape[clicked] += 1.0
        posterior.shape[ranking[clicked]] += 1.0


@update_by_tally.register(GibbsPosterior)
def _absorb(posterior: GibbsPosterior, clicks: FloatArray, passes: FloatArray) -> None:
    _add_tally(posterior.shape, posterior.bias_shape, posterior.passes, clicks, passes)


@record
class JointGibbsPosterior:
    """The posterior by the likelihood of the choices, conjugate given one variable per list: Z_A ~ Gamma(T_A, 1 + S_A).

    T_A counts the rounds with list A. Given Z, λ and α are as in `GibbsPosterior`, with Σ_{A: A_k=j} Z_A for Ñ_kj. A
    decision takes time in proportion to the number of distinct lists that were ever shown.
    """

    #: the posterior of λ, whose `passes` are these sums
    gibbs: GibbsPosterior
    position_bias: FloatArray
    shape: FloatArray
    rate: FloatArray
    #: distinct lists, room × slots, the rounds of each, and how many there are
    rankings: IntArray
    rounds: FloatArray
    count: int
    #: a hash table: the number of a list, or -1, at the first free place from its hash on
    table: IntArray


def joint_gibbs_posterior(
    task: PolicyTask,
    attractiveness: FloatArray,
    *,
    shape: ArrayLike,
    rate: ArrayLike,
    bias_shape: float,
    bias_rate: float,
) -> JointGibbsPosterior:
    """Return the state before the first round; `attractiveness` is the array that the policy draws into."""
    gibbs = gibbs_posterior(task, attractiveness, shape=shape, rate=rate, bias_shape=bias_shape, bias_rate=bias_rate)
    room = 64
    return JointGibbsPosterior(
        gibbs=gibbs,
        position_bias=gibbs.position_bias,
        shape=gibbs.shape,
        rate=gibbs.rate,
        rankings=np.zeros((room, task.slots), np.int64),
        rounds=np.zeros(room),
        count=0,
        table=np.full(4 * room, -1),
    )


@draw_parameters.register(JointGibbsPosterior)
def _draw_joint_parameters(posterior: JointGibbsPosterior, rng: np.random.Generator) -> bool:
    gibbs, rankings = posterior.gibbs, posterior.rankings
    passes, bias, attractiveness = gibbs.passes, gibbs.position_bias, gibbs.attractiveness
    passes[:, :] = 0.0
    for number in range(posterior.count):
        total = 1.0
        for slot in range(len(bias)):
            if rankings[number, slot] != EMPTY:
                total += bias[slot] * attractiveness[rankings[number, slot]]
        drawn = rng.standard_gamma(posterior.rounds[number]) / total
        for slot in range(len(bias)):
            if rankings[number, slot] != EMPTY:
                passes[rankings[number, slot], slot] += drawn
    return bool(draw_parameters(gibbs, rng))


@update.register(JointGibbsPosterior)
def _update_joint(posterior: JointGibbsPosterior, ranking: Ranking, clicked: int) -> None:
    number = _find_or_add_list(posterior, ranking)  # first: it may replace the arrays
    posterior.rounds[number] += 1.0
    if clicked != NO_CLICK:
        posterior.gibbs.bias_shape[clicked] += 1.0
        posterior.shape[ranking[clicked]] += 1.0


@jit
def _find_or_add_list(posterior: JointGibbsPosterior, ranking: Ranking) -> int:
    """Return the number of this list, a new one if it was never shown."""
    place = place_of(posterior.table, posterior.rankings, ranking)
    number = posterior.table[place]
    if number < 0:
        if posterior.count == len(posterior.rounds):
            _grow(posterior)
            place = place_of(posterior.table, posterior.rankings, ranking)
        number = posterior.count
        posterior.count += 1
        posterior.table[place] = number
        for slot in range(len(ranking)):
            posterior.rankings[number, slot] = ranking[slot]
    return int(number)


@jit
def _grow(posterior: JointGibbsPosterior) -> None:
    """Double the room for lists."""
    room = 2 * len(posterior.rounds)
    rankings, rounds = np.zeros((room, posterior.rankings.shape[1]), np.int64), np.zeros(room)
    rankings[: posterior.count] = posterior.rankings[: posterior.count]
    rounds[: posterior.count] = posterior.rounds[: posterior.count]
    table = np.full(4 * room, -1)
    for number in range(posterior.count):
        table[place_of(table, rankings, rankings[number])] = number
    posterior.rankings, posterior.rounds, posterior.table = rankings, rounds, table


@inlined
def _add_tally(
    shape: FloatArray, slot_clicks: FloatArray, item_passes: FloatArray, clicks: FloatArray, passes: FloatArray
) -> None:
    """Add N_·j to `shape`, per item, N_k· to `slot_clicks`, per slot, and Ñ to `item_passes`, items × slots."""
    slots, items = clicks.shape
    for slot in range(slots):
        for item in range(items):
            shape[item] += clicks[slot, item]
            slot_clicks[slot] += clicks[slot, item]
            item_passes[item, slot] += passes[slot, item]


@inlined
def _expose(position_bias: FloatArray, item_passes: FloatArray, prior_rate: FloatArray, rate: FloatArray) -> None:
    """Set rate_j = r_j + Σ_k λ_kÑ_kj."""
    for item in range(len(rate)):
        exposure = prior_rate[item]
        for slot in range(len(position_bias)):
            exposure += position_bias[slot] * item_passes[item, slot]
        rate[item] = exposure
