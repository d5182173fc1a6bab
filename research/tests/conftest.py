from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import interpreting, paper_users, small

__all__ = ["interpreting", "paper_users", "small"]

#: the tests that `make test` runs: every study can be listed and started, and the paper is reproduced
QUICK = ("test_command.py", "test_reproduction.py", "test_paper_intervals.py", "test_result_cache.py")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the studies, which are not in the package, to `make test-all`; mypy checks their calls in `make test`."""
    for item in items:
        if item.path.parent == Path(__file__).parent and item.path.name not in QUICK:
            item.add_marker(pytest.mark.long)
