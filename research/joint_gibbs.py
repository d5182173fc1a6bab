"""Thompson sampling from the exact posterior of choices, list by list: a reference, which does not lower regret."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from research.gibbs_sampler import GibbsPosterior, gibbs_posterior
from slotwise.core.policy_task import PolicyTask
from slotwise.core.types import EMPTY, NO_CLICK, FloatArray, IntArray, Ranking
from slotwise.jit import jit, record
from slotwise.policies.interface import lists_for, pair_lists_for
from slotwise.policies.policy_registry import register
from slotwise.policies.thompson_sampling import ThompsonSampling
from slotwise.posterior.largest_draws import no_largest
from slotwise.posterior.list_counts import place_of
from slotwise.posterior.posterior_interface import draw_parameters, update


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


@register(
    "exact-posterior-sampling",
    name="Posterior sampling, exact",
    position_bias="unknown",
    citation="Thompson (1933), with Gibbs sampling of attractiveness and position bias given whole lists",
    limits={"tally": "it remembers whole lists, which do not follow from a tally"},
)
def exact_posterior_sampling(
    task: PolicyTask,
    *,
    shape: float = 1.0,
    rate: float = 1.0,
    bias_shape: float = 1.0,
    bias_rate: float = 1.0,
) -> Any:
    """Draw λ and α from the posterior by the likelihood of the choices, and show the best list for them."""
    attractiveness = np.ones(task.items)
    prior = {"shape": shape, "rate": rate, "bias_shape": bias_shape, "bias_rate": bias_rate}
    return ThompsonSampling(
        posterior=joint_gibbs_posterior(task, attractiveness, **prior),
        lists=lists_for(task),
        pair_lists=pair_lists_for(task),
        boldness=1.0,
        attractiveness=attractiveness,
        odds=np.zeros((task.slots, task.items)),
        ranking=np.zeros(task.slots, np.int64),
        largest=no_largest(task.slots),
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
