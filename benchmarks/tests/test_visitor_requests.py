from __future__ import annotations

import random

from benchmarks.loadtest.visitor_requests import VisitorRequests
from tests.statistical_assertions import assert_frequencies


def test_requests_have_keys_of_their_own_and_are_asked_again() -> None:
    requests_of = VisitorRequests(random.Random(1), keys="k")
    requests = [requests_of.draw() for _ in range(2_000)]
    keys = [request.key for request in requests if request.key is not None]
    assert len(set(keys)) == len(keys)
    assert_frequencies([0.3, 0.7], [len(keys), 2_000 - len(keys)])
    assert {request.again for request in requests if request.key} == {"never", "at once", "after reports"}
    assert {request.again for request in requests if request.key is None} == {"never"}
