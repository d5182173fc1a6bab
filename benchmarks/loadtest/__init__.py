"""Load test: simulated visitors use a service over HTTP, and its counts are checked."""

from benchmarks.loadtest.loadtest_report import LoadTestReport
from benchmarks.loadtest.loadtest_run import run_loadtest

__all__ = ["LoadTestReport", "run_loadtest"]
