"""A load test with a verdict: visitors with known tastes use a service over HTTP, and its counts are checked."""

from slotwise.loadtest.loadtest_report import Drive
from slotwise.loadtest.loadtest_run import drive

__all__ = ["Drive", "drive"]
