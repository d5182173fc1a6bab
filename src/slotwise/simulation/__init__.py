"""Simulation: policies against users, replicated."""

from slotwise.simulation.environment_sweep import SweepResults, sweep
from slotwise.simulation.policy_run import Run
from slotwise.simulation.results import Results
from slotwise.simulation.runner import simulate

__all__ = ["Results", "Run", "SweepResults", "simulate", "sweep"]
