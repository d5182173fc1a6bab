"""What tests of the service share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.postgres import Postgres


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store that nothing was written into yet, of either kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/store.db"
    postgres: Postgres = request.getfixturevalue("postgres")
    return postgres.fresh()
