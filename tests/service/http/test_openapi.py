"""Whatever the OpenAPI document allows or forbids is answered as it says."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from pydantic import SecretStr
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance

from tests.service.serving import serving
from tests.waiting import FOR_EVER

KEY = "a-key"
MORE_THAN_A_SCHEMA = (
    "/v1/placements/{name}",
    "/v1/placements/{name}/decisions",
    "/v1/placements/{name}/estimates",
    "/v1/placements/{name}/history",
    "/v1/placements/{name}/items/{id}",
    "/v1/placements/{name}/overview",
    "/v1/placements/{name}/timeline",
)


@pytest.fixture(scope="module")
def openapi(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    store = f"sqlite:///{tmp_path_factory.mktemp('openapi')}/store.db"
    with serving(store, headers={"Authorization": f"Bearer {KEY}"}, server_key=SecretStr(KEY)) as client:
        client.define()
        yield schemathesis.openapi.from_url(f"{client.base_url}/openapi.json", timeout=FOR_EVER)


def test_every_answer_is_one_that_is_described(openapi: Any) -> None:
    described = [found.ok() for found in openapi.get_all_operations()]
    assert len(described) == 20
    for operation in described:
        for mode in GenerationMode:
            # there is no wrong way to ask for what has no arguments
            with contextlib.suppress(Unsatisfiable):
                _ask(operation, mode)


def _ask(operation: Any, mode: GenerationMode) -> None:
    # which items and segments there are, and that slots are no more than items, is more than the document can say
    beyond = [positive_data_acceptance] if operation.path in MORE_THAN_A_SCHEMA else []

    @settings(max_examples=12, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case: Any) -> None:
        case.call_and_validate(headers={"Authorization": f"Bearer {KEY}"}, excluded_checks=beyond, timeout=FOR_EVER)

    ask()
