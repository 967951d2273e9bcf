import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DependencyError } from '@weir/domain/errors';
import type { WritersPause } from '@weir/ports/registry';
import { createLogger } from '@weir/runtime/logger';
import { eventually } from '@weir/testkit/eventually';
import { type BackupSourceDeps, createBackupSource } from '../src/backup/backup-source.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'weir-backup-source-'));
afterAll(() => rmSync(dataDir, { recursive: true }));

test('if the event log stores the request for a pause, but neither its answer nor its end, the pause is ended later', async () => {
  let pause: WritersPause | undefined;
  let failures = 2;
  const registry = {
    writersPause: () => pause,
    expiry: () => undefined,
    erasures: () => [],
    async putWritersPause(next: WritersPause) {
      if (!next.over) pause = next;
      if (failures-- > 0) throw new DependencyError('event_log_unavailable', 'the disk is full');
      pause = next;
    },
  };
  const eventLog = { logId: 'log', positions: async () => [{ partition: 0 }] };
  const deps = { dataDir, database: 'weir', analytics: {}, registry, eventLog, clock: Date.now };
  const source = createBackupSource({ ...deps, logger: createLogger('silent') } as unknown as BackupSourceDeps);
  await expect(source.freezeTables()).rejects.toMatchObject({ code: 'event_log_unavailable' });
  expect(pause?.over).toBe(false);
  await eventually('the end of the pause', async () => pause?.over === true);
  await eventually('the file of the pause to be removed', async () => !existsSync(join(dataDir, 'backup-pause')));
});
