import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EventLog } from '@weir/ports/event-log';
import { type EventLogFixture, eventLogContract } from '../../../ports/contract/event-log.contract.ts';
import { openLmdbEventLog } from '../../src/lmdb/lmdb-event-log.ts';

const PENDING_BYTES_MAX = 5_000_000;

async function openFixture(): Promise<EventLogFixture> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-log-'));
  const open = () =>
    openLmdbEventLog({
      folder,
      partitions: 3,
      clock: Date.now,
      retentionMs: () => 3600_000,
      pendingBytesMax: PENDING_BYTES_MAX,
    });
  let log: EventLog = await open();
  let names = 0;
  return {
    get log() {
      return log;
    },
    another: async () => log,
    async reopen() {
      await log.close();
      log = await open();
      return log;
    },
    tooManyBytes: PENDING_BYTES_MAX * 0.4,
    newTopic: async () => `topic.${names++}`,
    newTable: async () => `table.${names++}`,
    async spawnWriter(topic) {
      await log.close();
      const script = require.resolve('./lmdb-append-forever.ts');
      return spawn(process.execPath, ['--import', 'tsx', script, folder, topic], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
    },
    async close() {
      await log.close();
      await rm(folder, { recursive: true });
    },
  };
}

eventLogContract('the LMDB event log', openFixture);
