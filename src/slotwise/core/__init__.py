"""Data types that every other package shares: tallies, rankings, goals, errors, validation."""
