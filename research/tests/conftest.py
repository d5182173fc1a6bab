from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import interpreting, paper_users, small

__all__ = ["interpreting", "paper_users", "small"]

#: the tests of studies that `make test` runs: every study can be listed and started
QUICK = "test_command.py"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the studies, which are not in the package, to `make test-all`; mypy checks their calls in `make test`."""
    for item in items:
        if item.path.parent == Path(__file__).parent and item.path.name != QUICK:
            item.add_marker(pytest.mark.long)
