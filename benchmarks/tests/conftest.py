from __future__ import annotations

import pytest

from benchmarks.loadtest import target_placement
from tests.conftest import interpreting
from tests.waiting import FOR_EVER

__all__ = ["interpreting"]


@pytest.fixture(autouse=True)
def as_long_as_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A service that is slow to count is given all the time that it needs."""
    monkeypatch.setattr(target_placement, "SETTLE_SECONDS", FOR_EVER)
