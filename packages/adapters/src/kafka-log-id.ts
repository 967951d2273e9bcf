import { DependencyError, isDependencyError } from '@weir/domain/errors';
import { type KafkaTable, RESERVED_KEY_PREFIX } from './kafka-table.ts';

/** An append that fails has taken up to 1.7 s. */
const ATTEMPTS = 10;

/** The log's identity. */
export function claimLogId(registry: KafkaTable, newId: () => string): Promise<string> {
  return claim(registry, 'log_id', newId, (id) => id);
}

/** How many partitions the log was made with; of one that was made before this was kept, how many it is found with. */
export function claimPartitionCount(registry: KafkaTable, found: number, newId: () => string): Promise<number> {
  return claim(registry, 'partition_count', newId, () => found);
}

/**
 * What holds for the log's whole life: of the candidates in the registry topic, the first. Each has a key of its own and is never
 * written again, so compaction keeps all of them and their order; of processes that start at once on a new log, all read the same.
 */
async function claim<T>(
  registry: KafkaTable,
  name: string,
  newId: () => string,
  makeValue: (id: string) => T,
): Promise<T> {
  const prefix = `${RESERVED_KEY_PREFIX}${name}:`;
  for (let left = ATTEMPTS; firstCandidate(registry, prefix) === undefined; left--) {
    const id = newId();
    try {
      await registry.put(`${prefix}${id}`, JSON.stringify(makeValue(id)));
    } catch (error) {
      // Topics that were made a moment ago; another process may be there first. A new candidate: the one may yet come to be
      // in the log, and compaction would keep the later of two records of it.
      if (left <= 1 || !isDependencyError(error, 'event_log_unavailable')) throw error;
    }
  }
  const found = firstCandidate(registry, prefix);
  if (found === undefined)
    throw new DependencyError('event_log_damaged', `the registry has no ${name} after it was written`);
  return JSON.parse(found) as T;
}

function firstCandidate(registry: KafkaTable, prefix: string): string | undefined {
  let first: { readonly value: string; readonly offset: number } | undefined;
  for (const [key, entry] of registry.reserved()) {
    if (key.startsWith(prefix) && (first === undefined || entry.offset < first.offset)) first = entry;
  }
  return first?.value;
}
