"""From rows to counts: what is wrong with a log is put right or left out, and the rest is tallied."""
