import type { AppendOutcome, AppendRecord, EventLog } from '@weir/ports/event-log';
import { type FaultPoint, passing } from './fault-points.ts';

/** `stored-unknown`: stored, but nobody says so. `half`: the first half is stored, the rest `unknown` and not stored. */
export type AppendFault = 'none' | 'refused' | 'stored-unknown' | 'lost-unknown' | 'half';

/** The real log, with faults: at points (append, commit, offsetsAtTime) and in the outcomes of appends. */
export function createFaultyEventLog(
  log: EventLog,
  point: FaultPoint,
  appendFault: (topic: string) => AppendFault = () => 'none',
): EventLog {
  return {
    ...log,
    append: (topic, records) => passing(point, 'append', () => append(log, topic, records, appendFault(topic))),
    offsetsAtTime: (topic, timeMs) => passing(point, 'offsetsAtTime', () => log.offsetsAtTime(topic, timeMs)),
    consume: (options) =>
      log.consume({
        ...options,
        open: (handle) =>
          options.open({
            ...handle,
            commit: (commit) => passing(point, 'commit', () => handle.commit(commit)),
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
