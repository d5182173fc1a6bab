from __future__ import annotations

from slotwise.simulation.compile_policies import warm_up
from slotwise.simulation.loop import advance


def test_nothing_is_left_to_compile() -> None:
    warm_up()
    compiled = len(advance.signatures)  # type: ignore[attr-defined]
    warm_up()
    assert len(advance.signatures) == compiled >= 5  # type: ignore[attr-defined]
