"""Histories that seeds choose, with crashes, lost messages and clocks that jump, against a model in plain Python."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import pytest

from tests.service.simulation.deliberate_faults import FAULTS, Fault, broken
from tests.service.simulation.run import Failure, History, simulate

#: in groups, so that several workers share them
GROUPS, SEEDS = 5, 500
#: seeds within which a fault must be found: the rarest is found by 1 in 60, so that all of them miss it with a
#: probability of 1 in 800
AT_MOST = 400


@pytest.mark.parametrize("group", range(GROUPS))
def test_nothing_is_lost_or_counted_twice(group: int) -> None:
    for seed in range(group, SEEDS, GROUPS):
        history = simulate(seed)
        assert not isinstance(history, Failure), f"make simulate SEED={seed}\n{history.what}"


def digest(history: History) -> str:
    return hashlib.sha256("\n".join(history.trace).encode()).hexdigest()


def test_a_seed_is_one_history() -> None:
    here = [digest(simulate(seed)) for seed in (3, 4, 5)]
    assert [digest(simulate(seed)) for seed in (3, 4, 5)] == here
    assert len(set(here)) == 3
    program = (
        "from tests.service.test_simulation import digest; from tests.service.simulation.run import simulate\n"
        "print(*(digest(simulate(seed)) for seed in (3, 4, 5)))"
    )
    # in another process, in which sets and dictionaries have another order
    other = {**os.environ, "PYTHONHASHSEED": "12345"}
    there = subprocess.run([sys.executable, "-c", program], env=other, capture_output=True, text=True, check=True)
    assert there.stdout.split() == here


def finds(fault: Fault) -> bool:
    with broken(fault):
        return any(isinstance(simulate(seed), Failure) for seed in range(AT_MOST))


@pytest.mark.parametrize("fault", FAULTS[:5], ids=lambda fault: fault.what)
def test_a_common_fault_is_found(fault: Fault) -> None:
    assert finds(fault)


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS[5:], ids=lambda fault: fault.what)
def test_a_rare_fault_is_found(fault: Fault) -> None:
    assert finds(fault)


def test_every_fault_applies_and_is_taken_out_again() -> None:
    for fault in FAULTS:
        with broken(fault):
            pass
    assert not isinstance(simulate(0), Failure)
