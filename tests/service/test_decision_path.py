"""A decision passes through few modules: the way of a request is followed in a server that runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from slotwise.jit.background_compile import SETTING
from slotwise.service.placements import placement_registry
from slotwise.service.runtime import background_tasks
from tests.service.serving import Client, serving
from tests.traces import tracing

#: lists are drawn ahead, at most so many at once: after as many decisions, one has drawn some
DECISIONS = 20
#: modules of ours, from the request to the response; kernels run as plain Python here, so that theirs are among them
MAX_MODULES = 40
#: background tasks are done once at the start, and not again
NEVER = 1e6


def decisions(client: Client) -> None:
    for _ in range(DECISIONS):
        client.decide()


def test_a_decision_passes_through_few_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placement_registry, "REFRESH_SECONDS", NEVER)
    monkeypatch.setattr(background_tasks, "FINALISE_SECONDS", NEVER)
    monkeypatch.setattr(background_tasks, "END_SECONDS", NEVER)
    monkeypatch.setenv(SETTING, "never")
    with tracing() as trace, serving(f"sqlite:///{tmp_path}/store.db") as client:
        client.define()
        decisions(client)
        modules = trace.modules_of(lambda: decisions(client))
    assert len(modules) <= MAX_MODULES, "\n".join(modules)
