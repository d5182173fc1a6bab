"""Changed source in place of the original, in a running process: for faults put in on purpose, and for mutants."""
