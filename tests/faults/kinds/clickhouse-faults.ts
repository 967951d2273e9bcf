import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedClickhouse } from '@weir/embedded-clickhouse/start-embedded-clickhouse';
import { createLogger } from '@weir/runtime/logger';
import { PROJECT_ROOT } from '@weir/testkit/weir-process';
import { type BehindProxies, clickhouseBehindProxies } from '../suite/clickhouse-behind-proxies.ts';
import { startClickhouseProxies } from '../suite/clickhouse-proxies.ts';
import { type Embedded, openEmbedded } from '../suite/embedded-subject.ts';
import { embedded, type Runnable } from '../suite/runnable.ts';

const ENTRY = join(PROJECT_ROOT, 'dist/clickhouse-server.js');

async function openBehindProxies(): Promise<Embedded & BehindProxies> {
  const dataDir = mkdtempSync(join(tmpdir(), 'weir-behind-proxies-'));
  const server = await startEmbeddedClickhouse({
    dataDir: join(dataDir, 'server'),
    entry: ENTRY,
    logger: createLogger('error'),
  });
  await server.ready();
  const { host } = new URL(server.url);
  const clickhouse = await startClickhouseProxies(`http://${server.username}:${server.password}@${host}`);
  const opened = await openEmbedded({ dataDir, env: { CLICKHOUSE_URL: clickhouse.url } }, async () => {
    await clickhouse.close();
    await server.close();
    rmSync(dataDir, { recursive: true, force: true });
  });
  return { ...opened, clickhouse };
}

export const CLICKHOUSE_FAULTS: readonly Runnable[] = clickhouseBehindProxies({
  open: openBehindProxies,
  shares: 'clickhouse behind proxies',
}).map(embedded);
