"""Policies that the package leaves out: one of our own that the default replaces, and some of the literature."""

from research.further_policies import (
    delayed_mnl_ucb,
    ei_tlr,
    epsilon_ts,
    exp_ts,
    graves_lai_tracking,
    pairwise_ucb,
    tlr_ucb,
    windowed_mnl_ucb,
)

__all__ = [
    "delayed_mnl_ucb",
    "ei_tlr",
    "epsilon_ts",
    "exp_ts",
    "graves_lai_tracking",
    "pairwise_ucb",
    "tlr_ucb",
    "windowed_mnl_ucb",
]
