"""The tables, as a list of migrations: a store at version n has had the first n of them.

Written so that SQLite and PostgreSQL both take them; `WITHOUT ROWID` is left out where it is not known.
"""

from __future__ import annotations

from typing import Final

_FIRST = """
CREATE TABLE placements (
    name TEXT PRIMARY KEY,
    version BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    epoch BIGINT NOT NULL,
    held TEXT
) WITHOUT ROWID;

CREATE TABLE definitions (
    placement TEXT PRIMARY KEY,
    definition TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE decisions (
    id TEXT PRIMARY KEY,
    placement TEXT NOT NULL,
    items TEXT NOT NULL,
    arm TEXT NOT NULL,
    issued DOUBLE PRECISION NOT NULL,
    deadline DOUBLE PRECISION NOT NULL,
    epoch BIGINT,
    outcome TEXT,
    clicked TEXT,
    late SMALLINT NOT NULL DEFAULT 0,
    final SMALLINT NOT NULL DEFAULT 0
) WITHOUT ROWID;

CREATE INDEX pending ON decisions (deadline) WHERE final = 0;

CREATE TABLE tally (
    placement TEXT NOT NULL,
    slot BIGINT NOT NULL,
    item TEXT NOT NULL,
    clicks BIGINT NOT NULL,
    passes BIGINT NOT NULL,
    shows BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    PRIMARY KEY (placement, slot, item)
) WITHOUT ROWID;

CREATE INDEX changed ON tally (placement, revision);

CREATE TABLE counters (
    placement TEXT NOT NULL,
    arm TEXT NOT NULL,
    issued BIGINT NOT NULL,
    clicked BIGINT NOT NULL,
    no_click BIGINT NOT NULL,
    silent BIGINT NOT NULL,
    not_shown BIGINT NOT NULL,
    late BIGINT NOT NULL,
    duplicates BIGINT NOT NULL,
    conflicts BIGINT NOT NULL,
    PRIMARY KEY (placement, arm)
) WITHOUT ROWID
"""

# `gone` remembers where the versions of a placement that was deleted ended: one of the same name goes on from there, so
# that neither an ETag nor a worker's memory takes the one for the other. `keys` and `visitors` are written only for
# decisions that ask for it.
_SECOND = """
CREATE TABLE changes (
    placement TEXT NOT NULL,
    version BIGINT NOT NULL,
    time DOUBLE PRECISION NOT NULL,
    what TEXT NOT NULL,
    PRIMARY KEY (placement, version)
) WITHOUT ROWID;

CREATE TABLE gone (
    name TEXT PRIMARY KEY,
    version BIGINT NOT NULL
) WITHOUT ROWID;

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
    PRIMARY KEY (placement, visitor)
) WITHOUT ROWID;

CREATE INDEX visitors_by_end ON visitors (until)
"""

#: for whom and when: what was counted so far is of nobody in particular, and of the time before this hour
_BY_SEGMENT_AND_PERIOD = """
ALTER TABLE decisions ADD COLUMN segment TEXT NOT NULL DEFAULT '';
ALTER TABLE decisions ADD COLUMN clicked_then TEXT;
ALTER TABLE decisions ADD COLUMN value DOUBLE PRECISION;
ALTER TABLE decisions ADD COLUMN reported DOUBLE PRECISION;
ALTER TABLE decisions ADD COLUMN waits DOUBLE PRECISION;

CREATE INDEX reported ON decisions (placement, deadline) WHERE final = 0 AND outcome IS NOT NULL;

CREATE TABLE tally_by_segment (
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

INSERT INTO tally_by_segment
    SELECT placement, '', slot, item, clicks, passes, shows, 0, 0, 0, revision FROM tally;
INSERT INTO period_tally
    SELECT placement, THIS_HOUR, 0, '', '', slot, item, clicks, passes, shows, revision FROM tally;
DROP TABLE tally;
ALTER TABLE tally_by_segment RENAME TO tally;
CREATE INDEX changed ON tally (placement, revision);
CREATE INDEX period_changed ON period_tally (placement, revision);

CREATE TABLE counters_by_segment (
    placement TEXT NOT NULL,
    segment TEXT NOT NULL,
    arm TEXT NOT NULL,
    issued BIGINT NOT NULL,
    clicked BIGINT NOT NULL,
    no_click BIGINT NOT NULL,
    silent BIGINT NOT NULL,
    not_shown BIGINT NOT NULL,
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
    late BIGINT NOT NULL,
    duplicates BIGINT NOT NULL,
    conflicts BIGINT NOT NULL,
    several BIGINT NOT NULL,
    value DOUBLE PRECISION NOT NULL,
    squares DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (placement, start, hours, segment, arm)
) WITHOUT ROWID;

INSERT INTO counters_by_segment
    SELECT placement, '', arm, issued, clicked, no_click, silent, not_shown, late, duplicates, conflicts, 0, 0, 0
    FROM counters;
INSERT INTO period_counters
    SELECT placement, THIS_HOUR, 0, '', arm, issued, clicked, no_click, silent, not_shown, late, duplicates,
        conflicts, 0, 0, 0
    FROM counters;
DROP TABLE counters;
ALTER TABLE counters_by_segment RENAME TO counters;

CREATE TABLE delays (
    placement TEXT NOT NULL,
    at_most DOUBLE PRECISION NOT NULL,
    number BIGINT NOT NULL,
    clicks BIGINT NOT NULL,
    PRIMARY KEY (placement, at_most, number)
) WITHOUT ROWID;

CREATE TABLE period_ends (
    placement TEXT NOT NULL,
    start BIGINT NOT NULL,
    believed TEXT NOT NULL,
    PRIMARY KEY (placement, start)
) WITHOUT ROWID
"""

#: per slot, how likely it was that its item would be there; filled in after the decision was answered
_PROPENSITIES = "ALTER TABLE decisions ADD COLUMN propensities TEXT"

#: the decision that a visitor's list was drawn for, which has the propensities of all that show it again; '' where that
#: was before anybody noted it
_LISTS_SHOWN_AGAIN = """
ALTER TABLE visitors ADD COLUMN decision TEXT NOT NULL DEFAULT '';
ALTER TABLE decisions ADD COLUMN list_of TEXT
"""

MIGRATIONS: Final[tuple[str, ...]] = (_FIRST, _SECOND, _BY_SEGMENT_AND_PERIOD, _PROPENSITIES, _LISTS_SHOWN_AGAIN)
#: stands in a migration for the hour in which it is made
THIS_HOUR: Final = "THIS_HOUR"


def statements(migration: str) -> list[str]:
    """One by one."""
    return [statement.strip() for statement in migration.split(";")]
