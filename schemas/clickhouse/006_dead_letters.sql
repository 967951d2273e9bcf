-- A row of the same topic, partition and offset that only brings redriven_at marks the dead letter as redriven.
CREATE TABLE IF NOT EXISTS dead_letters_merged
(
    site_id LowCardinality(String),
    topic LowCardinality(String),
    partition UInt32,
    offset UInt64,
    stage SimpleAggregateFunction(max, String),
    error SimpleAggregateFunction(max, String),
    payload SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
    failed_at SimpleAggregateFunction(max, DateTime64(3, 'UTC')),
    redriven_at SimpleAggregateFunction(max, Nullable(DateTime64(3, 'UTC')))
)
ENGINE = AggregatingMergeTree
ORDER BY (site_id, topic, partition, offset)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS dead_letters_fill TO dead_letters_merged AS
SELECT
    site_id,
    JSONExtractString(detail, 'topic') AS topic,
    toUInt32(JSONExtractUInt(detail, 'partition')) AS partition,
    JSONExtractUInt(detail, 'offset') AS offset,
    JSONExtractString(detail, 'stage') AS stage,
    JSONExtractString(detail, 'error') AS error,
    if(JSONType(detail, 'payload') = 'String', JSONExtractString(detail, 'payload'), JSONExtractRaw(detail, 'payload')) AS payload,
    received_at AS failed_at,
    CAST(NULL, 'Nullable(DateTime64(3, \'UTC\'))') AS redriven_at
FROM records
WHERE outcome = 'dead';

CREATE VIEW IF NOT EXISTS dead_letters AS
SELECT
    site_id,
    topic,
    partition,
    offset,
    toString(max(dead_letters_merged.stage)) AS stage,
    toString(max(dead_letters_merged.error)) AS error,
    toString(max(dead_letters_merged.payload)) AS payload,
    toDateTime64(max(dead_letters_merged.failed_at), 3, 'UTC') AS failed_at,
    max(dead_letters_merged.redriven_at) AS redriven_at
FROM dead_letters_merged
GROUP BY site_id, topic, partition, offset;
