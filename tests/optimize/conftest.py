from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _as_it_is_written(interpreting: None) -> None:
    """Nothing here is about the compiler."""
