from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from slotwise.posterior.gamma_prior import digamma, shape_of, trigamma

pytestmark = pytest.mark.usefixtures("interpreting")


@pytest.mark.parametrize("x", [1e-3, 0.3, 1.0, 4.7, 30.0, 1e6])
def test_special_functions(x: float) -> None:
    assert digamma(x) == pytest.approx(special.digamma(x), rel=1e-12, abs=1e-12)
    assert trigamma(x) == pytest.approx(special.polygamma(1, x), rel=1e-12)
    assert shape_of(np.log(x) - special.digamma(x)) == pytest.approx(x, rel=1e-6)
