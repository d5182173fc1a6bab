"""Simulation: policies against users, replicated."""

from slotwise.simulation.results import Results, Run
from slotwise.simulation.runner import simulate

__all__ = ["Results", "Run", "simulate"]
