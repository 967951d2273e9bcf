import { DependencyError } from '@weir/domain/errors';
import { HEADER_REPLAY } from '@weir/domain/records/records-columns';
import {
  GROUP_REPLAY_ENRICHER,
  GROUP_REPLAY_WRITER,
  TOPIC_ENRICHED,
  TOPIC_RAW,
  TOPIC_REPLAYED,
} from '@weir/domain/records/topics';
import type { ReplayStart } from '@weir/domain/registry/replay';
import type { EventLog, StoredRecord } from '@weir/ports/event-log';
import type { RedrivenRows } from '../../dead-letters/redriven-rows.ts';
import type { ReplayGate } from '../replay-gate.ts';
import { committedOf, ofRun, openAdmitting } from '../replay-log.ts';

export interface RawLogDeps {
  readonly eventLog: EventLog;
  readonly run: string;
  readonly starts: readonly ReplayStart[];
  readonly gate: ReplayGate;
  readonly clock: () => number;
  readonly redriven: Pick<RedrivenRows, 'isHidden'>;
  readonly rawRetentionMs: number;
}

/**
 * The replay stops at a record that expires within this time (at most a quarter of the retention), because the salts (docs/glossary.md) of the record
 * could be deleted before the enricher processes it.
 */
const TIME_LEFT_MS = 5 * 3600_000;
const NO_BYTES = new Uint8Array(0);

/**
 * Returns an event log for the enricher of a replay. Its `events.raw` begins with the first record of the replay, and delivers only the records that
 * the gate (replay-gate.ts) admits. Its `events.enriched` is the topic `events.replayed`.
 */
export function createRawLog(deps: RawLogDeps): EventLog {
  const { eventLog, run, starts, gate, clock, redriven, rawRetentionMs } = deps;
  const firstOf = (partition: number): number => starts[partition]?.rawOffset ?? 0;
  const nameOf = (topic: string): string => (topic === TOPIC_ENRICHED ? TOPIC_REPLAYED : topic);
  const ageMaxMs = rawRetentionMs - Math.min(TIME_LEFT_MS, rawRetentionMs / 4);

  function assertNotExpiring({ offset, appendedAt }: StoredRecord): void {
    if (clock() - appendedAt <= ageMaxMs) return;
    throw new DependencyError(
      'event_log_damaged',
      `the raw record ${offset} expires before it was enriched again: drop the replay, and start it again with a higher rate`,
    );
  }

  /**
   * If a record became a dead letter in the live enricher and was redriven, removes the bytes of the record (redriven-rows.ts). Without bytes, the
   * record becomes a dead letter in the replay too. The writer of the replay then stores the dead letter of the live tables instead.
   */
  const hidden = (partition: number, record: StoredRecord): StoredRecord =>
    redriven.isHidden(eventLog.logId, partition, record.offset) ? { ...record, value: NO_BYTES } : record;

  return {
    ...eventLog,
    append: (topic, records) =>
      eventLog.append(
        nameOf(topic),
        records.map((record) => ({ ...record, headers: { ...record.headers, [HEADER_REPLAY]: run } })),
      ),
    consume: (options) =>
      eventLog.consume({
        ...options,
        group: GROUP_REPLAY_ENRICHER,
        open(handle) {
          const own = ofRun(handle, run);
          const { committed = { offset: firstOf(handle.partition), metadata: '' } } = own;
          return openAdmitting(
            { ...own, committed },
            async (admitted) => {
              const consumer = await options.open(admitted);
              if (own.committed === undefined) handle.seek(committed.offset);
              return {
                ...consumer,
                handle: (records) => consumer.handle(records.map((record) => hidden(handle.partition, record))),
              };
            },
            {
              gate,
              async admit(records) {
                assertNotExpiring(records[0] as StoredRecord);
                const offsets = records.map(({ offset }) => offset);
                return gate.admit(handle.partition, offsets, handle.signal);
              },
            },
          );
        },
      }),
    async positions(topic, _group, ...more) {
      const group = topic === TOPIC_RAW ? GROUP_REPLAY_ENRICHER : GROUP_REPLAY_WRITER;
      const positions = await eventLog.positions(nameOf(topic), group, ...more);
      if (topic !== TOPIC_RAW) return positions;
      return positions.map((position) => {
        const first = firstOf(position.partition);
        return { ...position, first: Math.max(first, position.first), committed: committedOf(run, position) ?? first };
      });
    },
    async offsetsAtTime(topic, timeMs) {
      const found = await eventLog.offsetsAtTime(nameOf(topic), timeMs);
      return topic === TOPIC_RAW ? found.map((offset, partition) => Math.max(offset, firstOf(partition))) : found;
    },
    async read(topic, partition, from, bytesMax) {
      const records = await eventLog.read(nameOf(topic), partition, from, bytesMax);
      // Removes the headers of records of other replays. Without headers, a record has no raw offset, so the enricher ignores it.
      return topic === TOPIC_ENRICHED
        ? records.map((record) => (isOfRun(record, run) ? record : { ...record, headers: {} }))
        : records;
    },
  };
}

/** Whether this run has appended the record. A process that was paused for a long time can still append records of an earlier run. */
export function isOfRun({ headers }: StoredRecord, run: string): boolean {
  return headers[HEADER_REPLAY] === run;
}
