"""Alerts: the last known state of each topic of a placement, and whether a message about it is to be sent."""

from __future__ import annotations

from typing import Final, NamedTuple

from slotwise.service.storage.sql_base import Database

#: seconds from the first attempt to the second; it doubles with each attempt
FIRST_PAUSE: Final = 5.0
#: seconds after which a message is given up
GIVE_UP: Final = 3600.0

_NOTE = (
    "INSERT INTO alerts (placement, topic, state, message, since, attempts, next_try) VALUES (?, ?, ?, ?, ?, 0, ?) "
    "ON CONFLICT (placement, topic) DO UPDATE SET state = excluded.state, message = excluded.message, "
    "since = excluded.since, attempts = 0, next_try = excluded.next_try WHERE alerts.state <> excluded.state"
)
_CLAIM = (
    "UPDATE alerts SET attempts = attempts + 1, next_try = CASE WHEN since + ? < ? THEN NULL "
    "ELSE ? + ? * (1 << CAST(attempts AS INTEGER)) END WHERE (placement, topic) IN "
    "(SELECT placement, topic FROM alerts WHERE next_try <= ? ORDER BY next_try LIMIT ?{skip_locked}) "
    "RETURNING placement, topic, state, message"
)


class PendingAlert(NamedTuple):
    """A message to be sent."""

    placement: str
    topic: str
    state: str
    message: str


class AlertTable(Database):
    """The part of a store that holds alerts: one row for each topic, so a newer message replaces an older one."""

    def note_state(self, placement: str, topic: str, state: str, message: str | None, now: float) -> None:
        """Store the state of a topic; if it is new, its message is sent, unless there is none."""
        with self.transaction():
            # nothing is left of a placement that was deleted
            if not self.all(f"SELECT 1 FROM placements WHERE name = ?{self.for_existence}", (placement,)):
                return
            self.all(_NOTE, (placement, topic, state, message, now, None if message is None else now))

    def claim_alerts(self, now: float, at_most: int) -> list[PendingAlert]:
        """The messages that are due; no other worker sends them until their next attempt is due."""
        with self.transaction():
            rows = self.all(_CLAIM.format(skip_locked=self.skip_locked), (GIVE_UP, now, now, FIRST_PAUSE, now, at_most))
        return [PendingAlert(*row) for row in rows]

    def finish_alert(self, alert: PendingAlert) -> None:
        """Store that a message was sent, unless a newer one has replaced it."""
        with self.transaction():
            self.all(
                "UPDATE alerts SET next_try = NULL WHERE placement = ? AND topic = ? AND state = ?",
                (alert.placement, alert.topic, alert.state),
            )
