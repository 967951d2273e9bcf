import { setTimeout as pause } from 'node:timers/promises';
import { DependencyError } from '@weir/domain/errors';
import { TABLE_REGISTRY, TOPIC_RAW } from '@weir/domain/records/topics';

export interface DeletedTopicsOptions {
  readonly topicPrefix: string;
  /** Resolves with the topics that do not exist, without the prefix. */
  missing(): Promise<ReadonlySet<string>>;
  /** Resolves with the ID of the log in the topic `registry`; undefined if it has none. */
  storedLogId(): Promise<string | undefined>;
  /** Resolves with true if `events.raw` has ever had a record. */
  hasHadRecords(): Promise<boolean>;
}

/** Number of metadata requests, and the pause between them. A broker may learn of the topics of a new log one after the other. */
const ATTEMPTS = 30;
const PAUSE_MS = 100;
const WHAT_TO_DO = 'What to do: docs/operations.md, "A topic was deleted"';

/**
 * Rejects with `event_log_damaged` if `events.raw` or `registry` was deleted while the other topic exists. Call it before missing topics are
 * created: a new `events.raw` would begin at offset 0, so the writer would skip its records as repeats. With a new `registry`, the records of
 * `events.raw` would belong to another log.
 */
export async function refuseDeletedTopics(options: DeletedTopicsOptions): Promise<void> {
  const { topicPrefix } = options;
  const isOneMissing = (names: ReadonlySet<string>): boolean => names.has(TOPIC_RAW) !== names.has(TABLE_REGISTRY);
  let missing = await options.missing();
  for (let left = ATTEMPTS; left > 1 && isOneMissing(missing); left--) {
    await pause(PAUSE_MS);
    missing = await options.missing();
  }
  if (!isOneMissing(missing)) return;
  if (missing.has(TABLE_REGISTRY)) {
    if (!(await options.hasHadRecords())) return;
    throw new DependencyError(
      'event_log_damaged',
      `the topic ${topicPrefix}${TABLE_REGISTRY} does not exist, but ${topicPrefix}${TOPIC_RAW} has records: the topic was deleted. Weir does not ` +
        `create it again, because the records would then belong to another log. ${WHAT_TO_DO}`,
    );
  }
  const logId = await options.storedLogId();
  if (logId === undefined) return;
  throw new DependencyError(
    'event_log_damaged',
    `the topic ${topicPrefix}${TOPIC_RAW} of the log ${logId} does not exist: it was deleted, and records that were not stored in ClickHouse are ` +
      `lost. Weir does not create it again, because ClickHouse already has records with its first offsets. ${WHAT_TO_DO}`,
  );
}
