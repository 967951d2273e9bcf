-- The range of raw offsets in each granule: the audit then reads only the rows above a checkpoint. The second statement builds the index for the
-- stored parts, in the background. Until it is done, the audit reads the raw offsets of these parts as before.
ALTER TABLE records ADD INDEX IF NOT EXISTS raw_offset_range raw_offset TYPE minmax GRANULARITY 1;

ALTER TABLE records MATERIALIZE INDEX raw_offset_range;

-- The checkpoints of the audit (docs/exactly-once.md, The audit). At `checked_at`, each lower raw offset of the partition had exactly one outcome.
-- `is_whole`: the check compared all raw offsets one by one, not only those above the checkpoint before.
-- A swap does not exchange this table: it compares the raw offsets of both sets of tables before.
CREATE TABLE IF NOT EXISTS audit_checkpoints
(
    log_id LowCardinality(String),
    raw_partition UInt32,
    raw_offset UInt64,
    checked_at DateTime64(3, 'UTC'),
    is_whole Bool
)
ENGINE = MergeTree
ORDER BY (log_id, raw_partition, checked_at)
TTL toDateTime(checked_at) + INTERVAL 90 DAY
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;
