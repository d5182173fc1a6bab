from __future__ import annotations

from typing import Any

import pytest

from slotwise import MNL, available_policies, simulate
from slotwise.simulation import compile_policies
from slotwise.simulation.loop import advance


def test_nothing_is_left_to_compile() -> None:
    compile_policies.warm_up("toprank")
    compiled = len(advance.signatures)  # type: ignore[attr-defined]
    users = MNL(position_bias=[1.0, 0.8, 0.3], attractiveness=[0.5, 0.4, 0.3, 0.2])
    simulate(users, "toprank", rounds=10, replications=2)
    assert len(advance.signatures) == compiled >= 1  # type: ignore[attr-defined]


def test_every_policy_but_the_rivals_is_compiled_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[Any] = []
    monkeypatch.setattr(compile_policies, "simulate", lambda _, policies, **__: compiled.extend(policies))
    compile_policies.warm_up()
    assert {entry.id for entry in compiled} == {entry.id for entry in available_policies() if not entry.rival}
