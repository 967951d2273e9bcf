-- The audit of each log and raw partition. Every raw offset up to the highest has exactly one outcome, so `duplicates` and `gaps` must
-- be 0. The lowest offset can be above 0. `gaps` counts the missing offsets between the lowest and the highest stored offset.
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
