-- What an erasure leaves of each raw record (docs/erasure.md), kept nowhere: the first view makes the row `erased` of `records`, which counts in
-- the books as every other row. The second one takes the former outcome back out of the books. Sums of UInt64 wrap around, so
-- adding 2^64 - n subtracts n.
CREATE TABLE IF NOT EXISTS erasures
(
    site_id LowCardinality(String),
    received_at DateTime64(3, 'UTC'),
    outcome LowCardinality(String),
    reason LowCardinality(String),
    rule_id LowCardinality(String),
    enrichment LowCardinality(String),
    log_id LowCardinality(String),
    raw_partition UInt32,
    raw_offset UInt64,
    erased_as LowCardinality(String)
)
ENGINE = Null;

CREATE MATERIALIZED VIEW IF NOT EXISTS erasures_fill TO records AS
SELECT 'erased' AS outcome, erased_as AS reason, site_id, received_at AS timestamp, received_at, enrichment, log_id, raw_partition, raw_offset
FROM erasures;

CREATE MATERIALIZED VIEW IF NOT EXISTS erasures_books_fill TO books_sums AS
SELECT site_id, toStartOfMinute(received_at) AS minute, outcome, reason, rule_id, toUInt64(0) - count() AS records
FROM erasures
GROUP BY site_id, minute, outcome, reason, rule_id;
