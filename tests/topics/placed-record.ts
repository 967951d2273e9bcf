import { GROUP_WRITER } from '@weir/domain/records/topics';
import type { EventLog, StoredRecord } from '@weir/ports/event-log';

export interface PlacedRecord extends StoredRecord {
  readonly partition: number;
}

/** Reads all records of a topic that the log still has. */
export async function readAll(log: EventLog, topic: string): Promise<readonly PlacedRecord[]> {
  const positions = await log.positions(topic, GROUP_WRITER);
  const records = positions.map(async ({ partition, first }) =>
    (await log.read(topic, partition, first, 1e9)).map((record) => ({ ...record, partition })),
  );
  return (await Promise.all(records)).flat();
}

export async function rowsOf(log: EventLog, name: string): Promise<readonly (readonly [string, string])[]> {
  const table = await log.openTable(name);
  const rows = [...table.entries()];
  await table.close();
  return rows;
}

export const text = ({ value }: StoredRecord): string => Buffer.from(value).toString();
