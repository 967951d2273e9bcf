import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@weir/testkit/eventually';
import { freePort } from '@weir/testkit/free-port';
import { sendHttp } from '@weir/testkit/http-client';
import { createWeirClient, type WeirClient } from '@weir/testkit/weir-client';
import { PROJECT_ROOT } from '@weir/testkit/weir-process';
import type { FillTask } from '../programs/fill-tables.ts';
import { TRAFFIC_SITE } from '../reports/report-traffic.ts';
import type { Bench } from '../scenarios/scenario.ts';
import { ADMIN_TOKEN } from './bench-servers.ts';

const ROWS_DEFAULT = 10_000_000;
const SEED = 1;
const READY_WITHIN_MS = 180_000;
const HIGH_LIMITS = { collect: 100_000_000, events: 100_000_000, identify: 100_000_000 };

/** A Weir with all roles in one process. Its tables contain generated traffic of a year. */
export interface FilledWeir {
  readonly url: string;
  readonly port: number;
  readonly client: WeirClient;
  readonly rows: number;
  stop(): Promise<void>;
}

/**
 * Fills the tables of a data folder, and starts Weir with it. With `--folder`, the folder is kept, and a later run uses the same tables. Use them
 * on the same day only: the traffic ends at the time when it was generated.
 */
export async function startFilledWeir({ programs, rows, folder, note }: Bench): Promise<FilledWeir> {
  const wanted = rows?.[0] ?? ROWS_DEFAULT;
  const dataDir = folder === undefined ? programs.newFolder() : join(folder, `dashboard-${wanted}`);
  mkdirSync(dataDir, { recursive: true });
  const filled = join(dataDir, 'filled.json');
  if (!existsSync(filled)) {
    const task: FillTask = {
      ...{ folder: dataDir, rows: wanted, seed: SEED, endMs: Date.now() },
      clickhouseEntry: programs.path('clickhouse-server'),
      migrationsDir: join(PROJECT_ROOT, 'schemas/clickhouse'),
    };
    writeFileSync(filled, JSON.stringify(await programs.measure<number>('fill-tables', task)));
  }
  const stored = JSON.parse(readFileSync(filled, 'utf8')) as number;
  note(`${stored} rows are in the tables`);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const weir = programs.start('main', [], {
    ...{ WEIR_DATA_DIR: dataDir, PORT: String(port), WEIR_ADMIN_TOKEN: ADMIN_TOKEN, TRUSTED_PROXIES: '127.0.0.1' },
  });
  const ready = async () => (await sendHttp(url, { path: '/readyz' }).catch(() => undefined))?.status === 200;
  await eventually('Weir to be ready', ready, READY_WITHIN_MS);
  const client = createWeirClient([url], ADMIN_TOKEN);
  const known = (await client.must(200, 'GET', '/sites')) as readonly { readonly site_id: string }[];
  if (!known.some(({ site_id }) => site_id === TRAFFIC_SITE)) {
    const site = { site_id: TRAFFIC_SITE, name: 'Bench', domain: 'www.example.com', timezone: 'UTC' };
    await client.must(201, 'POST', '/sites', site);
  }
  await client.must(200, 'PATCH', `/sites/${TRAFFIC_SITE}`, { limits: HIGH_LIMITS });
  return { url, port, client, rows: stored, stop: () => weir.stop() };
}
