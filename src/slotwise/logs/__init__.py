"""Click logs: what slots and items are worth, whether the model fits, and what another list would get."""
