"""Simulation: policies against users, replicated."""

from slotwise.simulate.replicate import simulate
from slotwise.simulate.results import Results, Run

__all__ = ["Results", "Run", "simulate"]
