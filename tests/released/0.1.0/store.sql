PRAGMA application_id = 1936486260;
PRAGMA user_version = 0;
BEGIN TRANSACTION;
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
CREATE TABLE candidate_items (
    placement TEXT NOT NULL,
    item TEXT NOT NULL,
    features TEXT NOT NULL,
    seen BIGINT NOT NULL,
    since BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    PRIMARY KEY (placement, item)
) WITHOUT ROWID;
CREATE TABLE candidate_totals (
    placement TEXT PRIMARY KEY,
    learned BIGINT NOT NULL,
    dropped BIGINT NOT NULL,
    dropped_seen BIGINT NOT NULL
) WITHOUT ROWID;
CREATE TABLE changes (
    placement TEXT NOT NULL,
    version BIGINT NOT NULL,
    time DOUBLE PRECISION NOT NULL,
    what TEXT NOT NULL,
    PRIMARY KEY (placement, version)
) WITHOUT ROWID;
INSERT INTO "changes" VALUES('home',1,1800000000.0,'{"fields": {}, "added": {"count": 4, "items": ["tea", "coffee", "juice", "milk"]}, "retired": {"count": 0, "items": []}, "changed": {"count": 0, "items": []}, "reordered": false}');
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
INSERT INTO "counters" VALUES('home','','learned',1,0,0,0,0,0,0,0,0,0,0.0,0.0);
INSERT INTO "counters" VALUES('home','{"device":"desk"}','holdout',3,1,2,1,0,0,0,0,0,0,0.0,0.0);
INSERT INTO "counters" VALUES('home','{"device":"desk"}','learned',16,2,11,6,3,0,0,0,0,0,0.0,0.0);
INSERT INTO "counters" VALUES('home','{"device":"phone"}','holdout',5,1,2,1,2,0,0,0,0,0,0.0,0.0);
INSERT INTO "counters" VALUES('home','{"device":"phone"}','learned',16,6,5,2,5,0,0,0,0,0,0.0,0.0);
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
INSERT INTO "decisions" VALUES('01a3185c50000a6c36bdce3efa59db3e','home','["tea","coffee"]','learned',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c500014109f92b895525538e2','home','["tea","coffee"]','holdout',1800000000.0,1800000060.0,'{"device":"desk"}',NULL,NULL,NULL,'no_click',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c500014fc5c019246c3a72e3b','home','["juice","tea"]','learned',1800000000.0,1800000060.0,'{"device":"desk"}',NULL,NULL,NULL,'no_click',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c50001cdf1fb2bdc6ecb4c9c2','home','["tea","coffee"]','holdout',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,'not_shown',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c50002b08aee0f3c7455624e9','home','["coffee","milk"]','learned',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,'not_shown',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000369704b382a00a813c6c','home','["coffee","milk"]','learned',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c50003931a3b9a2c9c7abd94d','home','["juice","coffee"]','learned',1800000000.0,1800000060.0,'{"device":"desk"}',NULL,NULL,NULL,'no_click',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c50003d542a19c7021d4065cd','home','["juice","milk"]','learned',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,'clicked','juice',NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000476acf1335b194924398','home','["tea","coffee"]','learned',1800000000.0,1800000060.0,'{"device":"desk"}',NULL,NULL,NULL,'no_click',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c50004c93d3643b30929b93e1','home','["juice","milk"]','learned',1800000000.0,1800000060.0,'{"device":"desk"}',NULL,NULL,NULL,'no_click',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c500059568e513d4ee6b5c288','home','["tea","coffee"]','learned',1800000000.0,1800000060.0,'{"device":"desk"}',NULL,NULL,NULL,'clicked','coffee',NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c50005d441b9cc66944d7a6f0','home','["juice","coffee"]','learned',1800000000.0,1800000060.0,'{"device":"desk"}',NULL,NULL,NULL,'clicked','coffee',NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000624dc4518fc5b1f34382','home','["tea","coffee"]','holdout',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c50006971f7bcb4f5c0faa03c','home','["juice","coffee"]','learned',1800000000.0,1800000060.0,'{"device":"desk"}',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c50006ac37cd179669c55ea2a','home','["coffee","juice"]','learned',1800000000.0,1800000060.0,'{"device":"desk"}',NULL,NULL,NULL,'not_shown',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000708a043321d1ee15d041','home','["juice","coffee"]','learned',1800000000.0,1800000060.0,'{"device":"desk"}',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c500070e27ca74f04735b5440','home','["tea","coffee"]','learned',1800000000.0,1800000060.0,'{"device":"desk"}',NULL,NULL,NULL,'not_shown',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000721f397d624a3e2352d5','home','["juice","coffee"]','learned',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,'clicked','coffee',NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c500079761148d70002494f8f','home','["milk","coffee"]','learned',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,'no_click',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c50007ad4a73c259c91810121','home','["coffee","juice"]','learned',1800000000.0,1800000060.0,'{"device":"desk"}',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c50007b3c6ef3ed743c7629d7','home','["juice","milk"]','learned',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,'clicked','milk',NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c50007c0a1b5d1a1cdc67d6fb','home','["tea","coffee"]','learned',1800000000.0,1800000060.0,'{"device":"desk"}',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c500087a18b7af39814b24403','home','["milk","coffee"]','learned',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,'clicked','coffee',NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c500090cf6e4b826c00d44beb','home','["coffee","juice"]','learned',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,'clicked','coffee',NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c50009281b595b73f54586dbd','home','["coffee","juice"]','learned',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,'not_shown',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c50009b5b212cc82c4ace500d','home','["juice","coffee"]','learned',1800000000.0,1800000060.0,'{"device":"desk"}',NULL,NULL,NULL,'not_shown',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c50009e7c45d9b587e44fc8d3','home','["coffee","juice"]','learned',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,'clicked','coffee',NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000a9b971d0be5e3da8f618','home','["tea","coffee"]','holdout',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,'clicked','tea',NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000ad815a72291d3e370162','home','["coffee","juice"]','learned',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,'no_click',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000b35685277edbeb4b0921','home','["coffee","juice"]','learned',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,'not_shown',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000b4d2e8969b2430ad15b1','home','["tea","coffee"]','holdout',1800000000.0,1800000060.0,'{"device":"desk"}',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000b71643d349414695a3a9','home','["tea","coffee"]','holdout',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,'no_click',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000bf2de4f160ee5761fcfa','home','["milk","tea"]','learned',1800000000.0,1800000060.0,'{"device":"desk"}',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000c0a39c0d801f1784bb52','home','["coffee","tea"]','learned',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,'no_click',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000cd4a6169ca0420ed65e1','home','["coffee","milk"]','learned',1800000000.0,1800000060.0,'{"device":"desk"}',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000e45490afdf9e042a04c4','home','["juice","coffee"]','learned',1800000000.0,1800000060.0,'{"device":"desk"}',NULL,NULL,NULL,'no_click',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000e65f126f23968ffb0618','home','["milk","coffee"]','learned',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,'not_shown',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000e6fdb6b84732dd0ca8cd','home','["tea","coffee"]','holdout',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,'not_shown',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000faa286debf50ab076d24','home','["coffee","tea"]','learned',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,'not_shown',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000fcc7271c9e54b4a12254','home','["tea","coffee"]','holdout',1800000000.0,1800000060.0,'{"device":"desk"}',NULL,NULL,NULL,'clicked','tea',NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185d3e4833011910da974a0a645a','home','["coffee","tea"]','learned',1800000061.0,1800000121.0,'',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,0);
CREATE TABLE definitions (
    placement TEXT PRIMARY KEY,
    definition TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO "definitions" VALUES('home','{"alert_url":null,"exploring":true,"guardrails":[],"half_life":null,"holdout":0.2,"items":["tea",{"id":"coffee","value":2.5},"juice","milk"],"max_items":null,"mode":"live","new_items_at_most":null,"per_network_hour":null,"per_visitor_hour":null,"pin":{},"policy":null,"position_bias":null,"reward":null,"reward_days":0.0,"segments":{"device":["phone","desk"]},"slots":2,"sticky_seconds":null,"values":null,"window_seconds":60.0}');
CREATE TABLE delays (
    placement TEXT NOT NULL,
    at_most DOUBLE PRECISION NOT NULL,
    number BIGINT NOT NULL,
    clicks BIGINT NOT NULL,
    PRIMARY KEY (placement, at_most, number)
) WITHOUT ROWID;
CREATE TABLE event_counts (
    placement TEXT NOT NULL,
    start BIGINT NOT NULL,
    hours BIGINT NOT NULL,
    arm TEXT NOT NULL,
    event TEXT NOT NULL,
    decisions BIGINT NOT NULL,
    PRIMARY KEY (placement, start, hours, arm, event)
) WITHOUT ROWID;
CREATE TABLE gone (
    name TEXT PRIMARY KEY,
    version BIGINT NOT NULL
) WITHOUT ROWID;
CREATE TABLE hourly_summaries (
    placement TEXT NOT NULL,
    start BIGINT NOT NULL,
    summary TEXT NOT NULL,
    PRIMARY KEY (placement, start)
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
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO "meta" VALUES('schema','12');
INSERT INTO "meta" VALUES('secret','1f0fcddc1847e5bc2e05bc80b51edaff2db93e7cc310cdf44789e3b41285ced4');
INSERT INTO "meta" VALUES('probe','262973f68587622b');
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
INSERT INTO "period_counters" VALUES('home',1800000000,1,'','learned',1,0,0,0,0,0,0,0,0,0,0.0,0.0);
INSERT INTO "period_counters" VALUES('home',1800000000,1,'{"device":"desk"}','holdout',3,1,2,1,0,0,0,0,0,0,0.0,0.0);
INSERT INTO "period_counters" VALUES('home',1800000000,1,'{"device":"desk"}','learned',16,2,11,6,3,0,0,0,0,0,0.0,0.0);
INSERT INTO "period_counters" VALUES('home',1800000000,1,'{"device":"phone"}','holdout',5,1,2,1,2,0,0,0,0,0,0.0,0.0);
INSERT INTO "period_counters" VALUES('home',1800000000,1,'{"device":"phone"}','learned',16,6,5,2,5,0,0,0,0,0,0.0,0.0);
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
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"desk"}','holdout',0,'tea',1,2,3,1);
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"desk"}','holdout',1,'coffee',0,2,3,1);
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"desk"}','learned',0,'coffee',0,2,2,1);
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"desk"}','learned',0,'juice',0,6,7,1);
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"desk"}','learned',0,'milk',0,1,1,1);
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"desk"}','learned',0,'tea',0,2,3,1);
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"desk"}','learned',1,'coffee',2,6,8,1);
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"desk"}','learned',1,'juice',0,1,1,1);
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"desk"}','learned',1,'milk',0,2,2,1);
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"desk"}','learned',1,'tea',0,2,2,1);
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"phone"}','holdout',0,'tea',1,2,3,1);
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"phone"}','holdout',1,'coffee',0,2,3,1);
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"phone"}','learned',0,'coffee',2,3,5,1);
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"phone"}','learned',0,'juice',1,0,3,1);
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"phone"}','learned',0,'milk',0,1,2,1);
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"phone"}','learned',0,'tea',0,1,1,1);
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"phone"}','learned',1,'coffee',2,2,4,1);
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"phone"}','learned',1,'juice',0,1,3,1);
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"phone"}','learned',1,'milk',1,1,3,1);
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"phone"}','learned',1,'tea',0,1,1,1);
CREATE TABLE placements (
    name TEXT PRIMARY KEY,
    version BIGINT NOT NULL,
    revision BIGINT NOT NULL
) WITHOUT ROWID;
INSERT INTO "placements" VALUES('home',1,1);
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
INSERT INTO "tally" VALUES('home','{"device":"desk"}',0,'coffee',0,2,2,0,0.0,0.0,1);
INSERT INTO "tally" VALUES('home','{"device":"desk"}',0,'juice',0,6,7,0,0.0,0.0,1);
INSERT INTO "tally" VALUES('home','{"device":"desk"}',0,'milk',0,1,1,0,0.0,0.0,1);
INSERT INTO "tally" VALUES('home','{"device":"desk"}',0,'tea',1,4,6,0,0.0,0.0,1);
INSERT INTO "tally" VALUES('home','{"device":"desk"}',1,'coffee',2,8,11,0,0.0,0.0,1);
INSERT INTO "tally" VALUES('home','{"device":"desk"}',1,'juice',0,1,1,0,0.0,0.0,1);
INSERT INTO "tally" VALUES('home','{"device":"desk"}',1,'milk',0,2,2,0,0.0,0.0,1);
INSERT INTO "tally" VALUES('home','{"device":"desk"}',1,'tea',0,2,2,0,0.0,0.0,1);
INSERT INTO "tally" VALUES('home','{"device":"phone"}',0,'coffee',2,3,5,0,0.0,0.0,1);
INSERT INTO "tally" VALUES('home','{"device":"phone"}',0,'juice',1,0,3,0,0.0,0.0,1);
INSERT INTO "tally" VALUES('home','{"device":"phone"}',0,'milk',0,1,2,0,0.0,0.0,1);
INSERT INTO "tally" VALUES('home','{"device":"phone"}',0,'tea',1,3,4,0,0.0,0.0,1);
INSERT INTO "tally" VALUES('home','{"device":"phone"}',1,'coffee',2,4,7,0,0.0,0.0,1);
INSERT INTO "tally" VALUES('home','{"device":"phone"}',1,'juice',0,1,3,0,0.0,0.0,1);
INSERT INTO "tally" VALUES('home','{"device":"phone"}',1,'milk',1,1,3,0,0.0,0.0,1);
INSERT INTO "tally" VALUES('home','{"device":"phone"}',1,'tea',0,1,1,0,0.0,0.0,1);
CREATE TABLE visitor_hours (
    placement TEXT NOT NULL,
    visitor TEXT NOT NULL,
    start BIGINT NOT NULL,
    decisions BIGINT NOT NULL,
    PRIMARY KEY (placement, visitor, start)
) WITHOUT ROWID;
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
CREATE INDEX pending ON decisions (deadline) WHERE final = 0;
CREATE INDEX reported ON decisions (placement, deadline) WHERE final = 0 AND outcome IS NOT NULL;
CREATE INDEX keys_by_deadline ON keys (deadline);
CREATE INDEX visitors_by_end ON visitors (until);
CREATE INDEX visitor_hours_by_start ON visitor_hours (start);
CREATE INDEX changed ON tally (placement, revision);
CREATE INDEX tally_by_item ON tally (placement, item);
CREATE INDEX candidates_by_seen ON candidate_items (placement, seen, item);
CREATE INDEX candidates_changed ON candidate_items (placement, revision);
CREATE INDEX period_changed ON period_tally (placement, revision);
CREATE INDEX alerts_due ON alerts (next_try) WHERE next_try IS NOT NULL;
COMMIT;
