import { setTimeout as pause } from 'node:timers/promises';
import { DependencyError } from '@weir/domain/errors';
import { TABLE_REGISTRY, TOPIC_ENRICHED, TOPIC_RAW } from '@weir/domain/records/topics';

export interface DeletedTopicsOptions {
  readonly topicPrefix: string;
  /** Resolves with the topics that do not exist, without the prefix. */
  missing(): Promise<ReadonlySet<string>>;
  /** Resolves with the ID of the log in the topic `registry`; undefined if it has none. */
  storedLogId(): Promise<string | undefined>;
  /** Resolves with true if this topic has ever had a record. */
  hasHadRecords(topic: string): Promise<boolean>;
}

/**
 * The number of metadata requests, and the pause between two of them. The requests are repeated because a broker may report only some topics of
 * a log while the log is being created.
 */
const ATTEMPTS = 30;
const PAUSE_MS = 100;
const WHAT_TO_DO = 'What to do: docs/operations.md, "A topic was deleted"';

/**
 * Rejects with `event_log_damaged` if `events.raw` or `registry` was deleted while another topic of the log exists. Call it before missing topics
 * are created. A new `events.raw` would begin at offset 0, so the writer would skip its records as repeats. With a new `registry`, the records of
 * `events.raw` would belong to another log. If both are new, the commits of the consumers of `events.enriched` would still contain offsets of the
 * old log.
 */
export async function refuseDeletedTopics(options: DeletedTopicsOptions): Promise<void> {
  const named = (topic: string): string => options.topicPrefix + topic;
  let missing = await options.missing();
  for (let left = ATTEMPTS; left > 1 && isIncomplete(missing); left--) {
    await pause(PAUSE_MS);
    missing = await options.missing();
  }
  if (!isIncomplete(missing)) return;
  if (!missing.has(TABLE_REGISTRY)) {
    const logId = await options.storedLogId();
    if (logId !== undefined) {
      throw new DependencyError(
        'event_log_damaged',
        `the topic ${named(TOPIC_RAW)} of the log ${logId} does not exist: it was deleted, and records that were not stored in ClickHouse are ` +
          `lost. Weir does not create it again, because ClickHouse already has records with its first offsets. ${WHAT_TO_DO}`,
      );
    }
  } else if (!missing.has(TOPIC_RAW) && (await options.hasHadRecords(TOPIC_RAW))) {
    throw new DependencyError(
      'event_log_damaged',
      `the topic ${named(TABLE_REGISTRY)} does not exist, but ${named(TOPIC_RAW)} has records: the topic was deleted. Weir does not ` +
        `create it again, because the records would then belong to another log. ${WHAT_TO_DO}`,
    );
  }
  if (missing.has(TOPIC_ENRICHED) || !(await options.hasHadRecords(TOPIC_ENRICHED))) return;
  throw new DependencyError(
    'event_log_damaged',
    `the topic ${named(TOPIC_ENRICHED)} has records of a log that no longer exists: ${named(TOPIC_RAW)} or ${named(TABLE_REGISTRY)} was deleted. ` +
      'Weir does not begin a new log beside this topic, because the commits of its consumers have offsets of the old log, so writers would skip new ' +
      `records as repeats. ${WHAT_TO_DO}`,
  );
}

/** Whether one of `events.raw` and `registry` is missing, or both are missing although `events.enriched` exists. */
function isIncomplete(missing: ReadonlySet<string>): boolean {
  const identifying = [TOPIC_RAW, TABLE_REGISTRY].filter((topic) => missing.has(topic)).length;
  return identifying === 1 || (identifying === 2 && !missing.has(TOPIC_ENRICHED));
}
