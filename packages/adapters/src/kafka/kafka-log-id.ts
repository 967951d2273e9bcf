import { DependencyError, isDependencyError } from '@weir/domain/errors';
import { type KafkaTable, RESERVED_KEY_PREFIX } from './kafka-table.ts';
import { NO_TOPIC_ID } from './kafka-topic-id.ts';

/** Maximum number of appends in one call of `claim`. A failed append takes up to 1.7 s. */
const ATTEMPTS = 10;

const LOG_ID = 'log_id';

/** Returns the log's ID. For a new log, creates and stores the ID. */
export function claimLogId(registry: KafkaTable, newId: () => string): Promise<string> {
  return claim(registry, LOG_ID, newId, (id) => id);
}

/** Returns the log's ID; undefined if the registry has none yet. */
export function storedLogId(registry: KafkaTable): string | undefined {
  const found = firstCandidate(registry, prefixOf(LOG_ID), () => true);
  return found === undefined ? undefined : (JSON.parse(found) as string);
}

/**
 * Returns the number of partitions with which the log was created. For a new log, and for a log of an older version of Weir, which did not store
 * the number, stores and returns `found`.
 */
export function claimPartitionCount(registry: KafkaTable, found: number, newId: () => string): Promise<number> {
  return claim(registry, 'partition_count', newId, () => found);
}

const isTopicId = (value: string): boolean => JSON.parse(value) !== NO_TOPIC_ID;

/** Returns the topic ID that `events.raw` had when the log was created. If none is stored yet, stores and returns `found`. */
export function claimRawTopicId(registry: KafkaTable, found: string, newId: () => string): Promise<string> {
  return claim(registry, 'raw_topic_id', newId, () => found, isTopicId);
}

/**
 * Returns a value that never changes during the life of the log. If the topic `registry` has no such value yet, this process writes a candidate. The
 * value is the first candidate in the topic for which `isValid` returns true. Each candidate has its own key and is written once, so compaction keeps
 * all candidates in their order. So all processes that start on a new log get the same value.
 */
async function claim<T>(
  registry: KafkaTable,
  name: string,
  newId: () => string,
  makeValue: (id: string) => T,
  isValid: (value: string) => boolean = () => true,
): Promise<T> {
  const prefix = prefixOf(name);
  for (let left = ATTEMPTS; firstCandidate(registry, prefix, isValid) === undefined; left--) {
    const id = newId();
    try {
      await registry.put(`${prefix}${id}`, JSON.stringify(makeValue(id)));
    } catch (error) {
      // The append can fail because the topic is new. The loop ends if another process has written a candidate meanwhile. A retry uses another
      // key: the failed append may still arrive. Of two records with the same key, compaction would keep only the later one, which can come after the
      // candidate of another process.
      if (left <= 1 || !isDependencyError(error, 'event_log_unavailable')) throw error;
    }
  }
  const found = firstCandidate(registry, prefix, isValid);
  if (found === undefined)
    throw new DependencyError('event_log_damaged', `the registry has no ${name} after it was written`);
  return JSON.parse(found) as T;
}

const prefixOf = (name: string): string => `${RESERVED_KEY_PREFIX}${name}:`;

function firstCandidate(registry: KafkaTable, prefix: string, isValid: (value: string) => boolean): string | undefined {
  let first: { readonly value: string; readonly offset: number } | undefined;
  for (const [key, entry] of registry.reserved()) {
    if (!key.startsWith(prefix) || !isValid(entry.value)) continue;
    if (first === undefined || entry.offset < first.offset) first = entry;
  }
  return first?.value;
}
