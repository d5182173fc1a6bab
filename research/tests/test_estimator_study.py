from __future__ import annotations

import csv
import dataclasses
from pathlib import Path

import numpy as np
import pytest

from research import estimator_study
from research.estimator_study import COMPARED, Measured, figure, run, table, write
from slotwise import MNL
from slotwise.core.errors import InvalidInput
from slotwise.core.types import FloatArray
from slotwise.estimators import Estimate
from slotwise.estimators.likelihoods.joint_likelihood import Joint
from slotwise.simulation.data_collection import at_random, by_policy


@pytest.fixture(scope="module")
def measured() -> list[Measured]:
    return run(["b"], [200, 3_000], replications=40, seed=1)


def _of(measured: list[Measured], estimator: str, rounds: int, gathered: str = "at random") -> Measured:
    (found,) = (one for one in measured if (one.estimator, one.rounds, one.gathered) == (estimator, rounds, gathered))
    return found


def test_everything_is_measured_once(measured: list[Measured]) -> None:
    assert len(measured) == len(COMPARED) * 2 * 2
    assert len({(one.rounds, one.gathered, one.estimator) for one in measured}) == len(measured)
    assert all(one.milliseconds > 0 and one.interval_milliseconds > 0 for one in measured)


def test_the_same_seed_gives_the_same_numbers(measured: list[Measured]) -> None:
    def timeless(one: Measured) -> list[str]:
        kept = dataclasses.replace(one, milliseconds=0.0, interval_milliseconds=0.0)
        return [repr(value) for value in dataclasses.astuple(kept)]

    again = run(["b"], [200, 3_000], replications=40, seed=1)
    assert [timeless(one) for one in again] == [timeless(one) for one in measured]
    other = run(["b"], [400], replications=3, seed=2)
    assert other[0].bias != measured[0].bias


def test_maximum_likelihood_is_near_the_bound(measured: list[Measured]) -> None:
    """The variance of 40 replications of four items, as a ratio to the truth, has a standard error of about 0.1."""
    best = _of(measured, "maximum-likelihood", 3_000)
    assert 0.6 < best.variance < 1.4
    assert best.mean_squared_error >= best.variance
    assert best.failed == 0.0
    assert _of(measured, "algorithm-1", 3_000).variance > best.variance
    assert _of(measured, "scaling", 3_000).covered > 0.88


def test_a_worse_estimator_looks_worse(monkeypatch: pytest.MonkeyPatch) -> None:
    """An estimate that is a tenth too large shows as bias, as mean squared error and in the coverage."""
    sound = COMPARED["scaling"]

    def broken(counts: object, position_bias: FloatArray) -> Estimate:
        found = sound(counts, position_bias)
        return dataclasses.replace(found, attractiveness=1.1 * found.attractiveness)

    monkeypatch.setitem(estimator_study.COMPARED, "scaling", broken)
    found = _of(run(["b"], [20_000], replications=30, seed=3), "scaling", 20_000)
    assert found.bias == pytest.approx(0.1, abs=0.04)
    assert found.mean_squared_error > 1.5 * found.variance
    assert found.covered < 0.9


def test_the_information_counts_the_rankings(small: MNL) -> None:
    """Twice the rounds hold about twice the information; the first slot, which is the anchor, has no row."""
    rng = np.random.default_rng(0)
    once, twice = (
        Joint.of(at_random(small, rounds, rng)).information(small.position_bias, small.attractiveness)
        for rounds in (20_000, 40_000)
    )
    assert once.shape == (6, 6)
    assert np.diag(twice) == pytest.approx(2 * np.diag(once), rel=0.05)


def test_a_policy_shows_the_items_that_look_good(small: MNL) -> None:
    shows = by_policy(small, "epoch-ucb", 20_000, np.random.default_rng(0)).showings
    assert shows[0].argmax() == 3
    assert shows.sum(axis=1).tolist() == [20_000] * 3


def test_table_and_figure(measured: list[Measured]) -> None:
    lines = table(measured).splitlines()
    assert len(lines) == len(measured) + 2
    assert {line.count("|") for line in lines} == {15}
    assert len(figure(measured).axes) == 6


def test_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        estimator_study, "run", lambda **options: run(["b"], [200], options["replications"], options["seed"])
    )
    write(tmp_path / "study", replications=2, progress=False)
    names = {file.name for file in (tmp_path / "study").iterdir()}
    assert names == {"estimators.csv", "estimators.md", "estimators.png", "estimators.svg", "estimators.pdf"}
    with open(tmp_path / "study" / "estimators.csv") as file:
        assert len(list(csv.DictReader(file))) == len(COMPARED) * 2


def test_one_replication_is_too_few() -> None:
    with pytest.raises(InvalidInput, match="replications must be at least 2, got 1"):
        run(["b"], [100], replications=1)
