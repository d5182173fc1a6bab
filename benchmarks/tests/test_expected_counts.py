from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks.loadtest.expected_counts import ExpectedCounts, OutcomeCounts, differences


@pytest.fixture
def expected() -> ExpectedCounts:
    report = ExpectedCounts()
    report.issued(("a", "b"), seen=True, segment=(("device", "mobile"),))
    report.ended(("a", "b"), {"clicked": "b"}, (("device", "mobile"),))
    report.issued(("c", "a"), seen=True, segment=(("device", "other"),))
    report.ended(("c", "a"), None, (("device", "other"),))
    report.issued(("c", "b"), seen=False, segment=(("device", "mobile"),))
    report.ended(("c", "b"), {"shown": False}, (("device", "mobile"),))
    return report


@pytest.fixture
def document() -> dict[str, Any]:
    return {
        "decisions": {"issued": 3, "clicked": 1, "no_click": 1, "not_shown": 1, "late": 0},
        # in an order of its own, with one that is retired
        "tally": {
            "items": ["c", "b", "a", "x"],
            "clicks": [[0] * 4, [0, 1, 0, 0]],
            "passes": [[1, 0, 0, 0], [0, 0, 1, 0]],
        },
    }


def _differences(document: dict[str, Any], expected: ExpectedCounts, at_least: bool = False) -> list[str]:
    return differences(OutcomeCounts.published(document), expected.everybody, at_least=at_least)


def test_one_count_too_many_is_noticed(expected: ExpectedCounts, document: dict[str, Any]) -> None:
    assert _differences(document, expected) == []
    for counts in ("clicks", "passes"):
        for slot, item in np.ndindex(2, 4):
            document["tally"][counts][slot][item] += 1
            assert len(_differences(document, expected)) == 1
            # of a placement that others use, too
            assert _differences(document, expected, at_least=True) == []
            document["tally"][counts][slot][item] -= 1
    document["decisions"]["late"] += 1
    assert _differences(document, expected) == ["late: 1 at the service, 0 with the visitors"]


def test_one_missing_count_is_noticed_also_with_other_traffic(
    expected: ExpectedCounts, document: dict[str, Any]
) -> None:
    document["tally"]["clicks"][1][1] = 0
    for at_least in (False, True):
        assert _differences(document, expected, at_least) == [
            "clicks of b in slot 2: 0 at the service, 1 with the visitors"
        ]


def test_segments_are_counted_by_themselves_and_add_up(expected: ExpectedCounts) -> None:
    expected.came_late((("device", "other"),))
    mobile, other = expected.by_segment["device", "mobile"], expected.by_segment["device", "other"]
    assert dict(mobile.lines()) == {
        "issued": 2, "clicked": 1, "no_click": 0, "not_shown": 1, "late": 0, "clicks of b in slot 2": 1
    }  # fmt: skip
    assert other.decisions["late"] == 1
    assert mobile + other == expected.everybody
    assert differences(expected.everybody - other, mobile) == []
    assert differences(expected.everybody, mobile, " of device:mobile")[0] == (
        "issued of device:mobile: 3 at the service, 2 with the visitors"
    )
