"""Decisions: the choice of a list, propensities and outcome tokens."""
