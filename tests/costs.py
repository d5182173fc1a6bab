"""Processor time of the tests by folder and by test, children included: `pytest -p tests.costs`."""

from __future__ import annotations

import resource
from collections import Counter
from collections.abc import Generator
from typing import Any

import pytest

MAX_LISTED = 40
_spent = 0.0


def _seconds() -> float:
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """Attach to each phase's report the processor time since the report before it."""
    global _spent
    report = yield
    now = _seconds()
    report.user_properties.append(("processor", now - _spent))
    _spent = now
    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the folders and the tests that cost most."""
    tests: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            # properties accumulate from phase to phase: the last one is this report's own
            costs = [value for name, value in getattr(report, "user_properties", ()) if name == "processor"]
            if costs:
                tests[report.nodeid] += costs[-1]
    folders: Counter[str] = Counter()
    for test, cost in tests.items():
        folders[test.partition("::")[0].rpartition("/")[0]] += cost
    for title, sums in (("folder", folders), ("test", tests)):
        terminalreporter.write_line(f"processor time by {title}, {sum(sums.values()):,.0f} s in all")
        for name, cost in sums.most_common(MAX_LISTED):
            terminalreporter.write_line(f"{cost:9.1f} s  {name}")
