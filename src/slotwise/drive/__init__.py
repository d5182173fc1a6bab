"""A load test with a verdict: visitors of known tastes use a service over HTTP, and what it learned is checked."""

from slotwise.drive.report import Drive
from slotwise.drive.run import drive

__all__ = ["Drive", "drive"]
