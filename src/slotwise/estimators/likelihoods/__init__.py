"""Likelihoods of tallies and of whole lists, and the Newton solver that maximises them."""
