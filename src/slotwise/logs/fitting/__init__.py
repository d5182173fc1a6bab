"""From counts to estimates: what slots and items are worth, how well the model fits, what another list would get."""
