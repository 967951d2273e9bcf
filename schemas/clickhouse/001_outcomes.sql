CREATE VIEW IF NOT EXISTS outcomes AS
SELECT site_id, received_at, outcome, reason, rule_id, event_id, source, log_id, raw_partition, raw_offset
FROM records
WHERE outcome != 'row';

-- The books: how many records of each outcome a site had in each minute of received_at; of the dropped ones also by which rule.
CREATE TABLE IF NOT EXISTS books_sums
(
    site_id LowCardinality(String),
    minute DateTime('UTC') CODEC(Delta(4), ZSTD(1)),
    outcome LowCardinality(String),
    reason LowCardinality(String),
    rule_id LowCardinality(String),
    records UInt64
)
ENGINE = SummingMergeTree(records)
PARTITION BY toYYYYMM(minute)
ORDER BY (site_id, minute, outcome, reason, rule_id)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS books_fill TO books_sums AS
SELECT site_id, toStartOfMinute(received_at) AS minute, outcome, reason, rule_id, count() AS records
FROM records
GROUP BY site_id, minute, outcome, reason, rule_id;

CREATE VIEW IF NOT EXISTS books AS
SELECT site_id, minute, outcome, reason, sum(books_sums.records) AS records
FROM books_sums
GROUP BY site_id, minute, outcome, reason;
