-- The rollup of closed days (docs/decisions/0047): reports read it instead of the rows of these days. It is built from `records` in the background,
-- and contains nothing that the rows do not have.

-- How many rows were stored on a later UTC day than that of their timestamp. A build of a day is valid as long as this number has not changed for the
-- days near it. Rows that arrive in time have no entry, so most inserts write nothing here.
CREATE TABLE IF NOT EXISTS late_rows
(
    site_id LowCardinality(String),
    day Date,
    rows UInt64
)
ENGINE = SummingMergeTree
ORDER BY (site_id, day)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS late_rows_fill TO late_rows AS
SELECT site_id, toDate(timestamp, 'UTC') AS day, count() AS rows
FROM records
WHERE outcome = 'row' AND bot = '' AND toDate(timestamp, 'UTC') < toDate(now(), 'UTC')
GROUP BY site_id, day;

-- A row for each half hour, visitor and visit, and for each combination of the other columns. Only counted rows: no bots, and no events of Weir itself.
CREATE TABLE IF NOT EXISTS visit_slots
(
    site_id LowCardinality(String) CODEC(ZSTD(1)),
    -- The UTC day that was built, and the number of this build.
    day Date CODEC(ZSTD(1)),
    build UInt64 CODEC(ZSTD(1)),
    -- The half hour of the rows.
    slot DateTime('UTC') CODEC(Delta(4), ZSTD(1)),
    -- The half hour in which the visit began, 0 without a visit.
    began DateTime('UTC') CODEC(Delta(4), ZSTD(1)),
    visitor_key UInt64 CODEC(ZSTD(1)),
    -- The hash of the present session ID if `several`, otherwise 0.
    session_key UInt64 CODEC(ZSTD(1)),
    -- Whether the visit has more than one row with `begun` > 0 in this build.
    several Bool CODEC(ZSTD(1)),
    -- Whether the rows are of `day`. Otherwise they are of the next day, and their visit began on `day`.
    hits Bool CODEC(ZSTD(1)),
    -- 0: the visit did not begin on `day`. 2: one row of each visit that began on `day`. 1: its other rows.
    begun UInt8 CODEC(ZSTD(1)),
    -- Of the visit, in each of its rows with `begun` > 0.
    bounces UInt32 CODEC(T64, ZSTD(1)),
    seconds UInt32 CODEC(T64, ZSTD(1)),
    views UInt32 CODEC(T64, ZSTD(1)),
    -- How many rows of each type there were.
    pageviews UInt32 CODEC(T64, ZSTD(1)),
    events UInt32 CODEC(T64, ZSTD(1)),
    -- Of the visit as in `sessions`, or of the rows if they have no visit.
    entry_path LowCardinality(String) CODEC(ZSTD(1)),
    exit_path LowCardinality(String) CODEC(ZSTD(1)),
    traffic_source LowCardinality(String) CODEC(ZSTD(1)),
    channel LowCardinality(String) CODEC(ZSTD(1)),
    referrer_domain LowCardinality(String) CODEC(ZSTD(1)),
    utm_source LowCardinality(String) CODEC(ZSTD(1)),
    utm_medium LowCardinality(String) CODEC(ZSTD(1)),
    utm_campaign LowCardinality(String) CODEC(ZSTD(1)),
    utm_term LowCardinality(String) CODEC(ZSTD(1)),
    utm_content LowCardinality(String) CODEC(ZSTD(1)),
    -- Of the rows.
    country LowCardinality(String) CODEC(ZSTD(1)),
    region LowCardinality(String) CODEC(ZSTD(1)),
    city LowCardinality(String) CODEC(ZSTD(1)),
    language LowCardinality(String) CODEC(ZSTD(1)),
    browser LowCardinality(String) CODEC(ZSTD(1)),
    browser_version LowCardinality(String) CODEC(ZSTD(1)),
    os LowCardinality(String) CODEC(ZSTD(1)),
    os_version LowCardinality(String) CODEC(ZSTD(1)),
    device_type LowCardinality(String) CODEC(ZSTD(1)),
    hostname LowCardinality(String) CODEC(ZSTD(1)),
    -- The column `source` of `records`.
    origin LowCardinality(String) CODEC(ZSTD(1)),
    -- The paths of the rows, with the number of pageviews and events of each.
    pages Array(String) CODEC(ZSTD(1)),
    page_views Array(UInt32) CODEC(T64, ZSTD(1)),
    page_events Array(UInt32) CODEC(T64, ZSTD(1)),
    -- The names of the events, with the number of each.
    names Array(String) CODEC(ZSTD(1)),
    name_counts Array(UInt32) CODEC(T64, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (site_id, slot, visitor_key)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

-- The builds. The row of a day is written after its slots, and the highest build counts.
CREATE TABLE IF NOT EXISTS visit_days
(
    site_id LowCardinality(String),
    day Date,
    build UInt64,
    slots UInt64,
    -- The number of counted rows of the day.
    hits UInt64,
    -- The sum of `late_rows` from two days before the day to two days after it, before the build read the rows.
    late UInt64
)
ENGINE = ReplacingMergeTree(build)
ORDER BY (site_id, day)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;
