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
INSERT INTO "counters" VALUES('home','{"device":"desk"}','holdout',3,1,2,0,0,0,0,0,0,0,0.0,0.0);
INSERT INTO "counters" VALUES('home','{"device":"desk"}','learned',16,2,11,7,3,0,0,0,0,0,0.0,0.0);
INSERT INTO "counters" VALUES('home','{"device":"phone"}','holdout',9,5,1,1,3,0,0,0,0,0,0.0,0.0);
INSERT INTO "counters" VALUES('home','{"device":"phone"}','learned',12,2,6,2,4,0,0,0,0,0,0.0,0.0);
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
    capped SMALLINT NOT NULL,
    late SMALLINT NOT NULL DEFAULT 0,
    final SMALLINT NOT NULL DEFAULT 0
) WITHOUT ROWID;
INSERT INTO "decisions" VALUES('01a3185c50000bd3854c3fa902046f37','home','["coffee","juice"]','learned',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,'clicked','coffee',NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c50000de7b9bf1be3482fb567','home','["tea","coffee"]','holdout',1800000000.0,1800000060.0,'{"device":"desk"}',NULL,NULL,NULL,'no_click',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c50001ba207a316a1fe237d36','home','["coffee","tea"]','learned',1800000000.0,1800000060.0,'{"device":"desk"}',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c50001f8916edfe6ac7b40a65','home','["juice","coffee"]','learned',1800000000.0,1800000060.0,'{"device":"desk"}',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000244660dbb67c348fdea7','home','["tea","coffee"]','learned',1800000000.0,1800000060.0,'{"device":"desk"}',NULL,NULL,NULL,'clicked','tea',NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c500026606d912192bae6e88e','home','["tea","coffee"]','learned',1800000000.0,1800000060.0,'{"device":"desk"}',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c50003027e2c706a22e73557b','home','["coffee","milk"]','learned',1800000000.0,1800000060.0,'{"device":"desk"}',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c50003b087a08bfb7016d45d4','home','["tea","coffee"]','learned',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,'not_shown',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000430cf67592c0e5d31a7a','home','["juice","coffee"]','learned',1800000000.0,1800000060.0,'{"device":"desk"}',NULL,NULL,NULL,'not_shown',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000441fccd7ad66fe6d0923','home','["tea","coffee"]','holdout',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c500044b543fb9203612b72c9','home','["coffee","tea"]','learned',1800000000.0,1800000060.0,'{"device":"desk"}',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000460265f943ecea41cbc1','home','["juice","coffee"]','learned',1800000000.0,1800000060.0,'{"device":"desk"}',NULL,NULL,NULL,'not_shown',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c500046bb9314f60791c65e9f','home','["milk","coffee"]','learned',1800000000.0,1800000060.0,'{"device":"desk"}',NULL,NULL,NULL,'no_click',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c50004cd0775626a73d388260','home','["juice","coffee"]','learned',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,'no_click',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c50004d597226dee5a556ba12','home','["tea","coffee"]','learned',1800000000.0,1800000060.0,'{"device":"desk"}',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c50004deb12a3a3b4c46f9c57','home','["tea","juice"]','learned',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,'no_click',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c50005026b5dbc90fca6a1940','home','["milk","coffee"]','learned',1800000000.0,1800000060.0,'{"device":"desk"}',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c500056c1dfb1361d2e4a960d','home','["tea","coffee"]','holdout',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,'clicked','coffee',NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c500057890d53f2ae82b609e7','home','["milk","juice"]','learned',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,'no_click',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000650fd37f54be4ae41f62','home','["juice","coffee"]','learned',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,'not_shown',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c50006c5565caa29b4b3aa9a7','home','["coffee","tea"]','learned',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,'clicked','coffee',NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c500086f78b2eb648bde3a496','home','["coffee","juice"]','learned',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,'not_shown',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c50008e95c5e358f160477413','home','["tea","coffee"]','holdout',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,'clicked','tea',NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000931c7e3e74f809a27cf0','home','["tea","coffee"]','holdout',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,'clicked','tea',NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000a808e4855a476b3dc3db','home','["tea","coffee"]','holdout',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,'not_shown',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000a8b54ea7c189753ef596','home','["juice","coffee"]','learned',1800000000.0,1800000060.0,'{"device":"desk"}',NULL,NULL,NULL,'no_click',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000af60a29989ff8a1ee9d0','home','["coffee","juice"]','learned',1800000000.0,1800000060.0,'{"device":"desk"}',NULL,NULL,NULL,'clicked','juice',NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000bf8f75d04088e1156d48','home','["coffee","milk"]','learned',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000c53289d63883396d68dd','home','["tea","coffee"]','holdout',1800000000.0,1800000060.0,'{"device":"desk"}',NULL,NULL,NULL,'no_click',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000c79482423895f7ca84f2','home','["tea","coffee"]','holdout',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,'clicked','coffee',NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000caebc47457a56db04315','home','["coffee","tea"]','learned',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000d05a8044db80ff968724','home','["tea","coffee"]','learned',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,'not_shown',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000d1ee4d5fc21216db0a39','home','["coffee","tea"]','learned',1800000000.0,1800000060.0,'{"device":"desk"}',NULL,NULL,NULL,'not_shown',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000d65c8bd3cee6bfc0c00f','home','["tea","coffee"]','holdout',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,'not_shown',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000d779c0bfdd7dbc98c6be','home','["tea","coffee"]','holdout',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,'not_shown',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000edc889ca1113c3cb649e','home','["coffee","tea"]','learned',1800000000.0,1800000060.0,'{"device":"desk"}',NULL,NULL,NULL,'no_click',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000ef53112a4f42f0f25fe6','home','["juice","coffee"]','learned',1800000000.0,1800000060.0,'{"device":"desk"}',NULL,NULL,NULL,'no_click',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000f26942159484c055b9e7','home','["tea","coffee"]','holdout',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,'clicked','coffee',NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000f82097f8058785c0466c','home','["tea","coffee"]','holdout',1800000000.0,1800000060.0,'{"device":"desk"}',NULL,NULL,NULL,'clicked','coffee',NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185c5000fbe70dca54afb46ed2f0','home','["coffee","milk"]','learned',1800000000.0,1800000060.0,'{"device":"phone"}',NULL,NULL,NULL,'no_click',NULL,NULL,NULL,NULL,1800000000.0,NULL,NULL,NULL,0,0,1);
INSERT INTO "decisions" VALUES('01a3185d3e48b8f38a72e0ce7a01c85b','home','["milk","coffee"]','learned',1800000061.0,1800000121.0,'',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,0);
CREATE TABLE definitions (
    placement TEXT PRIMARY KEY,
    definition TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO "definitions" VALUES('home','{"alert_url":null,"exploring":true,"guardrails":[],"half_life":null,"holdout":0.2,"items":["tea",{"id":"coffee","value":2.5},"juice","milk"],"mode":"live","new_items_at_most":null,"per_visitor_hour":null,"pin":{},"policy":null,"position_bias":null,"reward":null,"reward_days":0.0,"segments":{"device":["phone","desk"]},"slots":2,"sticky_seconds":null,"values":null,"window_seconds":60.0}');
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
INSERT INTO "meta" VALUES('schema','11');
INSERT INTO "meta" VALUES('secret','62c1ac93874c90a8c83481203d540fcd9ab75e9b46ac558c6b220b00eaff4f6c');
INSERT INTO "meta" VALUES('probe','57a04a9dd4148db7');
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
INSERT INTO "period_counters" VALUES('home',1800000000,1,'{"device":"desk"}','holdout',3,1,2,0,0,0,0,0,0,0,0.0,0.0);
INSERT INTO "period_counters" VALUES('home',1800000000,1,'{"device":"desk"}','learned',16,2,11,7,3,0,0,0,0,0,0.0,0.0);
INSERT INTO "period_counters" VALUES('home',1800000000,1,'{"device":"phone"}','holdout',9,5,1,1,3,0,0,0,0,0,0.0,0.0);
INSERT INTO "period_counters" VALUES('home',1800000000,1,'{"device":"phone"}','learned',12,2,6,2,4,0,0,0,0,0,0.0,0.0);
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
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"desk"}','holdout',0,'tea',0,2,3,1);
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"desk"}','holdout',1,'coffee',1,2,3,1);
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"desk"}','learned',0,'coffee',0,4,5,1);
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"desk"}','learned',0,'juice',0,3,3,1);
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"desk"}','learned',0,'milk',0,2,2,1);
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"desk"}','learned',0,'tea',1,2,3,1);
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"desk"}','learned',1,'coffee',0,7,8,1);
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"desk"}','learned',1,'juice',1,0,1,1);
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"desk"}','learned',1,'milk',0,1,1,1);
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"desk"}','learned',1,'tea',0,3,3,1);
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"phone"}','holdout',0,'tea',2,1,6,1);
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"phone"}','holdout',1,'coffee',3,1,6,1);
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"phone"}','learned',0,'coffee',2,3,5,1);
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"phone"}','learned',0,'juice',0,1,1,1);
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"phone"}','learned',0,'milk',0,1,1,1);
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"phone"}','learned',0,'tea',0,1,1,1);
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"phone"}','learned',1,'coffee',0,1,1,1);
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"phone"}','learned',1,'juice',0,2,3,1);
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"phone"}','learned',1,'milk',0,2,2,1);
INSERT INTO "period_tally" VALUES('home',1800000000,1,'{"device":"phone"}','learned',1,'tea',0,1,2,1);
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
INSERT INTO "tally" VALUES('home','{"device":"desk"}',0,'coffee',0,4,5,0,0.0,0.0,1);
INSERT INTO "tally" VALUES('home','{"device":"desk"}',0,'juice',0,3,3,0,0.0,0.0,1);
INSERT INTO "tally" VALUES('home','{"device":"desk"}',0,'milk',0,2,2,0,0.0,0.0,1);
INSERT INTO "tally" VALUES('home','{"device":"desk"}',0,'tea',1,4,6,0,0.0,0.0,1);
INSERT INTO "tally" VALUES('home','{"device":"desk"}',1,'coffee',1,9,11,0,0.0,0.0,1);
INSERT INTO "tally" VALUES('home','{"device":"desk"}',1,'juice',1,0,1,0,0.0,0.0,1);
INSERT INTO "tally" VALUES('home','{"device":"desk"}',1,'milk',0,1,1,0,0.0,0.0,1);
INSERT INTO "tally" VALUES('home','{"device":"desk"}',1,'tea',0,3,3,0,0.0,0.0,1);
INSERT INTO "tally" VALUES('home','{"device":"phone"}',0,'coffee',2,3,5,0,0.0,0.0,1);
INSERT INTO "tally" VALUES('home','{"device":"phone"}',0,'juice',0,1,1,0,0.0,0.0,1);
INSERT INTO "tally" VALUES('home','{"device":"phone"}',0,'milk',0,1,1,0,0.0,0.0,1);
INSERT INTO "tally" VALUES('home','{"device":"phone"}',0,'tea',2,2,7,0,0.0,0.0,1);
INSERT INTO "tally" VALUES('home','{"device":"phone"}',1,'coffee',3,2,7,0,0.0,0.0,1);
INSERT INTO "tally" VALUES('home','{"device":"phone"}',1,'juice',0,2,3,0,0.0,0.0,1);
INSERT INTO "tally" VALUES('home','{"device":"phone"}',1,'milk',0,2,2,0,0.0,0.0,1);
INSERT INTO "tally" VALUES('home','{"device":"phone"}',1,'tea',0,1,2,0,0.0,0.0,1);
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
CREATE INDEX period_changed ON period_tally (placement, revision);
CREATE INDEX alerts_due ON alerts (next_try) WHERE next_try IS NOT NULL;
COMMIT;
