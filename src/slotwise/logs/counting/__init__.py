"""From rows to counts: clean a log and tally it."""
