"""Options and terminal output that several commands share."""
