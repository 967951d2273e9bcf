-- The generation of the tables: a swap gives this column another name. An insert names the column, so that an insert which was planned
-- for other tables is refused (docs/exactly-once.md). The column stores nothing.
ALTER TABLE records ADD COLUMN IF NOT EXISTS generation_0 UInt8 EPHEMERAL;
