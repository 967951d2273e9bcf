import { DependencyError } from '@weir/domain/errors';
import { GROUP_ARCHIVER } from '@weir/domain/records/topics';
import type { Commit, EventLog } from '@weir/ports/event-log';
import type { ObjectStore } from '@weir/ports/object-store';
import { expiredStartName, listExpiredStarts } from './expired-start.ts';
import { parseSegmentName, segmentFolder } from './segment-name.ts';
import { decodeSegmentPlan } from './segment-plan.ts';

/**
 * Rejects with `event_log_damaged` if the archive has records of a partition that are not below the archiver's commit. This happens if the log was
 * restored from a backup, or if the commits of the archiver were lost. New records can then get offsets that the archive has for other records, so
 * the archive would mix two histories. `committed`: the archiver's commit. If it is undefined, the function reads the present commit.
 */
export async function assertNoUnknownSegments(
  store: ObjectStore,
  eventLog: Pick<EventLog, 'logId' | 'positions'>,
  {
    topic,
    partition,
    committed,
  }: { readonly topic: string; readonly partition: number; readonly committed?: Commit | undefined },
): Promise<void> {
  const { logId } = eventLog;
  const folder = segmentFolder({ topic, logId, partition });
  // The archive is listed before the commit is read. In the other order, a segment that the archiver stores in between would count as unknown.
  const names: string[] = [];
  for await (const { name } of store.list(folder)) names.push(name);
  const starts = await listExpiredStarts(store, folder);
  const [position] = await eventLog.positions(topic, GROUP_ARCHIVER, [partition]);
  const next = committed?.offset ?? position?.committed ?? position?.first ?? 0;
  // The archiver is about to store this range. Its segment can exist already, and must not count as unknown.
  const plan = decodeSegmentPlan(committed?.metadata ?? position?.metadata ?? '');

  const segments = names.filter((name) => {
    const range = parseSegmentName(name);
    return range !== undefined && range.to >= next && !(range.from === plan?.from && range.to === plan.to);
  });
  const unknown = [...segments, ...starts.filter((start) => start.next > next).map(expiredStartName)];
  if (unknown.length === 0) return;
  throw new DependencyError(
    'event_log_damaged',
    `${topic} partition ${partition} of the log ${logId} is archived before offset ${next}, but the archive has ${unknown.length} objects of later offsets, ` +
      `from ${unknown[0]} to ${unknown.at(-1)}: was the log restored from a backup? Nothing of this partition is archived until these objects are moved to ` +
      'another place: see docs/operations.md, "The archive after a restore"',
  );
}
