/** The topics of the event log. docs/topics.md describes their records. */
export const TOPIC_RAW = 'events.raw';
export const TOPIC_ENRICHED = 'events.enriched';
/** The outcomes of a replay from raw, until its writer has stored them. Without such a replay, the topic is empty. */
export const TOPIC_REPLAYED = 'events.replayed';
/** The compacted topic that stores the registry. */
export const TABLE_REGISTRY = 'registry';
/** The daily salts of the registry. They have a table of their own, because a removed salt must also be erased from the disk. */
export const TABLE_SALTS = 'salts';

/** Consumer groups, one for each consuming role. */
export const GROUP_ENRICHER = 'weir-enricher';
export const GROUP_WRITER = 'weir-writer';
export const GROUP_ARCHIVER = 'weir-archiver';
/** The consumer group that elects the process which runs a replay: the member to which partition 0 of the topic `registry` is assigned. */
export const GROUP_REPLAY = 'weir-replay';
/** The group of the enricher of a replay from raw. */
export const GROUP_REPLAY_ENRICHER = 'weir-replay-enricher';
/** The consumer group that elects the process which exports Parquet files. */
export const GROUP_PARQUET = 'weir-parquet';
/** The consumer group that elects the process which accepts imports. */
export const GROUP_IMPORTS = 'weir-imports';
/** The group of the writer that fills the shadow tables (docs/glossary.md) of a replay. */
export const GROUP_REPLAY_WRITER = 'weir-replay-writer';
