"""Graves and Lai's constant C: the regret of a policy that is good on every problem grows at least as C log T."""

from research.graves_lai.limit import Explored, Limit, limit

__all__ = ["Explored", "Limit", "limit"]
