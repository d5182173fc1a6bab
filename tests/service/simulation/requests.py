"""Requests of clients, and what became of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from slotwise.service.storage.decision_types import Event, Outcome


@dataclass(frozen=True)
class Request:
    """What a client asks for: decisions, that outcomes or events be recorded, or that a definition be changed."""

    placement: str = ""
    count: int = 1
    is_batch: bool = False
    device: str | None = None
    visitor: str | None = None
    exclude: tuple[str, ...] = ()
    candidates: tuple[str, ...] | None = None
    key: str | None = None
    outcomes: tuple[tuple[str, Outcome], ...] = ()
    #: a decision, and events that come later
    later: tuple[str, tuple[Event, ...]] | None = None
    #: whether a browser reports it, with the decision's token
    by_token: bool = False
    #: fields of the placement and their new values
    change: tuple[tuple[str, Any], ...] = ()

    @property
    def segment(self) -> str:
        return f'{{"device":"{self.device}"}}' if self.device in ("mobile", "desktop") else ""

    def decision_keys(self) -> list[str]:
        """The key of each decision: those of a batch are its own."""
        return (
            [f"{self.key} {self.count} {number}" for number in range(self.count)] if self.is_batch else [f"{self.key}"]
        )

    def same_as(self, other: Request) -> bool:
        """Whether the same decision is asked for."""
        return self._wanted() == other._wanted()

    def _wanted(self) -> tuple[Any, ...]:
        return (
            self.placement,
            self.device,
            self.visitor,
            self.exclude,
            self.candidates,
            self.count,
            self.is_batch,
        )


@dataclass(eq=False)
class Delivery:
    """One arrival of a request at a worker; a network may deliver a request twice."""

    request: Request
    #: commits before it arrived
    commits: int
    #: of the decisions that were drawn for it
    ids: list[str] = field(default_factory=list)
    #: the worker's clock when it arrived
    now: float | None = None
    #: results, or an exception; None while it is served, and for ever if the worker is killed
    answer: list[Any] | Exception | None = None
    #: called with the answer
    then: Callable[[Any], None] = lambda _: None

    @property
    def is_keyless(self) -> bool:
        return self.request.key is None

    @property
    def is_doubtful(self) -> bool:
        """Whether the worker does not know if it was written."""
        return type(self.answer).__name__ == "CommitInDoubt"

    @property
    def is_refused(self) -> bool:
        """Whether nothing of it may be written."""
        return isinstance(self.answer, Exception) and not self.is_doubtful
