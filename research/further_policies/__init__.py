"""Policies that the package leaves out: one of our own that the default replaces, and two known by an abstract only."""

from research.further_policies import ei_tlr, pairwise_ucb, tlr_ucb

__all__ = ["ei_tlr", "pairwise_ucb", "tlr_ucb"]
