"""The documentation, and in `docs.tools` the programs that build and check it."""
