"""The bookkeeping of the sampler by list; that its samples are right is `research/tests/test_calibration.py`."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from research.joint_gibbs import JointGibbsPosterior, joint_gibbs_posterior
from slotwise import NO_CLICK, PolicyTask
from slotwise.core.errors import InvalidInput
from slotwise.core.types import EMPTY
from slotwise.posterior import draw_parameters, update, update_by_tally
from tests.statistical_assertions import assert_mean_is

pytestmark = pytest.mark.usefixtures("interpreting")


def _joint(slots: int, items: int) -> JointGibbsPosterior:
    return joint_gibbs_posterior(
        PolicyTask(slots, items, 100), np.ones(items), shape=1.0, rate=1.0, bias_shape=1.0, bias_rate=1.0
    )


def test_every_list_is_counted_once_however_many_there_are() -> None:
    posterior, rng = _joint(3, 9), np.random.default_rng(1)
    counted: Counter[tuple[int, ...]] = Counter()
    for now in range(3_000):
        ranking = rng.permutation(9)[:3]
        if now % 10 == 0:
            ranking[2] = EMPTY
        counted[tuple(ranking.tolist())] += 1
        update(posterior, ranking, NO_CLICK)
    assert posterior.count == len(counted) > 500
    found = {tuple(posterior.rankings[n].tolist()): int(posterior.rounds[n]) for n in range(posterior.count)}
    assert found == counted


def test_the_auxiliary_variables_stand_for_passes() -> None:
    """Given λ and α, Σ Z over the lists with item j in slot k has the mean Σ T/(1 + S), which is that of the passes."""
    posterior = _joint(2, 3)
    attractiveness = np.array([0.5, 0.25, 1.0])
    posterior.gibbs.attractiveness[:] = attractiveness
    for ranking, times in (([0, 1], 7), ([2, 1], 4), ([1, EMPTY], 3)):
        for _ in range(times):
            update(posterior, np.array(ranking), NO_CLICK)
    rng, seen = np.random.default_rng(2), []
    for _ in range(4_000):
        posterior.position_bias[:] = (1.0, 0.5)
        draw_parameters(posterior, rng)
        seen.append(posterior.gibbs.passes.ravel().copy())
    both, other, alone = 7 / (1 + 0.5 + 0.125), 4 / (1 + 1.0 + 0.125), 3 / (1 + 0.25)
    expected = np.array([[both, 0], [alone, both + other], [other, 0]])
    assert_mean_is(expected.ravel(), seen)


def test_a_posterior_by_list_rejects_a_tally() -> None:
    prior = {"shape": 1.0, "rate": 1.0, "bias_shape": 1.0, "bias_rate": 1.0}
    posterior = joint_gibbs_posterior(PolicyTask(2, 3, 10), np.ones(3), **prior)
    with pytest.raises(InvalidInput, match="cannot be computed from a tally"):
        update_by_tally(posterior, np.zeros((2, 3)), np.zeros((2, 3)))
