import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open, type RootDatabase } from 'lmdb';
import { openFileSpace } from '../../src/lmdb/lmdb-file-space.ts';
import { createPartitionLog } from '../../src/lmdb/lmdb-partition-log.ts';
import type { Ends, Entries } from '../../src/lmdb/lmdb-partition-reads.ts';
import { createWriteQueue, submitWrite, type WriteFailure } from '../../src/lmdb/lmdb-write-queue.ts';
import type { ExpiringRows } from '../../src/lmdb/state/lmdb-expiring-rows.ts';
import { createKeyClaims } from '../../src/lmdb/state/lmdb-key-claims.ts';

test('if a job throws while it is staged, the result of its transaction is unknown, and later jobs are refused', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-writes-'));
  const env = open({ path: folder, eventTurnBatching: false });
  const fileSpace = await openFileSpace(join(folder, 'data.mdb'), env, undefined);
  const writes = createWriteQueue(env, fileSpace, Date.now);
  const submit = (stage: () => void): Promise<WriteFailure | undefined> =>
    new Promise((settle) => writes.submit({ stage, size: () => ({ keys: 4, bytes: 1024 }), settle }));

  const before = submit(() => void env.put('first', 1));
  const failing = submit(() => {
    throw new Error('cannot encode');
  });
  const unknown = { known: false, reason: 'cannot encode' };
  expect(await Promise.all([before, failing])).toMatchObject([unknown, unknown]);
  expect(await submit(() => void env.put('later', 1))).toMatchObject({ known: true });
  expect(env.get('later')).toBeUndefined();
  await fileSpace.close();
  await env.close();
  await rm(folder, { recursive: true });
});

/** An environment whose writes fail. After the first failure, all calls fail with MDB_PANIC, as after a failed write of LMDB's meta page. */
function panicked() {
  let broken = false;
  const read = (): never[] => {
    if (broken) throw new Error('MDB_PANIC: Update of meta page failed or environment had fatal error');
    return [];
  };
  const env = {
    async batch(stage: () => void) {
      stage();
      broken = true;
      return read();
    },
    resetReadTxn: read,
    getKeysCount: read,
    get: (): undefined => void read(),
    getKeys: read,
    put: () => undefined,
  };
  const space = { free: () => 1e9, boundOf: () => 0 };
  const fileSpace = { read: () => space, grow: async () => undefined, topUp() {}, async close() {} };
  return { env, writes: createWriteQueue(env as unknown as RootDatabase, fileSpace, Date.now) };
}

test('after a failed write of the meta page, each job is settled once, as unknown, and later jobs are refused', async () => {
  const { env, writes } = panicked();
  const entries = env as unknown as Entries;
  const log = createPartitionLog('t', 0, { entries, ends: env as unknown as Ends, writes, clock: Date.now });
  const outcomes: unknown[] = [];
  const append = (): void => log.append(Buffer.from('x'), '', ({ status }, nth) => outcomes.push([status, nth]), 0);
  append();
  append();
  const after = submitWrite(writes, 'event_log_unavailable', () => undefined);
  await expect(after).rejects.toMatchObject({ code: 'event_log_unavailable' });
  append();
  await writes.idle();
  expect(outcomes).toEqual([
    ['unknown', 0],
    ['unknown', 0],
    ['refused', 0],
  ]);
  expect(log.end()).toBe(0);
});

test('claims that LMDB cannot read are a failure of the state store', async () => {
  const { env, writes } = panicked();
  const claims = createKeyClaims(env as unknown as ExpiringRows, writes, Date.now, 10);
  const key = { siteId: 's', key: 'k', owner: 'o' };
  expect(claims.claim([key])).toEqual(['claimed']);
  await expect(claims.confirm([key])).rejects.toMatchObject({ code: 'state_store_unavailable' });
  expect(() => claims.claim([key])).toThrow(expect.objectContaining({ code: 'state_store_unavailable' }));
});
