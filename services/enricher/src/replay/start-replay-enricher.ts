import { DependencyError } from '@weir/domain/errors';
import type { Analytics } from '@weir/ports/analytics';
import type { EventLog } from '@weir/ports/event-log';
import type { Registry } from '@weir/ports/registry';
import { type Enricher, type EnricherDeps, startEnricher } from '../enricher.ts';
import { createReplayState } from './replay-state.ts';
import { readStateBefore } from './state-before.ts';

export interface ReplayEnricherDeps<Decoded> extends Omit<EnricherDeps<Decoded>, 'answeredIn' | 'limits'> {
  /** The event log of the replay: it begins at the first record of the replay, and its outcomes go to a separate topic. */
  readonly eventLog: EventLog;
  /** The log with the outcomes of the live enricher. They say which records are duplicates. */
  readonly answeredIn: EventLog;
  readonly firstRawOffset: (partition: number) => number;
  /** Reads the live tables. */
  readonly analytics: Pick<Analytics, 'select'>;
}

/** Starts an enricher that enriches raw records again, for a replay from raw: see docs/decisions/0029. */
export function startReplayEnricher<Decoded>(deps: ReplayEnricherDeps<Decoded>): Promise<Enricher> {
  const { eventLog, analytics, firstRawOffset, stateStore } = deps;
  const times = new Map<number, number>();
  return startEnricher({
    ...deps,
    eventLog: withTimes(eventLog, times),
    registry: withoutNewSalts(deps.registry),
    stateStore: createReplayState({
      store: stateStore,
      firstRawOffset,
      stateBefore: ({ logId, partition }, rawOffset) => readStateBefore(analytics, logId, partition, rawOffset),
      logTime: (partition) => times.get(partition) ?? 0,
    }),
  });
}

/** Returns a log that stores in `times`, for each delivered batch, the time at which the first record of the batch was appended. */
export function withTimes(eventLog: EventLog, times: Map<number, number>): EventLog {
  return {
    ...eventLog,
    consume: (options) =>
      eventLog.consume({
        ...options,
        async open(handle) {
          const consumer = await options.open(handle);
          return {
            ...consumer,
            handle(records) {
              const [first] = records;
              if (first !== undefined) times.set(handle.partition, first.appendedAt);
              return consumer.handle(records);
            },
          };
        },
      }),
  };
}

/**
 * Returns a registry that rejects instead of creating a missing salt (docs/glossary.md). With a new salt, the visitors of a day would get other
 * visitor IDs than before.
 */
function withoutNewSalts(registry: Registry): Registry {
  return {
    ...registry,
    async salt(day) {
      const salt = registry.existingSalt(day);
      if (salt !== undefined) return salt;
      throw new DependencyError(
        'event_log_damaged',
        `the salt of ${day} was deleted, so the records of that day cannot be enriched again: drop the replay and start it again`,
      );
    },
  };
}
