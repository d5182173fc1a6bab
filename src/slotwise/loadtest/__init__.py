"""Load test: simulated visitors use a service over HTTP, and its counts are checked."""

from slotwise.loadtest.loadtest_report import LoadTestReport
from slotwise.loadtest.loadtest_run import run_loadtest

__all__ = ["LoadTestReport", "run_loadtest"]
