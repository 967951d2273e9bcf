-- Every outcome of every raw record, as the writer's lines give it: the one table that is inserted into. Meaning of the columns:
-- tables.md and packages/domain/src/records/records-columns.ts. Everything else here is a view of it or is filled from it by a view.
-- The windows make an insert that is repeated with its token change nothing; the fsync settings make an acknowledged one
-- outlast a power cut. A month of received_at is a partition: no caller's timestamp can make parts. A part below a gigabyte is one file
-- for all columns: each path and type of a property would be two files more, and anybody's properties of hundreds of paths made an
-- insert of 16,000 files, which a process may not open.
CREATE TABLE IF NOT EXISTS records
(
    outcome LowCardinality(String),
    reason LowCardinality(String),
    rule_id LowCardinality(String),
    site_id LowCardinality(String),
    event_id String CODEC(ZSTD(1)),
    source LowCardinality(String),
    type LowCardinality(String),
    event_name LowCardinality(String),
    timestamp DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    received_at DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    visitor_id String CODEC(ZSTD(1)),
    session_id String CODEC(ZSTD(1)),
    user_id String CODEC(ZSTD(1)),
    cookieless Bool,
    value Nullable(Float64),
    value_text String CODEC(ZSTD(1)),
    properties JSON(max_dynamic_paths = 64, max_dynamic_types = 4),
    url String CODEC(ZSTD(1)),
    hostname LowCardinality(String),
    pathname String CODEC(ZSTD(1)),
    referrer String CODEC(ZSTD(1)),
    referrer_domain LowCardinality(String),
    utm_source LowCardinality(String),
    utm_medium LowCardinality(String),
    utm_campaign LowCardinality(String),
    utm_term LowCardinality(String),
    utm_content LowCardinality(String),
    ref LowCardinality(String),
    source_param LowCardinality(String),
    via LowCardinality(String),
    click_id_type LowCardinality(String),
    channel LowCardinality(String),
    traffic_source LowCardinality(String),
    country LowCardinality(String),
    region LowCardinality(String),
    city LowCardinality(String),
    timezone LowCardinality(String),
    browser LowCardinality(String),
    browser_version LowCardinality(String),
    os LowCardinality(String),
    os_version LowCardinality(String),
    device_type LowCardinality(String),
    device_brand LowCardinality(String),
    device_model LowCardinality(String),
    platform LowCardinality(String),
    screen_width UInt32,
    screen_height UInt32,
    language LowCardinality(String),
    enrichment LowCardinality(String),
    bot LowCardinality(String),
    bot_reason LowCardinality(String),
    idempotency_key String CODEC(ZSTD(1)),
    log_id LowCardinality(String),
    raw_partition UInt32,
    raw_offset UInt64 CODEC(Delta(8), ZSTD(1)),
    detail String CODEC(ZSTD(1)),
    -- Written with the rows themselves, so the highest offset that is stored is read without a scan, and is never behind them.
    PROJECTION offsets
    (
        SELECT log_id, raw_partition, outcome, count(), min(raw_offset), max(raw_offset)
        GROUP BY log_id, raw_partition, outcome
    )
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(received_at)
ORDER BY (site_id, toStartOfHour(timestamp), visitor_id, timestamp)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1,
    min_bytes_for_wide_part = 1073741824;
