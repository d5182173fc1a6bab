"""Upper confidence bounds that policies rank items by."""
