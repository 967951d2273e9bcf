/** The topics of the event log. docs/architecture.md describes their content. */
export const TOPIC_RAW = 'events.raw';
export const TOPIC_ENRICHED = 'events.enriched';
/** The compacted topic that stores the registry. */
export const TABLE_REGISTRY = 'registry';
/** The daily salts of the registry. They have a table of their own, because a removed salt must also be erased from the disk. */
export const TABLE_SALTS = 'salts';

/** Consumer groups, one for each consuming role. */
export const GROUP_ENRICHER = 'weir-enricher';
export const GROUP_WRITER = 'weir-writer';
export const GROUP_ARCHIVER = 'weir-archiver';
/** Its owner of partition 0 of the registry's topic leads the replay. */
export const GROUP_REPLAY = 'weir-replay';
/** Fills the shadow tables of a replay. */
export const GROUP_REPLAY_WRITER = 'weir-replay-writer';
