-- Hashes of 64 bits (docs/decisions/0043): reports count and group them instead of the texts. Parts that were stored before compute them from the
-- texts when they are read, until ClickHouse merges them.
ALTER TABLE records
    ADD COLUMN IF NOT EXISTS visitor_key UInt64 MATERIALIZED sipHash64(visitor_id) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS session_key UInt64 MATERIALIZED sipHash64(session_id) CODEC(ZSTD(1));

-- Whether one of the rows of the day has the stamp 2. Otherwise a check, an erasure or retention has flagged the visit.
ALTER TABLE visits_computed
    ADD COLUMN IF NOT EXISTS by_row Bool,
    MODIFY ORDER BY (site_id, day, session_id, by_row);

ALTER TABLE visits_computed_fill MODIFY QUERY
SELECT site_id, toDate(timestamp, 'UTC') AS day, session_id, true AS by_row
FROM records
WHERE outcome = 'row' AND visit_stamp = 2
GROUP BY site_id, day, session_id;

INSERT INTO visits_computed (site_id, day, session_id, by_row)
SELECT site_id, toDate(timestamp, 'UTC') AS day, session_id, true AS by_row
FROM records
WHERE outcome = 'row' AND visit_stamp = 2
GROUP BY site_id, day, session_id;
