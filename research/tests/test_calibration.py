"""Simulation-based calibration: the samplers are right, and the check notices when they are not."""

from __future__ import annotations

from typing import Any

import pytest

from research import calibration
from research.gibbs_sampler import gibbs_posterior
from tests.statistical_assertions import FALSE_ALARM

DATASETS = 250


@pytest.mark.parametrize("case", [("joint", "choices"), ("gibbs", "poisson"), ("integrated", "poisson")], ids="-".join)
def test_the_truth_ranks_uniformly_among_samples(case: tuple[str, str]) -> None:
    """The normal approximation of the bias is not exact, but not to be told from it by so many data sets."""
    found = calibration.run(DATASETS, seed=1, cases=[case])
    assert len(found) == 3
    for one in found:
        assert one.p_value > FALSE_ALARM / 3, one


@pytest.mark.parametrize("data", ["crowds", "features"])
def test_the_truth_ranks_nearly_uniformly_with_approximated_segments_and_features(data: str) -> None:
    """Levels and weights are drawn at their modes, and the bias as if they were there: see `CLOSE` for how near."""
    found = calibration.run(DATASETS, seed=1, cases=[("lived", data)])
    assert [one.parameter for one in found] == list(calibration.PARAMETERS[data])
    for one in found:
        assert one.p_value > FALSE_ALARM / 3, one
        assert abs(one.spread - 1.0) < CLOSE, one


#: a sampler may be so much too sure, in sd; the error of the sd of 250 normal scores is 0.045
CLOSE = 0.25


def test_the_truth_ranks_nearly_uniformly_with_effects_of_pairs() -> None:
    for one in calibration.run(DATASETS, seed=1, cases=[("wide", "pairs")]):
        assert abs(one.spread - 1.0) < CLOSE, one


@pytest.mark.long
def test_soft_passes_are_less_too_sure_where_most_visits_click() -> None:
    """Hard passes are found out; soft ones are right of α and λ, and of γ = λα too sure by half as much."""
    hard, soft = (calibration.run(2 * DATASETS, seed=1, cases=[(of, "busy")]) for of in ("integrated", "soft"))
    for one, other in zip(hard, soft, strict=True):
        assert one.p_value < FALSE_ALARM / 3, one
        assert other.spread - 1.0 < 0.75 * (one.spread - 1.0), other
        if other.parameter != "λ₂α₂":
            assert other.p_value > FALSE_ALARM / 3, other


@pytest.mark.long
@pytest.mark.parametrize("fault", ["shape", "rate"])
def test_a_wrong_sampler_is_found_out(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    """A prior in the sampler that is not the one the parameters came from."""

    def wrong(*arguments: Any, **priors: Any) -> Any:
        return gibbs_posterior(*arguments, **{**priors, fault: 3.0 * priors[fault]})

    monkeypatch.setattr(calibration, "gibbs_posterior", wrong)
    found = calibration.run(DATASETS, seed=1, cases=[("gibbs", "poisson")])
    assert min(one.p_value for one in found) < FALSE_ALARM / 3


def test_the_figure() -> None:
    drawn = calibration.figure(calibration.run(16, seed=2, cases=[("gibbs", "choices")]))
    assert len(drawn.axes) == 3
    assert "α₁" in drawn.axes[0].get_title()
