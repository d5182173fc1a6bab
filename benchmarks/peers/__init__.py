"""`make peers`: the same work by slotwise and by other tools, each in an environment of its own."""
