"""PMED, a policy for the position-based model with unknown position bias, and the linear program that it solves."""

from research.pmed.policy import PMED

__all__ = ["PMED"]
