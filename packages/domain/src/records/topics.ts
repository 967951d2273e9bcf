/** The topics of the event log. What is in each: `docs/architecture.md`. */
export const TOPIC_RAW = 'events.raw';
export const TOPIC_ENRICHED = 'events.enriched';
/** The compacted topic behind the registry. */
export const TABLE_REGISTRY = 'registry';
/** The registry's daily salts, apart, because they must be gone from the disk when they are removed. */
export const TABLE_SALTS = 'salts';

/** Consumer groups, one for each consuming role. */
export const GROUP_ENRICHER = 'weir-enricher';
export const GROUP_WRITER = 'weir-writer';
