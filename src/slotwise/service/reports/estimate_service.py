"""Estimates and overviews of placements: of large ones from a process of their own, of others from this one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from pydantic import TypeAdapter

from slotwise.service.placements.placement_registry import Placements
from slotwise.service.placements.placement_state import Placement
from slotwise.service.reports.history import summary_of
from slotwise.service.reports.overview import OverviewRequest, Overviews
from slotwise.service.reports.placement_estimates import KnownEstimates, PlacementEstimates
from slotwise.service.reports.uplift import ALWAYS, Span
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.schemas.overview_schemas import ItemsPage, OverviewDocument
from slotwise.service.schemas.report_schemas import EstimatesDocument

#: a placement with as many items, or items times slots, is large: below, starting a process takes longer than estimates
LARGE_ITEMS, LARGE_PAIRS = 10_000, 50_000

DOCUMENT: Final = TypeAdapter[EstimatesDocument](EstimatesDocument)


def is_large(definition: PlacementDefinition) -> bool:
    """Whether the estimates of a placement take longer than starting a process."""
    items = len(definition.items)
    return items >= LARGE_ITEMS or items * definition.slots >= LARGE_PAIRS


class Estimator(Protocol):
    """Answers questions about a placement from the store as it is now."""

    async def estimates_json(self, name: str, segment: Sequence[str], span: Span) -> bytes:
        """The estimates as JSON."""

    async def overview(self, question: OverviewRequest, now: float, staleness: float) -> OverviewDocument:
        """The owner's overview."""

    async def items(self, name: str, search: str, offset: int, limit: int) -> ItemsPage:
        """A page of the items whose names contain the search text, the most relevant first."""

    async def summary(self, name: str) -> str:
        """The summary of the estimates that is kept at the end of an hour."""


class LocalEstimator:
    """Estimates in this process."""

    def __init__(self, placements: Placements, known: KnownEstimates | None = None) -> None:
        self._estimates = PlacementEstimates(placements, known)
        self._overviews = Overviews(placements, self._estimates)

    async def estimates(self, name: str, segment: Sequence[str] = (), span: Span = ALWAYS) -> EstimatesDocument:
        """The estimates as a document."""
        return await self._estimates.document(name, segment, span)

    async def estimates_json(self, name: str, segment: Sequence[str], span: Span) -> bytes:
        """The estimates as JSON."""
        return DOCUMENT.dump_json(await self.estimates(name, segment, span))

    async def overview(self, question: OverviewRequest, now: float, staleness: float) -> OverviewDocument:
        """The owner's overview."""
        return await self._overviews.document(question, now, staleness)

    async def items(self, name: str, search: str, offset: int, limit: int) -> ItemsPage:
        """A page of the items whose names contain the search text, the most relevant first."""
        return await self._overviews.items(name, search, offset, limit)

    async def summary(self, name: str) -> str:
        """The summary of the estimates that is kept at the end of an hour."""
        return summary_of(await self.estimates(name))


class EstimateService:
    """The estimator of each placement."""

    def __init__(self, local: LocalEstimator, remote: Estimator) -> None:
        self.local, self._remote = local, remote

    def of(self, placement: Placement) -> Estimator:
        """The estimator that answers for a placement of this size."""
        return self._remote if is_large(placement.definition) else self.local
