-- The visits of each page in the rollup of closed days (docs/decisions/0060). Slots that an older version has built have an empty array.

-- An element for each of the `pages`: 1 in exactly one of the rows with `begun` > 0 of a visit that have the path, otherwise 0.
ALTER TABLE visit_slots ADD COLUMN IF NOT EXISTS page_visits Array(UInt8) CODEC(ZSTD(1));
