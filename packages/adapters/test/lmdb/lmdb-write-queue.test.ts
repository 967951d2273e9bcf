import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'lmdb';
import { openFileSpace } from '../../src/lmdb/lmdb-file-space.ts';
import { createWriteQueue, type WriteFailure } from '../../src/lmdb/lmdb-write-queue.ts';

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
