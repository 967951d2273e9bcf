import { TOPIC_RAW } from '@weir/domain/records/topics';
import type { EventLog } from '@weir/ports/event-log';

/** Returns the bytes of a record of `events.raw`. Undefined if retention has removed the record. */
export async function readRawRecord(
  eventLog: Pick<EventLog, 'read'>,
  partition: number,
  offset: number,
): Promise<Uint8Array | undefined> {
  // A limit of one byte is enough to read one record, because the log returns at least one record for any limit.
  const [stored] = await eventLog.read(TOPIC_RAW, partition, offset, 1);
  return stored?.offset === offset ? Uint8Array.from(stored.value) : undefined;
}
