-- The values of custom properties in the rollup of closed days (docs/decisions/0056). Slots from before have none.

-- An element for each property and value of the rows of the slot, with the number of pageviews and events that have this value.
ALTER TABLE visit_slots
    ADD COLUMN IF NOT EXISTS property_names Array(LowCardinality(String)) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS property_values Array(LowCardinality(String)) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS property_views Array(UInt32) CODEC(T64, ZSTD(1)),
    ADD COLUMN IF NOT EXISTS property_events Array(UInt32) CODEC(T64, ZSTD(1));

ALTER TABLE visit_days
    -- What the slots of the build contain. 0: no properties. 1: properties.
    ADD COLUMN IF NOT EXISTS contents UInt8,
    -- The names of the properties that are in the slots, and of those that are not. Only names that rows of the day or of the next day have.
    ADD COLUMN IF NOT EXISTS property_names Array(String),
    ADD COLUMN IF NOT EXISTS properties_left_out Array(String),
    -- Whether the two lists have all names.
    ADD COLUMN IF NOT EXISTS lists_properties Bool;
