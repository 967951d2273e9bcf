-- The audit, per log and raw partition: every raw offset from 0 to the highest has exactly one outcome, so `duplicates` and
-- `gaps` are 0. With retention, the lowest offset may be above 0: `gaps` counts from the lowest that is there.
SELECT
    log_id,
    raw_partition,
    min(raw_offset) AS first_offset,
    max(raw_offset) AS last_offset,
    count() AS records,
    uniqExact(raw_offset) AS offsets,
    records - offsets AS duplicates,
    last_offset - first_offset + 1 - offsets AS gaps,
    countIf(outcome = 'row') AS rows,
    countIf(outcome = 'identify') AS identifies,
    countIf(outcome = 'duplicate') AS duplicate_records,
    countIf(outcome = 'dropped') AS dropped,
    countIf(outcome = 'dead') AS dead
FROM records
GROUP BY log_id, raw_partition
ORDER BY log_id, raw_partition
