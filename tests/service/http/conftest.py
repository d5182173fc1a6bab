"""A service on either store, for a whole file of tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.postgres import Postgres
from tests.service.serving import Client, serving


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path_factory.mktemp('store')}/store.db"
    postgres: Postgres = request.getfixturevalue("postgres")
    return postgres.fresh()


@pytest.fixture(scope="module")
def client(store: str) -> Iterator[Client]:
    with serving(store) as serving_client:
        yield serving_client
