"""What must hold of definitions, guardrails and messages: written from `guardrails.md` and `alerts.md`."""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.service.simulation.model_types import Row, must

#: how far a worker may be behind the store, in seconds
BEHIND = 1.0
#: after which a message is given up
HOUR = 3600.0


class Definition(NamedTuple):
    """A version of a placement's definition."""

    version: int
    #: virtual time of its commit
    since: float
    mode: str
    reward: dict[str, float | None] | None
    #: the cause in the list of changes, of a change that the service made
    reason: str | None


class Message(NamedTuple):
    """The last state of a guardrail."""

    state: str
    body: str | None
    since: float
    is_due: bool


class Definitions:
    """The versions of every placement, and what was reported of its guardrails."""

    def __init__(self) -> None:
        self.of: dict[str, list[Definition]] = {}
        #: fields and values that somebody asked for, by placement
        self._wanted: list[tuple[str, dict[str, Any]]] = []
        #: whether the guardrail is broken, and whether it was since the placement was put back
        self.is_broken, self.was_broken = False, False
        self.messages: dict[tuple[str, str], Message] = {}
        #: whether a message says so, since then
        self._is_reported = False
        self._noted: set[str] = set()
        #: how often each message was received
        self.received: dict[str, int] = {}

    def asked(self, placement: str, change: tuple[tuple[str, Any], ...]) -> None:
        self._wanted.append((placement, dict(change)))

    def committed(self, name: str, version: int, definition: dict[str, Any], what: dict[str, Any], now: float) -> None:
        """A definition is in the store, with its entry in the list of changes."""
        earlier = self.of.setdefault(name, [])
        must(version == len(earlier) + 1, "a version was left out", name, version)
        reward, mode = definition.get("reward"), definition.get("mode", "live")
        worth = reward and {event: None if worth == "value" else float(worth) for event, worth in reward.items()}
        after = Definition(version, now, mode, worth, what.get("reason"))
        if earlier:
            self._changed(name, earlier[-1], after)
        earlier.append(after)

    def _changed(self, name: str, before: Definition, after: Definition) -> None:
        if after.reason is not None:
            must(self.was_broken, "held without a broken guardrail", after)
            must(self._is_reported, "held before its message", after)
            must((before.mode, after.mode) == ("live", "held"), "the service made another change", before, after)
            must(before.reward == after.reward, "an owner's change was undone", before, after)
            return
        wanted = [fields for placement, fields in self._wanted if placement == name]
        put_back = any(fields.get("mode") == after.mode for fields in wanted)
        must(before.mode == after.mode or put_back, "a mode that nobody asked for", before, after)
        if before.mode != after.mode:
            self.was_broken, self._is_reported = self.is_broken, False
        weighed = any(fields.get("reward", {}).get("cart") == (after.reward or {}).get("cart") for fields in wanted)
        must(before.reward == after.reward or weighed, "a reward that nobody asked for", before, after)

    def rewards(self, name: str) -> list[dict[str, float | None] | None]:
        return [definition.reward for definition in self.of[name]]

    def drawn(self, row: Row, at: float, *, is_prompt: bool) -> None:
        """A list is of a mode that there was; of the current one, if workers follow the store without delay."""
        possible = [
            definition.mode
            for definition, until in zip(
                self.of[row.placement],
                [each.since for each in self.of[row.placement][1:]] + [float("inf")],
                strict=True,
            )
            if definition.since <= at and (not is_prompt or until + BEHIND > at)
        ]
        must(("held" in possible) if row.arm == "shadow" else ("live" in possible), "the arm of another mode", row)

    # messages

    def noted(self, messages: dict[tuple[str, str], Message]) -> None:
        """The states in the store after a commit."""
        for key, message in messages.items():
            before = self.messages.get(key)
            if message.body is not None and message.body not in self._noted:
                self._noted.add(message.body)
                must(before is None or before.state != message.state, "a state was reported twice", before, message)
                must(self.was_broken, "broken without a reason", message)
                self._is_reported = True
        self.messages = messages

    def posted(self, body: str) -> None:
        """A receiver got a message."""
        must(body in self._noted, "a message before its commit", body)
        self.received[body] = self.received.get(body, 0) + 1
