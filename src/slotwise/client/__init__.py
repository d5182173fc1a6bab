"""A service from Python: decisions, outcomes and estimates over HTTP, on the standard library alone."""

from slotwise.client.client import Client, Decision

__all__ = ["Client", "Decision"]
