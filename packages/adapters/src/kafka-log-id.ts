import { DependencyError, isDependencyError } from '@weir/domain/errors';
import { type KafkaTable, RESERVED_KEY_PREFIX } from './kafka-table.ts';

const PREFIX = `${RESERVED_KEY_PREFIX}log_id:`;

/** An append that fails has taken up to 1.7 s. */
const ATTEMPTS = 10;

/**
 * The log's identity: of the candidates in the registry topic, the first. Each has a key of its own and is never written
 * again, so compaction keeps all of them and their order; of processes that start at once on a new log, all read the same.
 */
export async function claimLogId(registry: KafkaTable, newCandidate: () => string): Promise<string> {
  for (let left = ATTEMPTS; firstCandidate(registry) === undefined; left--) {
    const candidate = newCandidate();
    try {
      await registry.put(`${PREFIX}${candidate}`, JSON.stringify(candidate));
    } catch (error) {
      // Topics that were made a moment ago; another process may be there first. A new candidate: the one may yet come to be
      // in the log, and compaction would keep the later of two records of it.
      if (left <= 1 || !isDependencyError(error, 'event_log_unavailable')) throw error;
    }
  }
  const found = firstCandidate(registry);
  if (found === undefined)
    throw new DependencyError('event_log_damaged', 'the registry has no log_id after it was written');
  return found;
}

function firstCandidate(registry: KafkaTable): string | undefined {
  let first: { readonly value: string; readonly offset: number } | undefined;
  for (const [key, entry] of registry.reserved()) {
    if (key.startsWith(PREFIX) && (first === undefined || entry.offset < first.offset)) first = entry;
  }
  return first === undefined ? undefined : (JSON.parse(first.value) as string);
}
