"""A load test with a verdict: visitors with known tastes use a service over HTTP, and its counts are checked."""

from slotwise.drive.report import Drive
from slotwise.drive.run import drive

__all__ = ["Drive", "drive"]
