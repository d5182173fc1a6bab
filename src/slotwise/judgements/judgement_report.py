"""The report on judgements: coverage, confidence, NDCG of the shown pages, underplaced documents, queries to watch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from slotwise.core.errors import UnwritableFile
from slotwise.core.html_page import write_page
from slotwise.core.io import write_csv
from slotwise.core.types import FloatArray
from slotwise.judgements.relevance import LEVEL, Judgements
from slotwise.logs.counting.cleaning_rules import RULES, SIZES

#: rows of a table of the page
MAX_ROWS = 20


@dataclass(frozen=True, eq=False)
class JudgementSummary:
    """What judgements say of a log.

    Parameters
    ----------
    judged
        The judgements.
    min_confidence
        The minimum probability of a grade that counts as known.
    weights
        What events are worth, if documents are judged by value.
    """

    judged: Judgements
    min_confidence: float = 0.0
    weights: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def known(self) -> FloatArray:
        """Per query, the share of the shown documents whose grade is known well enough."""
        judged, counts = self.judged, self.judged.counts
        known = np.where(judged.confidence >= self.min_confidence, judged.pages, 0.0)
        number = len(counts.queries)
        return np.bincount(counts.query, known, number) / np.bincount(counts.query, judged.pages, number)

    @property
    def coverage(self) -> float:
        """The share of the traffic, shown documents of all pages, whose grade is known well enough."""
        return float((self.judged.pages @ (self.judged.confidence >= self.min_confidence)) / self.judged.pages.sum())

    @property
    def confidence(self) -> float:
        """The mean probability of a grade, over the traffic."""
        return float(self.judged.pages @ self.judged.confidence / self.judged.pages.sum())

    @cached_property
    def ndcg(self) -> tuple[float, float, float]:
        """The NDCG of the shown pages over the traffic: its posterior mean and a credible interval."""
        draws = self._draws @ (self.judged.counts.pages / self.judged.counts.pages.sum())
        low, high = np.quantile(draws, self._tails).tolist()
        return float(draws.mean()), low, high

    @cached_property
    def ndcg_limits(self) -> FloatArray:
        """Per query, the limits of a credible interval of NDCG, 2 × queries."""
        return np.asarray(np.quantile(self._draws, self._tails, axis=0))

    def underplaced(self) -> list[tuple[str, str, float, float, int]]:
        """Return documents with more clicks than their slots explain: query, document, mean slot, u, pages."""
        judged, counts = self.judged, self.judged.counts
        slots = np.arange(1, len(counts.shown) + 1) @ counts.shown / judged.pages
        sure = np.flatnonzero((judged.ratio_above() > 1.0) & (slots > 1.5))
        ratio = judged.ratio * judged.predicted
        extra = (ratio - 1.0) * judged.expected / judged.predicted
        return [
            (
                counts.queries[counts.query[cell]],
                counts.documents[cell],
                float(slots[cell]),
                float(ratio[cell]),
                int(judged.pages[cell]),
            )
            for cell in sure[np.argsort(-extra[sure])].tolist()
        ]

    def queries(self) -> list[tuple[str, int, int, float, float, float, float]]:
        """Return query, pages, clicks, NDCG, its limits and the share of known documents, most pages first."""
        counts = self.judged.counts
        clicks = np.bincount(counts.query, self.judged.clicks, len(counts.queries))
        middle, (low, high) = self._draws.mean(axis=0), self.ndcg_limits
        return [
            (
                counts.queries[query],
                int(counts.pages[query]),
                int(clicks[query]),
                float(middle[query]),
                float(low[query]),
                float(high[query]),
                float(self.known[query]),
            )
            for query in np.argsort(-counts.pages, kind="stable").tolist()
        ]

    def needing_data(self) -> list[tuple[str, int, int, float, float, float, float]]:
        """Return the rows of `queries` whose NDCG is least certain for their traffic, the worst first."""
        return sorted(self.queries(), key=lambda row: -row[1] * (row[5] - row[4]))

    def weights_text(self) -> str:
        """Return what events are worth, as `click 0.02, purchase 1`."""
        return ", ".join(f"{name} {weight:.3g}" for name, weight in self.weights.items())

    def cleaning(self) -> list[str]:
        """Return what was irregular in the log, and how it was treated."""
        found: Mapping[str, int] = self.judged.counts.cleaning
        return [f"{count:,} {RULES.get(rule, rule)}" for rule, count in found.items() if count and rule not in SIZES]

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers of the report."""
        counts = self.judged.counts
        middle, low, high = self.ndcg
        return {
            "queries": len(counts.queries),
            "documents": len(counts.documents),
            "pages": int(counts.pages.sum()),
            "clicks": int(self.judged.clicks.sum()),
            "coverage": self.coverage,
            "confidence": self.confidence,
            "ndcg": {"shown": middle, "low": low, "high": high},
            "by": "clicks" if self.judged.values is None else "value",
            "weights": dict(self.weights),
            "similarity_of_documents": self.judged.shape,
            "similarity_of_queries": self.judged.query_shape,
            "similarity_of_slots": self.judged.slot_shape,
            "slot_curve": self.judged.slot_curve.tolist(),
            "underplaced": len(self.underplaced()),
            "cleaning": {rule: count for rule, count in counts.cleaning.items() if count},
        }

    @cached_property
    def _draws(self) -> FloatArray:
        return self.judged.ndcg_draws()

    @property
    def _tails(self) -> list[float]:
        return [0.5 - LEVEL / 2.0, 0.5 + LEVEL / 2.0]


def write_judgement_report(summary: JudgementSummary, folder: Path, source: str = "a click log") -> Path:
    """Write `judgements.html`, `queries.csv` and `underplaced.csv` into a folder, and return the path of the page.

    Parameters
    ----------
    summary
        What the judgements say.
    folder
        The folder to write into.
    source
        The name of the log in the title.
    """
    if folder.exists() and not folder.is_dir():
        raise UnwritableFile(f"the report is a folder, and {folder} is a file")
    folder.mkdir(parents=True, exist_ok=True)
    heads = ("query", "pages", "clicks", "ndcg", "ndcg_low", "ndcg_high", "known")
    write_csv(folder / "queries.csv", heads, summary.queries())
    underplaced = summary.underplaced()
    write_csv(folder / "underplaced.csv", ("query", "docid", "mean_slot", "clicks_over_expected", "pages"), underplaced)
    write_page(
        folder / "judgements.html",
        "judgements/judgement_report.html",
        title=f"Judgements from {source}",
        summary=summary,
        numbers=summary.to_dict(),
        ndcg=summary.ndcg,
        underplaced=[_document(row) for row in underplaced[:MAX_ROWS]],
        underplaced_count=len(underplaced),
        queries=[_query(row) for row in summary.queries()[:MAX_ROWS]],
        needing=[_query(row) for row in summary.needing_data()[:MAX_ROWS]],
        marks=[_mark(row) for row in summary.queries()[:MAX_ROWS]],
        needing_marks=[_mark(row) for row in summary.needing_data()[:MAX_ROWS]],
        curve=[(str(slot), f"{rate:.4f}") for slot, rate in enumerate(summary.judged.slot_curve.tolist(), start=1)],
        max_grade=summary.judged.max_grade,
        features=bool((summary.judged.predicted != 1.0).any()),
    )
    return folder / "judgements.html"


def _document(row: Sequence[Any]) -> tuple[str, ...]:
    query, document, slot, ratio, pages = row
    return query, document, f"{slot:.1f}", f"{ratio:.2f}", f"{pages:,}"


def _query(row: Sequence[Any]) -> tuple[str, ...]:
    query, pages, clicks, ndcg, low, high, known = row
    return query, f"{pages:,}", f"{clicks:,}", f"{ndcg:.3f}", f"{low:.3f} to {high:.3f}", f"{known:.0%}"


def _mark(row: Sequence[Any]) -> tuple[float, float, float]:
    low, middle, high = (round(100.0 * row[place], 1) for place in (4, 3, 5))
    return low, middle, high
