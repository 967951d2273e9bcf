import type { Commit, PartitionConsumer, PartitionHandle } from '@weir/ports/event-log';

/** A consumer that can ask to be opened again. It then returns true from `mustReopen`, calls `handle.wake()`, and accepts no more records. */
export interface ReopenableConsumer extends PartitionConsumer {
  mustReopen(): boolean;
}

/**
 * Opens the consumer of a partition. Each time the consumer asks to be opened again, closes it and opens a new one. The new consumer starts at the
 * last commit, as if the partition had been assigned to another process. It gets the records after that commit again.
 */
export async function openReopening(
  handle: PartitionHandle,
  open: (handle: PartitionHandle) => Promise<ReopenableConsumer>,
): Promise<PartitionConsumer> {
  let committed: Commit | undefined = handle.committed;
  const openFromCommit = (): Promise<ReopenableConsumer> =>
    open({
      ...handle,
      committed,
      async commit(commit) {
        await handle.commit(commit);
        committed = commit;
      },
    });
  let consumer = await openFromCommit();

  return {
    async handle(records) {
      if (!consumer.mustReopen()) await consumer.handle(records);
      if (!consumer.mustReopen()) return;
      await consumer.close();
      consumer = await openFromCommit();
      if (committed !== undefined) handle.seek(committed.offset);
    },
    truncated: async (end) => consumer.truncated?.(end),
    close: () => consumer.close(),
  };
}
