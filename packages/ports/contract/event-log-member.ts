import type { AppendRecord, EventLog, PartitionHandle, StoredRecord, Subscription } from '@weir/ports/event-log';
import { eventually } from '@weir/testkit/eventually';

/**
 * How long tests wait until members have joined. On a busy machine a member can fail to join in time. The group then waits up to a minute
 * until the broker removes that member.
 */
export const JOIN_WITHIN_MS = 150_000;

/** Options of a group member that keeps the delivered records for the test. */
export interface MemberOptions {
  readonly group?: string;
  readonly batchRecordsMax?: number;
  readonly batchBytesMax?: number;
  readonly commitEach?: boolean;
  opening?(handle: PartitionHandle): void | Promise<void>;
  before?(handle: PartitionHandle, records: readonly StoredRecord[]): void | Promise<void>;
  closing?(handle: PartitionHandle): void;
}

export interface Member {
  readonly subscription: Subscription;
  readonly handles: ReadonlyMap<number, PartitionHandle>;
  readonly delivered: ReadonlyMap<number, readonly StoredRecord[]>;
  readonly batches: readonly (readonly StoredRecord[])[];
  readonly errors: readonly { error: unknown; partition: number | undefined }[];
  readonly closed: readonly number[];
  readonly opened: number;
  readonly underWay: number;
  total(): number;
  /** Resolves when at least `count` records of the partition were handled. */
  has(partition: number, count: number): Promise<readonly StoredRecord[]>;
}

export async function startMember(log: EventLog, topic: string, options: MemberOptions): Promise<Member> {
  const handles = new Map<number, PartitionHandle>();
  const delivered = new Map<number, StoredRecord[]>();
  const batches: (readonly StoredRecord[])[] = [];
  const errors: { error: unknown; partition: number | undefined }[] = [];
  const closed: number[] = [];
  let opened = 0;
  let underWay = 0;
  const { batchRecordsMax, batchBytesMax } = options;
  const subscription = await log.consume({
    topic,
    group: options.group ?? 'group',
    ...(batchRecordsMax === undefined ? {} : { batchRecordsMax }),
    ...(batchBytesMax === undefined ? {} : { batchBytesMax }),
    onError: (error, partition) => errors.push({ error, partition }),
    async open(handle) {
      await options.opening?.(handle);
      opened += 1;
      handles.set(handle.partition, handle);
      return {
        async handle(records) {
          underWay += 1;
          await options.before?.(handle, records);
          batches.push(records);
          delivered.set(handle.partition, [...(delivered.get(handle.partition) ?? []), ...records]);
          if (options.commitEach && records.length > 0)
            await handle.commit({ offset: records.at(-1)!.offset + 1, metadata: '' });
          underWay -= 1;
        },
        async close() {
          options.closing?.(handle);
          closed.push(handle.partition);
        },
      };
    },
  });
  return {
    subscription,
    handles,
    delivered,
    batches,
    errors,
    closed,
    get opened() {
      return opened;
    },
    get underWay() {
      return underWay;
    },
    total: () => [...delivered.values()].reduce((sum, { length }) => sum + length, 0),
    has: (partition, count) =>
      eventually(
        `${count} records of partition ${partition}`,
        () => {
          const records = delivered.get(partition) ?? [];
          return records.length >= count && records;
        },
        JOIN_WITHIN_MS,
      ),
  };
}

export function record(value: string, key?: string): AppendRecord {
  return { value: Buffer.from(value), ...(key === undefined ? {} : { key }) };
}

export function text(stored: StoredRecord): string {
  return Buffer.from(stored.value).toString();
}
