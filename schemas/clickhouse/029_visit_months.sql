-- Sums of the rollup of closed days over whole months (docs/decisions/0062), for breakdowns that have so many values that reading the slots of a year
-- takes too long. They contain nothing that `visit_slots` does not have.

-- A row for each UTC month and value of the dimension.
CREATE TABLE IF NOT EXISTS visit_months
(
    site_id LowCardinality(String) CODEC(ZSTD(1)),
    -- `page`, `entry` or `exit`. Empty: the row says that the build is complete.
    dimension LowCardinality(String) CODEC(ZSTD(1)),
    -- The first day of the month, and the number of this build.
    month Date CODEC(ZSTD(1)),
    build UInt64 CODEC(ZSTD(1)),
    -- If the dimension is empty: a hash of the builds of the days of the month (visit_days). Otherwise 0.
    days UInt64 CODEC(ZSTD(1)),
    value String CODEC(ZSTD(1)),
    -- A sketch of the visitors: an estimate if there are more than 100.
    visitors AggregateFunction(uniqCombined(17), UInt64) CODEC(ZSTD(1)),
    pageviews UInt64 CODEC(T64, ZSTD(1)),
    events UInt64 CODEC(T64, ZSTD(1)),
    visits UInt64 CODEC(T64, ZSTD(1)),
    bounces UInt64 CODEC(T64, ZSTD(1)),
    seconds UInt64 CODEC(T64, ZSTD(1)),
    views UInt64 CODEC(T64, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(month)
ORDER BY (site_id, dimension, month, value)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;
