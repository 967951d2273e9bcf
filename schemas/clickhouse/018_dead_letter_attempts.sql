-- A dead letter can be redriven: a second raw record with the same content is appended (docs/decisions/0041). Here is one row for each raw
-- record of a dead letter: attempt 0 is the first record, with the position log_id, raw_partition, raw_offset. `by_offset` is the raw offset
-- of the record of the attempt. If two records redrive one attempt, the first of them counts, and the other one is a duplicate.
CREATE TABLE IF NOT EXISTS dead_letter_attempts
(
    log_id LowCardinality(String),
    raw_partition UInt32,
    raw_offset UInt64,
    attempt UInt32,
    by_offset UInt64,
    site_id LowCardinality(String),
    outcome LowCardinality(String),
    reason LowCardinality(String),
    topic LowCardinality(String),
    partition UInt32,
    offset UInt64,
    stage LowCardinality(String),
    error String CODEC(ZSTD(1)),
    payload String CODEC(ZSTD(1)),
    received_at DateTime64(3, 'UTC'),
    -- When the record was received, or redriven.
    tried_at DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree
ORDER BY (log_id, raw_partition, raw_offset, attempt, by_offset)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS dead_letter_attempts_fill TO dead_letter_attempts AS
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
    FROM records
    WHERE outcome = 'dead' OR (position(detail, '"redriven":{') > 0 AND JSONHas(detail, 'redriven'))
);

INSERT INTO dead_letter_attempts
    (log_id, raw_partition, raw_offset, attempt, by_offset, site_id, outcome, reason, topic, partition, offset, stage, error, payload, received_at, tried_at)
SELECT
    log_id,
    raw_partition,
    raw_offset,
    0 AS attempt,
    raw_offset AS by_offset,
    site_id,
    outcome,
    reason,
    JSONExtractString(detail, 'topic') AS topic,
    toUInt32(JSONExtractUInt(detail, 'partition')) AS partition,
    JSONExtractUInt(detail, 'offset') AS offset,
    JSONExtractString(detail, 'stage') AS stage,
    JSONExtractString(detail, 'error') AS error,
    if(JSONType(detail, 'payload') = 'String', JSONExtractString(detail, 'payload'), JSONExtractRaw(detail, 'payload')) AS payload,
    received_at,
    received_at AS tried_at
FROM records
WHERE outcome = 'dead' AND NOT JSONHas(detail, 'redriven');

-- One row for each dead letter. Error and payload are those of the last attempt that failed. `redriven_at` is set when an attempt did not
-- become a dead letter again.
CREATE OR REPLACE VIEW dead_letters AS
SELECT
    toString(argMaxIf(letter_site, attempt, is_dead)) AS site_id,
    toString(argMinIf(letter_topic, attempt, is_dead)) AS topic,
    argMinIf(letter_partition, attempt, is_dead) AS partition,
    argMinIf(letter_offset, attempt, is_dead) AS offset,
    toString(argMaxIf(letter_stage, attempt, is_dead)) AS stage,
    argMaxIf(letter_error, attempt, is_dead) AS error,
    argMaxIf(letter_payload, attempt, is_dead) AS payload,
    toDateTime64(argMaxIf(letter_tried_at, attempt, is_dead), 3, 'UTC') AS failed_at,
    if(countIf(NOT is_dead) = 0, NULL, toDateTime64(maxIf(letter_tried_at, NOT is_dead), 3, 'UTC')) AS redriven_at,
    toString(argMaxIf(letter_reason, attempt, is_dead)) AS reason,
    log_id,
    raw_partition,
    raw_offset,
    max(attempt) AS attempts,
    argMaxIf(first_offset, attempt, is_dead) AS failed_offset
FROM
(
    SELECT
        log_id,
        raw_partition,
        raw_offset,
        attempt,
        min(by_offset) AS first_offset,
        argMin(tries.outcome, by_offset) = 'dead' AS is_dead,
        argMin(tries.reason, by_offset) AS letter_reason,
        argMin(tries.site_id, by_offset) AS letter_site,
        argMin(tries.topic, by_offset) AS letter_topic,
        argMin(tries.partition, by_offset) AS letter_partition,
        argMin(tries.offset, by_offset) AS letter_offset,
        argMin(tries.stage, by_offset) AS letter_stage,
        argMin(tries.error, by_offset) AS letter_error,
        argMin(tries.payload, by_offset) AS letter_payload,
        argMin(tries.tried_at, by_offset) AS letter_tried_at
    FROM dead_letter_attempts AS tries
    GROUP BY log_id, raw_partition, raw_offset, attempt
)
GROUP BY log_id, raw_partition, raw_offset
HAVING countIf(is_dead) > 0;

DROP VIEW IF EXISTS dead_letters_fill;
DROP TABLE IF EXISTS dead_letters_merged;

-- As in 016_sessions_of_rows.sql, also for redriven records, whose column `detail` has a further field.
ALTER TABLE moved_hours_fill MODIFY QUERY
SELECT site_id, visitor_id, toStartOfHour(timestamp) AS hour
FROM records
WHERE outcome = 'row' AND startsWith(detail, '{"session_moved":true')
GROUP BY site_id, visitor_id, hour;
