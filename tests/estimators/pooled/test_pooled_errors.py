"""How sure a pooled estimate is, and where its slots are with attractiveness integrated out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from slotwise import Rankings
from slotwise.click_models import MNL, draw_many
from slotwise.core.types import FloatArray
from slotwise.estimators.likelihoods.joint_likelihood import Joint
from slotwise.estimators.likelihoods.list_kernels import add_slope_of_determinant
from slotwise.estimators.likelihoods.newton import climb
from slotwise.estimators.pooled import pooled_errors
from slotwise.estimators.pooled.pooled_errors import PooledErrors
from slotwise.estimators.pooled.pooled_fit import learn

BIAS = 0.75 ** np.arange(6)


def queries(rng: np.random.Generator, count: int) -> list[Rankings]:
    """Small ones, with results in any order."""
    made = []
    for _ in range(count):
        users = MNL(position_bias=BIAS, attractiveness=0.2 * np.exp(rng.normal(size=10)))
        shown = np.argsort(rng.random((1 + rng.geometric(1.0 / 12.0), 10)), axis=1)[:, :6]
        made.append(Rankings.of_rounds(shown, draw_many(users, shown, rng), items=10))
    return made


def log_determinant(found: PooledErrors) -> float:
    """Of the information on the items of the first placement."""
    (determinant,) = np.linalg.slogdet(found._block(np.array([0])).items)[1]
    return float(determinant)


def test_the_slope_of_the_determinant_is_its_derivative() -> None:
    """By log λ and by log α, both held for the other; the prior's part in α is left out by the kernel."""
    (seen,) = queries(np.random.default_rng(1), 1)
    found = learn([seen], roughly=True).together
    lists = found.cells.lists
    assert lists is not None
    items, slots = np.zeros(10), np.zeros(6)
    inverse = np.linalg.inv(found._block(np.array([0])).items[0])
    add_slope_of_determinant(lists.shown, found._times, found._chances, inverse, items, slots)
    items += np.diag(inverse) * found._drawn

    def slope(name: str, place: int) -> float:
        ends = []
        for step in (1e-5, -1e-5):
            values = getattr(found, name).copy()
            values[place] *= np.exp(step)
            ends.append(log_determinant(replace(found, **{name: values})))
        return (ends[0] - ends[1]) / 2e-5

    assert [slope("position_bias", slot) for slot in range(6)] == pytest.approx(slots, abs=1e-7)
    assert [slope("attractiveness", item) for item in range(10)] == pytest.approx(items, abs=1e-7)


def test_the_shift_of_slots_leads_to_the_mode_with_attractiveness_integrated_out() -> None:
    """Of one placement, and with the weights of the prior all but known, so that only λ moves."""
    rng = np.random.default_rng(2)
    users = MNL(position_bias=BIAS, attractiveness=0.2 * np.exp(rng.normal(size=10)))
    shown = np.argsort(rng.random((400, 10)), axis=1)[:, :6]
    found = learn([Rankings.of_rounds(shown, draw_many(users, shown, rng), items=10)], roughly=True).together
    weights = np.append(np.zeros(5), np.full_like(found.prior.variance, 1e12))
    found = replace(found, of_priors=found.of_priors + np.diag(weights))
    assert isinstance(found.likelihood, Joint)
    held = replace(found.likelihood, free=False)

    def integrated(log_bias: FloatArray) -> float:
        bias, alpha, _, _ = climb(held, np.exp(log_bias), found.attractiveness.copy())
        there = replace(found, position_bias=bias, attractiveness=alpha)
        assert isinstance(found.likelihood, Joint)
        return found.likelihood.at(bias, alpha).value - log_determinant(there) / 2.0

    def slopes(log_bias: FloatArray) -> FloatArray:
        steps = 1e-4 * np.eye(6)[1:]
        return np.array([(integrated(log_bias + step) - integrated(log_bias - step)) / 2e-4 for step in steps])

    mode, shift = np.log(found.position_bias), found.slot_shift()
    assert shift[0] == 0.0
    assert np.abs(slopes(mode + shift)).max() < 0.05 * np.abs(slopes(mode)).max()


def test_position_bias_of_many_small_queries_is_recovered() -> None:
    """At the mode of all parameters their logarithms are 0.05 too high on average, with a standard error of 0.01."""
    found = learn(queries(np.random.default_rng(3), 1_500)).together
    rough = learn(queries(np.random.default_rng(3), 1_500), roughly=True).together
    off, before = (float(np.log(one.position_bias / BIAS)[1:].mean()) for one in (found, rough))
    assert abs(off) < 0.03 < before


@pytest.mark.parametrize("shared_items", [False, True])
def test_the_error_of_a_sum_is_the_same_whether_blocks_are_kept_or_made_for_it(
    monkeypatch: pytest.MonkeyPatch, shared_items: bool
) -> None:
    """And of one item's logarithm, what the item's own error is."""
    rng = np.random.default_rng(4)
    seen = queries(rng, 12)
    # one with fewer slots and items than the others
    seen.append(Rankings([[0, 1, 2], [2, 1, 0]], [[3, 2, 0], [1, 1, 4]], [9, 8], items=3))
    numbers = [np.arange(one.items) for one in seen] if shared_items else None
    kept = learn(seen, numbers).together
    made = replace(kept)
    for number, one in enumerate(seen):
        of_items, of_slots = rng.random(one.items), rng.random(one.slots)
        whole = kept.log_error_of(number, of_items, of_slots)
        with monkeypatch.context() as patched:
            patched.setattr(pooled_errors, "MAX_KEPT", 0)
            assert made.log_error_of(number, of_items, of_slots) == pytest.approx(whole, rel=1e-10)
        alone = [kept.log_error_of(number, item, np.zeros(one.slots)) for item in np.eye(one.items)]
        assert alone == pytest.approx(kept.log_errors(number)[0], rel=1e-10)
    assert kept._kept
    assert not made._kept
