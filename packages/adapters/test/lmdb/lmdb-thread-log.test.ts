import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MessageChannel } from 'node:worker_threads';
import { linkThreads, type ThreadLink } from '@weir/runtime/thread-link';
import { eventually } from '@weir/testkit/eventually';
import { type EventLogFixture, eventLogContract } from '../../../ports/contract/event-log.contract.ts';
import { openLmdbEventLog } from '../../src/lmdb/lmdb-event-log.ts';
import { type LogOwner, openThreadLog, type ThreadLog } from '../../src/lmdb/thread/lmdb-thread-log.ts';

const PENDING_BYTES_MAX = 5_000_000;

type OwnerCalls = Omit<LogOwner, 'logId' | 'partitionCount'>;
type ThreadCalls = Pick<ThreadLog, 'advance' | 'changeRow'>;

/** Opens a log twice: as the thread that owns it, and as a thread that sends messages to the owner. */
async function openBoth(folder: string) {
  const owned = await openLmdbEventLog({
    ...{ folder, partitions: 3, clock: Date.now },
    retentionMs: () => 3600_000,
    pendingBytesMax: PENDING_BYTES_MAX,
  });
  const { port1, port2 } = new MessageChannel();
  const { appendEntries, commit, follow, logId, partitionCount } = owned.forThread;
  const toThread: ThreadLink<ThreadCalls> = linkThreads<ThreadCalls>(port1, {
    appendEntries,
    commit,
    follow: (topic: string) => follow(topic, (partition, end) => toThread.tell('advance', [topic, partition, end])),
    removeBefore: owned.removeBefore,
    ping: owned.ping,
    async openTable(name: string) {
      const table = await owned.openTable(name);
      table.onChange((key, value) => toThread.tell('changeRow', [name, key, value]));
      return [...table.entries()];
    },
    async putRow(name: string, key: string, value: string | undefined) {
      await (await owned.openTable(name)).put(key, value);
    },
  });
  const toOwner = linkThreads<OwnerCalls>(port2, {
    advance: (...args: Parameters<ThreadLog['advance']>) => thread.advance(...args),
    changeRow: (...args: Parameters<ThreadLog['changeRow']>) => thread.changeRow(...args),
  });
  const thread = openThreadLog(folder, {
    logId,
    partitionCount,
    appendEntries: (topic, partition, entries) =>
      toOwner.call(
        'appendEntries',
        [topic, partition, entries],
        entries.map(({ bytes }) => bytes.buffer as ArrayBuffer),
      ),
    commit: (...args) => toOwner.call('commit', args),
    follow: (topic) => toOwner.call('follow', [topic]),
    removeBefore: (...args) => toOwner.call('removeBefore', args),
    openTable: (name) => toOwner.call('openTable', [name]),
    putRow: (...args) => toOwner.call('putRow', args),
    ping: () => toOwner.call('ping', []),
  });
  return {
    owned,
    thread,
    async close() {
      await thread.close();
      await owned.close();
      port1.close();
    },
  };
}

async function openFixture(): Promise<EventLogFixture> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-log-'));
  let both = await openBoth(folder);
  let names = 0;
  return {
    get log() {
      return both.thread;
    },
    another: async () => both.thread,
    async reopen() {
      await both.close();
      both = await openBoth(folder);
      return both.thread;
    },
    tooManyBytes: PENDING_BYTES_MAX * 0.4,
    newTopic: async () => `topic.${names++}`,
    newTable: async () => `table.${names++}`,
    async spawnWriter(topic) {
      await both.close();
      const script = require.resolve('./lmdb-append-forever.ts');
      return spawn(process.execPath, ['--import', 'tsx', script, folder, topic], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
    },
    async close() {
      await both.close();
      await rm(folder, { recursive: true });
    },
  };
}

eventLogContract('the LMDB event log of another thread', openFixture);

describe('the LMDB event log of another thread', () => {
  it('applies the change of a table before it shows a record that was appended after the change', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'weir-log-'));
    const both = await openBoth(folder);
    const table = await both.thread.openTable('rules');
    const rules = await both.owned.openTable('rules');
    const missed: number[] = [];
    let seen = 0;
    const subscription = await both.thread.consume({
      topic: 'raw',
      group: 'enricher',
      onError: (error) => {
        throw error;
      },
      open: async () => ({
        async handle(records) {
          for (const { value } of records) {
            const n = Number(Buffer.from(value).toString());
            if (!table.entries().has(`rule ${n}`)) missed.push(n);
            seen += 1;
          }
        },
        close: async () => undefined,
      }),
    });
    const rounds = 300;
    for (let n = 0; n < rounds; n++) {
      await rules.put(`rule ${n}`, '1');
      await both.owned.append('raw', [{ partition: n % 3, value: Buffer.from(String(n)) }]);
    }
    while (seen < rounds) await new Promise(setImmediate);
    expect(missed).toEqual([]);
    await subscription.close();
    await both.close();
    await rm(folder, { recursive: true });
  });

  it('knows the time of the oldest record that a group has not committed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'weir-log-'));
    const both = await openBoth(folder);
    const logs = [both.owned, both.thread];
    const times = () => Promise.all(logs.map((log) => log.oldestUnreadAt('raw', 'enricher')));
    expect(await times()).toEqual([Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]);
    for (const partition of [1, 0, 1]) await both.owned.append('raw', [{ partition, value: Buffer.from('x') }]);
    const [first, last] = await both.owned.read('raw', 1, 0, 100);
    await eventually('the first record', async () => (await times()).every((time) => time === first?.appendedAt));
    const subscription = await both.thread.consume({
      topic: 'raw',
      group: 'enricher',
      onError: (error) => {
        throw error;
      },
      open: async ({ partition, commit }) => ({
        handle: () => commit({ offset: partition === 0 ? 1 : 2, metadata: '' }),
        close: async () => undefined,
      }),
    });
    await eventually('no unread record', async () =>
      (await times()).every((time) => time === Number.POSITIVE_INFINITY),
    );
    await subscription.close();
    await both.thread.append('raw', [{ partition: 2, value: Buffer.from('x') }]);
    await eventually('a new record', async () =>
      (await times()).every((time) => time >= (last?.appendedAt ?? 0) && time < 1e15),
    );
    await both.close();
    await expect(both.thread.oldestUnreadAt('raw', 'enricher')).rejects.toMatchObject({
      code: 'event_log_unavailable',
    });
    await expect(both.owned.oldestUnreadAt('raw', 'enricher')).rejects.toMatchObject({ code: 'event_log_unavailable' });
    await rm(folder, { recursive: true });
  });
});
