"""The tables of a store.

Written so that SQLite and PostgreSQL both take them; PostgreSQL does not know `WITHOUT ROWID`, which is left out there.
"""

from __future__ import annotations

from typing import Final

#: A store with another version is refused. It changes with every change of `SCHEMA`.
SCHEMA_VERSION: Final = 12

SCHEMA: Final = """
CREATE TABLE placements (
    name TEXT PRIMARY KEY,
    version BIGINT NOT NULL,
    revision BIGINT NOT NULL
) WITHOUT ROWID;

-- The last version of a deleted placement: a new one of the same name continues from there, so that neither an ETag
-- nor a worker's memory confuses the two.
CREATE TABLE gone (
    name TEXT PRIMARY KEY,
    version BIGINT NOT NULL
) WITHOUT ROWID;

CREATE TABLE definitions (
    placement TEXT PRIMARY KEY,
    definition TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE changes (
    placement TEXT NOT NULL,
    version BIGINT NOT NULL,
    time DOUBLE PRECISION NOT NULL,
    what TEXT NOT NULL,
    PRIMARY KEY (placement, version)
) WITHOUT ROWID;

-- `propensities`, one per slot, are filled in after the decision was answered.
-- `capped` decisions are beyond their visitor's hourly cap, and not counted in the tally.
-- `reward` is what events are worth (JSON), `events` are those after the outcome, accepted before `events_until`.
-- `candidates` are the items in the list that only its candidates named, with their features (JSON).
-- `list_of` is the decision whose list a returning visitor sees again; that decision has the propensities.
CREATE TABLE decisions (
    id TEXT PRIMARY KEY,
    placement TEXT NOT NULL,
    items TEXT NOT NULL,
    arm TEXT NOT NULL,
    issued DOUBLE PRECISION NOT NULL,
    deadline DOUBLE PRECISION NOT NULL,
    segment TEXT NOT NULL,
    waits DOUBLE PRECISION,
    propensities TEXT,
    list_of TEXT,
    outcome TEXT,
    clicked TEXT,
    clicked_then TEXT,
    value DOUBLE PRECISION,
    outcome_events TEXT,
    reported DOUBLE PRECISION,
    reward TEXT,
    events_until DOUBLE PRECISION,
    events TEXT,
    candidates TEXT,
    capped SMALLINT NOT NULL,
    late SMALLINT NOT NULL DEFAULT 0,
    final SMALLINT NOT NULL DEFAULT 0
) WITHOUT ROWID;

CREATE INDEX pending ON decisions (deadline) WHERE final = 0;
CREATE INDEX reported ON decisions (placement, deadline) WHERE final = 0 AND outcome IS NOT NULL;

-- Idempotency keys, and the lists of returning visitors: written only for decisions that ask for them.
CREATE TABLE keys (
    placement TEXT NOT NULL,
    key TEXT NOT NULL,
    decision TEXT NOT NULL,
    request TEXT NOT NULL,
    issued DOUBLE PRECISION NOT NULL,
    deadline DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (placement, key)
) WITHOUT ROWID;

CREATE INDEX keys_by_deadline ON keys (deadline);

CREATE TABLE visitors (
    placement TEXT NOT NULL,
    visitor TEXT NOT NULL,
    terms TEXT NOT NULL,
    items TEXT NOT NULL,
    arm TEXT NOT NULL,
    until DOUBLE PRECISION NOT NULL,
    decision TEXT NOT NULL,
    PRIMARY KEY (placement, visitor)
) WITHOUT ROWID;

CREATE INDEX visitors_by_end ON visitors (until);

-- The decisions of an hour by visitor, for placements with a cap.
CREATE TABLE visitor_hours (
    placement TEXT NOT NULL,
    visitor TEXT NOT NULL,
    start BIGINT NOT NULL,
    decisions BIGINT NOT NULL,
    PRIMARY KEY (placement, visitor, start)
) WITHOUT ROWID;

CREATE INDEX visitor_hours_by_start ON visitor_hours (start);

CREATE TABLE tally (
    placement TEXT NOT NULL,
    segment TEXT NOT NULL,
    slot BIGINT NOT NULL,
    item TEXT NOT NULL,
    clicks BIGINT NOT NULL,
    passes BIGINT NOT NULL,
    shows BIGINT NOT NULL,
    valued BIGINT NOT NULL,
    value DOUBLE PRECISION NOT NULL,
    squares DOUBLE PRECISION NOT NULL,
    revision BIGINT NOT NULL,
    PRIMARY KEY (placement, segment, slot, item)
) WITHOUT ROWID;

CREATE INDEX changed ON tally (placement, revision);
CREATE INDEX tally_by_item ON tally (placement, item);

-- Items that only candidates of decisions name: `since` is the revision with which one was learned, `revision` the last
-- one with other features.
CREATE TABLE candidate_items (
    placement TEXT NOT NULL,
    item TEXT NOT NULL,
    features TEXT NOT NULL,
    seen BIGINT NOT NULL,
    since BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    PRIMARY KEY (placement, item)
) WITHOUT ROWID;

CREATE INDEX candidates_by_seen ON candidate_items (placement, seen, item);
CREATE INDEX candidates_changed ON candidate_items (placement, revision);

CREATE TABLE candidate_totals (
    placement TEXT PRIMARY KEY,
    learned BIGINT NOT NULL,
    dropped BIGINT NOT NULL,
    dropped_seen BIGINT NOT NULL
) WITHOUT ROWID;

CREATE TABLE period_tally (
    placement TEXT NOT NULL,
    start BIGINT NOT NULL,
    hours BIGINT NOT NULL,
    segment TEXT NOT NULL,
    arm TEXT NOT NULL,
    slot BIGINT NOT NULL,
    item TEXT NOT NULL,
    clicks BIGINT NOT NULL,
    passes BIGINT NOT NULL,
    shows BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    PRIMARY KEY (placement, start, hours, segment, arm, slot, item)
) WITHOUT ROWID;

CREATE INDEX period_changed ON period_tally (placement, revision);

CREATE TABLE counters (
    placement TEXT NOT NULL,
    segment TEXT NOT NULL,
    arm TEXT NOT NULL,
    issued BIGINT NOT NULL,
    clicked BIGINT NOT NULL,
    no_click BIGINT NOT NULL,
    silent BIGINT NOT NULL,
    not_shown BIGINT NOT NULL,
    capped BIGINT NOT NULL,
    late BIGINT NOT NULL,
    duplicates BIGINT NOT NULL,
    conflicts BIGINT NOT NULL,
    several BIGINT NOT NULL,
    value DOUBLE PRECISION NOT NULL,
    squares DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (placement, segment, arm)
) WITHOUT ROWID;

CREATE TABLE period_counters (
    placement TEXT NOT NULL,
    start BIGINT NOT NULL,
    hours BIGINT NOT NULL,
    segment TEXT NOT NULL,
    arm TEXT NOT NULL,
    issued BIGINT NOT NULL,
    clicked BIGINT NOT NULL,
    no_click BIGINT NOT NULL,
    silent BIGINT NOT NULL,
    not_shown BIGINT NOT NULL,
    capped BIGINT NOT NULL,
    late BIGINT NOT NULL,
    duplicates BIGINT NOT NULL,
    conflicts BIGINT NOT NULL,
    several BIGINT NOT NULL,
    value DOUBLE PRECISION NOT NULL,
    squares DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (placement, start, hours, segment, arm)
) WITHOUT ROWID;

-- Final decisions with an event of that name.
CREATE TABLE event_counts (
    placement TEXT NOT NULL,
    start BIGINT NOT NULL,
    hours BIGINT NOT NULL,
    arm TEXT NOT NULL,
    event TEXT NOT NULL,
    decisions BIGINT NOT NULL,
    PRIMARY KEY (placement, start, hours, arm, event)
) WITHOUT ROWID;

-- The last state of each topic; `next_try` is null if no message is to be sent.
CREATE TABLE alerts (
    placement TEXT NOT NULL,
    topic TEXT NOT NULL,
    state TEXT NOT NULL,
    message TEXT,
    since DOUBLE PRECISION NOT NULL,
    attempts BIGINT NOT NULL,
    next_try DOUBLE PRECISION,
    PRIMARY KEY (placement, topic)
) WITHOUT ROWID;

CREATE INDEX alerts_due ON alerts (next_try) WHERE next_try IS NOT NULL;

CREATE TABLE delays (
    placement TEXT NOT NULL,
    at_most DOUBLE PRECISION NOT NULL,
    number BIGINT NOT NULL,
    clicks BIGINT NOT NULL,
    PRIMARY KEY (placement, at_most, number)
) WITHOUT ROWID;

CREATE TABLE hourly_summaries (
    placement TEXT NOT NULL,
    start BIGINT NOT NULL,
    summary TEXT NOT NULL,
    PRIMARY KEY (placement, start)
) WITHOUT ROWID
"""


def statements() -> list[str]:
    """The statements of `SCHEMA`, one by one."""
    lines = [line for line in SCHEMA.splitlines() if not line.startswith("--")]
    return [statement.strip() for statement in "\n".join(lines).split(";")]
