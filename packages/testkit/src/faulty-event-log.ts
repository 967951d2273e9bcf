import type { AppendOutcome, AppendRecord, EventLog } from '@weir/ports/event-log';
import { type FaultPoint, withFaults } from './fault-points.ts';

/**
 * `stored-unknown`: stored, but reported as `unknown`. `lost-unknown`: not stored, and reported as `unknown`. `half`: the first half
 * is stored; the other half is not stored, and reported as `unknown`.
 */
export type AppendFault = 'none' | 'refused' | 'stored-unknown' | 'lost-unknown' | 'half';

/** Wraps the real log. `point` can cause faults at append, commit, read and offsetsAtTime. `appendFault` selects the result of an append. */
export function createFaultyEventLog(
  log: EventLog,
  point: FaultPoint,
  appendFault: (topic: string) => AppendFault = () => 'none',
): EventLog {
  return {
    ...log,
    append: (topic, records) =>
      withFaults(point, 'append', () => append(log, topic, records, appendFault(topic)), topic),
    offsetsAtTime: (topic, timeMs) => withFaults(point, 'offsetsAtTime', () => log.offsetsAtTime(topic, timeMs)),
    read: (...of) => withFaults(point, 'read', () => log.read(...of)),
    consume: (options) =>
      log.consume({
        ...options,
        open: (handle) =>
          options.open({
            ...handle,
            commit: (commit) =>
              withFaults(point, 'commit', () => handle.commit(commit), `${options.topic} ${commit.metadata}`),
          }),
      }),
  };
}

async function append(
  log: EventLog,
  topic: string,
  records: readonly AppendRecord[],
  fault: AppendFault,
): Promise<readonly AppendOutcome[]> {
  const all = (outcome: AppendOutcome, from = 0): AppendOutcome[] => records.slice(from).map(() => outcome);
  switch (fault) {
    case 'none':
      return log.append(topic, records);
    case 'refused':
      return all({ status: 'refused', reason: 'test' });
    case 'lost-unknown':
      return all({ status: 'unknown', reason: 'test' });
    case 'stored-unknown':
      await log.append(topic, records);
      return all({ status: 'unknown', reason: 'test' });
    case 'half': {
      const half = Math.floor(records.length / 2);
      const stored = await log.append(topic, records.slice(0, half));
      return [...stored, ...all({ status: 'unknown', reason: 'test' }, half)];
    }
  }
}
