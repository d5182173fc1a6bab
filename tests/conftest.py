from __future__ import annotations

import os

import pytest
from hypothesis import settings

from slotwise import MNL
from slotwise.problems import paper_problems
from tests.postgres import postgres

# what is tested must not depend on how far a compiler has come; tests of that say otherwise
os.environ.setdefault("SLOTWISE_COMPILE", "first")

# how long an example takes says how busy the machine is, and nothing about the program
settings.register_profile("slotwise", deadline=None)
settings.load_profile("slotwise")

__all__ = ["paper_users", "postgres", "small"]


@pytest.fixture(scope="session")
def small() -> MNL:
    """Three slots out of order, four items: small enough for every ranking to be tried."""
    return MNL(position_bias=[1.0, 0.2, 0.9], attractiveness=[0.3, 0.5, 0.1, 0.8])


@pytest.fixture(scope="session", params=["a", "b", "c"])
def paper_users(request: pytest.FixtureRequest) -> MNL:
    users: MNL = paper_problems()[request.param].users
    return users


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What a module sets up once is set up by one worker: the tests that share it go to the same."""
    for item in items:
        shared = getattr(item, "_fixtureinfo", None)
        for made in shared.name2fixturedefs.values() if shared is not None else ():
            if made[-1].scope == "module":
                item.add_marker(pytest.mark.xdist_group(made[-1].baseid))
                break
