"""From wherever a click log is to rows of one shape: one row per shown item."""
