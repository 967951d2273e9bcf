-- What retention leaves of each raw record (docs/operations.md, "Retention"), kept nowhere: the first view makes the row `expired` of
-- `records`. The second one takes the former outcome back out of the books, as `erasures_books_fill` does.
CREATE TABLE IF NOT EXISTS expirations
(
    site_id LowCardinality(String),
    received_at DateTime64(3, 'UTC'),
    -- The earlier one of the times of the event and of its receipt.
    happened_at DateTime64(3, 'UTC'),
    outcome LowCardinality(String),
    reason LowCardinality(String),
    rule_id LowCardinality(String),
    enrichment LowCardinality(String),
    log_id LowCardinality(String),
    raw_partition UInt32,
    raw_offset UInt64,
    -- The limit that the record exceeded: `events` or `profiles`.
    expired_as LowCardinality(String)
)
ENGINE = Null;

CREATE MATERIALIZED VIEW IF NOT EXISTS expirations_fill TO records AS
SELECT 'expired' AS outcome, expired_as AS reason, site_id, happened_at AS timestamp, received_at, enrichment, log_id, raw_partition, raw_offset
FROM expirations;

CREATE MATERIALIZED VIEW IF NOT EXISTS expirations_books_fill TO books_sums AS
SELECT site_id, toStartOfMinute(received_at) AS minute, outcome, reason, rule_id, toUInt64(0) - count() AS records
FROM expirations
GROUP BY site_id, minute, outcome, reason, rule_id;
