"""How much to explore: rules on one posterior, compared on the mean and the tail of their regret."""
