from __future__ import annotations

import random
from collections import Counter

import pytest

from benchmarks.loadtest.visitor_segments import MAX_VALUES, OTHER, Audience
from tests.statistical_assertions import assert_frequencies

TWO_KEYS = Audience({"device": ["mobile", "desktop"], "visitor": ["new", "unlisted-0"]}, other=0.3)


def test_visitors_are_drawn_by_their_shares() -> None:
    rng = random.Random(1)
    counts = Counter(TWO_KEYS.draw(rng)[1] for _ in range(20_000))
    shares = TWO_KEYS.shares()
    assert sum(shares.values()) == pytest.approx(1.0)
    assert len(shares) == 9
    assert_frequencies(list(shares.values()), [counts[segment] for segment in shares])


def test_a_request_belongs_to_the_segment_of_its_context() -> None:
    rng = random.Random(2)
    seen = set()
    for _ in range(2_000):
        context, segment = TWO_KEYS.draw(rng)
        for key, value in segment:
            said = context.get(key)
            assert value == (said if said in TWO_KEYS.segments[key] else OTHER)
            seen.add((key, said))
    # all that is listed, nothing said, and what is not listed
    assert all((key, value) in seen for key, listed in TWO_KEYS.segments.items() for value in (*listed, None))
    assert {("device", "unlisted-0"), ("visitor", "unlisted-1")} <= seen


def test_a_check_asks_for_few_segments() -> None:
    many = Audience({"city": [f"city {number}" for number in range(900)]})
    assert len(list(many.pairs())) == MAX_VALUES + 1
    assert not many.is_whole("city")
    assert {segment[0] for segment in many.shares()} == set(many.pairs())


def test_without_segments_no_context_is_sent() -> None:
    assert Audience().draw(random.Random(3)) == ({}, ())
    assert Audience().shares() == {(): 1.0}
