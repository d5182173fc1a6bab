"""The experiments of the paper, as data."""
