-- Each view on `records` costs about 3 ms of CPU time for each insert, also if the insert has no row for it. So the views that few records concern
-- are attached to one table of such records (docs/decisions/0055). This table stores nothing. Its view `rare_records_fill` selects every record that
-- one of these views needs, and may select more.
CREATE TABLE IF NOT EXISTS rare_records
(
    outcome LowCardinality(String),
    reason LowCardinality(String),
    site_id LowCardinality(String),
    event_id String,
    source LowCardinality(String),
    timestamp DateTime64(3, 'UTC'),
    received_at DateTime64(3, 'UTC'),
    visitor_id String,
    session_id String,
    bot LowCardinality(String),
    log_id LowCardinality(String),
    raw_partition UInt32,
    raw_offset UInt64,
    detail String,
    visit_stamp UInt8
)
ENGINE = Null;

-- Each of the following views replaces the view of the same table on `records`. Rows that both views add to a table count once, except in `late_rows`,
-- where a higher number only causes that days are built again. So inserts may run during this migration.
CREATE MATERIALIZED VIEW IF NOT EXISTS rare_identified_fill TO identified AS
SELECT site_id, visitor_id, received_at, event_id, JSONExtractString(detail, 'profile_id') AS profile_id, reason = 'unlink' AS unlinks, detail
FROM rare_records
WHERE outcome = 'identify';

CREATE MATERIALIZED VIEW IF NOT EXISTS rare_identities_fill TO identities AS
SELECT
    site_id,
    visitor_id,
    received_at,
    event_id,
    JSONExtractString(detail, 'profile_id') AS profile_id,
    source = 'server' OR JSONExtractBool(detail, 'signed') AS authenticated,
    detail
FROM rare_records
WHERE outcome = 'identify' AND reason != 'unlink';

CREATE MATERIALIZED VIEW IF NOT EXISTS rare_visits_computed_fill TO visits_computed AS
SELECT site_id, toDate(timestamp, 'UTC') AS day, session_id, true AS by_row
FROM rare_records
WHERE outcome = 'row' AND visit_stamp = 2
GROUP BY site_id, day, session_id;

CREATE MATERIALIZED VIEW IF NOT EXISTS rare_moved_hours_fill TO moved_hours AS
SELECT site_id, visitor_id, toStartOfHour(timestamp) AS hour
FROM rare_records
WHERE outcome = 'row' AND startsWith(detail, '{"session_moved":true')
GROUP BY site_id, visitor_id, hour;

CREATE MATERIALIZED VIEW IF NOT EXISTS rare_dead_letter_attempts_fill TO dead_letter_attempts AS
SELECT
    if(attempt > 0, JSONExtractString(detail, 'redriven', 'log'), toString(own_log)) AS log_id,
    if(attempt > 0, toUInt32(JSONExtractUInt(detail, 'redriven', 'partition')), own_partition) AS raw_partition,
    if(attempt > 0, JSONExtractUInt(detail, 'redriven', 'offset'), by_offset) AS raw_offset,
    toUInt32(JSONExtractUInt(detail, 'redriven', 'attempt')) AS attempt,
    by_offset,
    site_id,
    outcome,
    reason,
    if(is_dead, JSONExtractString(detail, 'topic'), '') AS topic,
    if(is_dead, toUInt32(JSONExtractUInt(detail, 'partition')), 0) AS partition,
    if(is_dead, JSONExtractUInt(detail, 'offset'), 0) AS offset,
    if(is_dead, JSONExtractString(detail, 'stage'), '') AS stage,
    if(is_dead, JSONExtractString(detail, 'error'), '') AS error,
    multiIf(
        NOT is_dead, '',
        JSONType(detail, 'payload') = 'String', JSONExtractString(detail, 'payload'),
        JSONExtractRaw(detail, 'payload')
    ) AS payload,
    received_at,
    if(attempt > 0, fromUnixTimestamp64Milli(JSONExtractInt(detail, 'redriven', 'at'), 'UTC'), received_at) AS tried_at
FROM
(
    SELECT
        log_id AS own_log, raw_partition AS own_partition, raw_offset AS by_offset, outcome = 'dead' AS is_dead,
        site_id, outcome, reason, received_at, detail
    FROM rare_records
    WHERE outcome = 'dead' OR (position(detail, '"redriven":{') > 0 AND JSONHas(detail, 'redriven'))
);

CREATE MATERIALIZED VIEW IF NOT EXISTS rare_late_rows_fill TO late_rows AS
SELECT site_id, toDate(timestamp, 'UTC') AS day, count() AS rows
FROM rare_records
WHERE outcome = 'row' AND bot = '' AND toDate(timestamp, 'UTC') < toDate(now(), 'UTC')
GROUP BY site_id, day;

-- Created after the views that read the table: from now on, an insert fills all of them.
CREATE MATERIALIZED VIEW IF NOT EXISTS rare_records_fill TO rare_records AS
SELECT
    outcome, reason, site_id, event_id, source, timestamp, received_at, visitor_id, session_id, bot, log_id, raw_partition, raw_offset, detail,
    visit_stamp
FROM records
WHERE outcome IN ('identify', 'dead')
    OR visit_stamp = 2
    OR startsWith(detail, '{"session_moved":true')
    OR position(detail, '"redriven":{') > 0
    OR (outcome = 'row' AND bot = '' AND toDate(timestamp, 'UTC') < toDate(now(), 'UTC'));

DROP VIEW IF EXISTS identified_fill;
DROP VIEW IF EXISTS identities_fill;
DROP VIEW IF EXISTS visits_computed_fill;
DROP VIEW IF EXISTS moved_hours_fill;
DROP VIEW IF EXISTS dead_letter_attempts_fill;
DROP VIEW IF EXISTS late_rows_fill;
