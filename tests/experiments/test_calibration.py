"""Simulation-based calibration: the samplers are right, and the check notices when they are not."""

from __future__ import annotations

from typing import Any

import pytest

from slotwise.belief.gibbs import gibbs_bias
from slotwise.experiments import calibration
from tests.chance import FALSE_ALARM

DATASETS = 250


@pytest.mark.parametrize("case", [("joint", "choices"), ("gibbs", "poisson"), ("integrated", "poisson")], ids="-".join)
def test_the_truth_ranks_uniformly_among_samples(case: tuple[str, str]) -> None:
    """The normal approximation of the bias is not exact, but not to be told from it by so many data sets."""
    found = calibration.run(DATASETS, seed=1, cases=[case])
    assert len(found) == 3
    for one in found:
        assert one.p_value > FALSE_ALARM / 3, one


@pytest.mark.parametrize("fault", ["shape", "rate"])
def test_a_wrong_sampler_is_found_out(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    """A prior in the sampler that is not the one the parameters came from."""

    def wrong(*arguments: Any, **priors: Any) -> Any:
        return gibbs_bias(*arguments, **{**priors, fault: 3.0 * priors[fault]})

    monkeypatch.setattr(calibration, "gibbs_bias", wrong)
    found = calibration.run(DATASETS, seed=1, cases=[("gibbs", "poisson")])
    assert min(one.p_value for one in found) < FALSE_ALARM / 3


def test_the_figure() -> None:
    drawn = calibration.figure(calibration.run(16, seed=2, cases=[("gibbs", "choices")]))
    assert len(drawn.axes) == 3
    assert "α₁" in drawn.axes[0].get_title()
