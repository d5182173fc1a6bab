"""Placements in memory: their learners, kept in step with the store."""
