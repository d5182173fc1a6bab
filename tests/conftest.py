from __future__ import annotations

import gc
import os
import signal
from collections.abc import Generator, Iterator

import pytest
from hypothesis import HealthCheck, settings

from slotwise import MNL, available_policies
from slotwise.environments import paper_problems
from slotwise.jit import interpreted
from slotwise.policies import PolicySpec, policy_registry
from tests.postgres import postgres
from tests.registered_components import in_package

# what is tested must not depend on how far a compiler has come; tests of that say otherwise
os.environ.setdefault("SLOTWISE_COMPILE", "first")

# a run in the background is not to be interrupted, and what it starts would not be either, which tests do interrupt
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# how long an example takes says how busy the machine is, and nothing about the program; the same program is given
# the same examples, so that it does not pass today and fail tomorrow
settings.register_profile("slotwise", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("slotwise")

__all__ = ["interpreting", "paper_users", "postgres", "small"]


@pytest.fixture(scope="session")
def small() -> MNL:
    """Three slots out of order, four items: small enough for every ranking to be tried."""
    return MNL(position_bias=[1.0, 0.2, 0.9], attractiveness=[0.3, 0.5, 0.1, 0.8])


@pytest.fixture(autouse=True)
def policies_of_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide policies that were registered by `research`, which the same run may have imported."""
    monkeypatch.setattr(policy_registry, "_registered", {entry.id: entry for entry in in_package()})


@pytest.fixture
def interpreting() -> Iterator[None]:
    """Kernels run as they are written: for tests of what they do, not of how they do it; nothing is to be compiled."""
    with interpreted():
        yield


@pytest.fixture(scope="session", params=["a", "b", "c"])
def paper_users(request: pytest.FixtureRequest) -> MNL:
    users: MNL = paper_problems()[request.param].users
    return users


#: what takes long by itself is begun first, so that no worker is left alone with it at the end
FIRST = (
    "tests/test_drop_in.py",
    "tests/service/test_processes.py",
    "tests/service/dashboard",
    "tests/paper/test_reproduction.py",
    "tests/logs/test_spark.py",
    "tests/ranker/test_background_compile.py",
    "tests/test_broken_on_purpose.py",
)
POLICIES = {entry.id for entry in available_policies()}


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Of half a million objects that are imported or collected none is garbage: it is not looked for among them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


# where xdist is switched off, as in the tests of faults, nobody knows of this hook
@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Two more than there are cores: many tests wait, for a service's next look or for a browser."""
    return len(os.sched_getaffinity(0)) + 2 if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1) + 2


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests that share what takes long to make go to the same worker."""
    if not config.pluginmanager.hasplugin("xdist"):
        return
    items.sort(key=lambda item: not item.nodeid.startswith(FIRST))
    for item in items:
        if shared := _shared(item):
            item.add_marker(pytest.mark.xdist_group(shared))


def _shared(item: pytest.Item) -> str | None:
    """What a module or folder sets up once, or the kernels of a policy, which two workers would compile at once."""
    fixtures = getattr(item, "_fixtureinfo", None)
    for made in fixtures.name2fixturedefs.values() if fixtures is not None else ():
        if made[-1].scope == "module":
            return item.nodeid.partition("::")[0]
        if made[-1].scope == "package":
            return str(made[-1].baseid)
    parameters = getattr(item, "callspec", None)
    for value in parameters.params.values() if parameters is not None else ():
        if isinstance(value, str | PolicySpec) and (id := str(value).partition(":")[0]) in POLICIES:
            return id
    return None
