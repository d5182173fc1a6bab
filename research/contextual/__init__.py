"""Visitors with features: the environment, its loop, two policies that see the features, and a study of them."""

from research.contextual import contextual_loop, ofu_mnl, ts_mnl
from research.contextual.contextual_mnl import ContextualMNL

__all__ = ["ContextualMNL", "contextual_loop", "ofu_mnl", "ts_mnl"]
