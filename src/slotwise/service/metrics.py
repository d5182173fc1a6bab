"""Prometheus metrics of a worker.

Numbers of decisions come from the store, so that they are the same in every worker and survive a restart. Times are
those of the worker that answers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from slotwise.service.placements.placement_registry import Placements
from slotwise.service.storage.count_rows import Counters

#: the published maximum age of the snapshot that decisions use
STALENESS_BOUND_SECONDS: Final = 1.0

#: buckets of a histogram of times
SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
_SIZES: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


class WorkerMetrics:
    """The metrics registry of a worker; the HTTP layer adds its own metrics."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.reports = Counter(
            "slotwise_reports", "Reported outcomes, by verdict.", ["verdict"], registry=self.registry
        )
        self._propensities = Counter(
            "slotwise_propensities",
            "Decisions whose propensities were computed, by whether they are known.",
            ["found"],
            registry=self.registry,
        )
        self._commits = Histogram(
            "slotwise_commit_seconds",
            "Duration of a transaction, to disk.",
            registry=self.registry,
            buckets=SECONDS,
        )
        self._together = Histogram(
            "slotwise_commit_size", "Decisions and outcomes in a transaction.", registry=self.registry, buckets=_SIZES
        )

    def collect_from(self, placements: Placements) -> None:
        """Publish the counters and the age of these placements."""
        self.registry.register(_FromStore(placements))

    def committed(self, size: int, seconds: float) -> None:
        """Record a transaction."""
        self._commits.observe(seconds)
        self._together.observe(size)

    def looked_for_propensities(self, found: str, decisions: int) -> None:
        """Record a number of decisions whose propensities are known or unknown."""
        self._propensities.labels(found).inc(decisions)

    def text(self) -> bytes:
        """The metrics in the text format of Prometheus."""
        return generate_latest(self.registry)


class _FromStore(Collector):
    def __init__(self, placements: Placements) -> None:
        self._placements = placements

    def describe(self) -> Iterable[Metric]:
        return []

    def collect(self) -> Iterable[Metric]:
        decisions = CounterMetricFamily("slotwise_decisions", "Decisions issued.", labels=["placement", "arm"])
        outcomes = CounterMetricFamily(
            "slotwise_outcomes", "Final decisions, by outcome.", labels=["placement", "kind"]
        )
        late = CounterMetricFamily(
            "slotwise_late", "Decisions with an outcome after their deadline.", labels=["placement"]
        )
        capped = CounterMetricFamily(
            "slotwise_capped", "Decisions beyond the hourly cap of their visitor or network.", labels=["placement"]
        )
        duplicates = CounterMetricFamily("slotwise_duplicates", "Outcomes reported again.", labels=["placement"])
        conflicts = CounterMetricFamily("slotwise_conflicts", "Conflicting outcomes.", labels=["placement"])
        pending = GaugeMetricFamily("slotwise_pending", "Decisions before their deadline.", labels=["placement"])
        silent = GaugeMetricFamily(
            "slotwise_silent_share", "Share of the no-clicks without a report.", labels=["placement"]
        )
        several = GaugeMetricFamily(
            "slotwise_several_clicks_share",
            "Share of the clicked lists with clicks on several items.",
            labels=["placement"],
        )
        value = CounterMetricFamily("slotwise_value", "Sum of the reported values of clicks.", labels=["placement"])
        for name, arms in self._placements.counters.items():
            for arm, counters in arms.items():
                decisions.add_metric([name, arm], counters.issued)
            total = sum(arms.values(), Counters())
            for kind in ("clicked", "no_click", "not_shown"):
                outcomes.add_metric([name, kind], getattr(total, kind))
            late.add_metric([name], total.late)
            capped.add_metric([name], total.capped)
            duplicates.add_metric([name], total.duplicates)
            conflicts.add_metric([name], total.conflicts)
            pending.add_metric([name], total.pending)
            if total.no_click:
                silent.add_metric([name], total.silent / total.no_click)
            if total.clicked:
                several.add_metric([name], total.several / total.clicked)
            value.add_metric([name], total.value)
        yield from (decisions, outcomes, late, capped, duplicates, conflicts, pending, silent, several, value)
        yield GaugeMetricFamily(
            "slotwise_snapshot_staleness_seconds",
            "Age of the snapshot that decisions use.",
            value=self._placements.staleness(),
        )
        yield GaugeMetricFamily(
            "slotwise_snapshot_staleness_bound_seconds",
            "Upper bound of that age while the store answers.",
            value=STALENESS_BOUND_SECONDS,
        )
