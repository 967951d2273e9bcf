import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startEmbeddedClickhouse } from '@weir/embedded-clickhouse/start-embedded-clickhouse';
import { createLogger } from '@weir/runtime/logger';
import { eventually } from '@weir/testkit/eventually';
import { PROJECT_ROOT } from '@weir/testkit/weir-process';
import { type Embedded, openEmbedded } from '../suite/embedded-subject.ts';
import type { Fault } from '../suite/fault.ts';
import { type FaultyProxy, type ProxyMode, startFaultyProxy } from '../suite/faulty-proxy.ts';
import { type Refusal, type RefusingProxy, startRefusingProxy } from '../suite/refusing-proxy.ts';
import { embedded, type Runnable } from '../suite/runnable.ts';

const ENTRY = join(PROJECT_ROOT, 'dist/clickhouse-server.js');
const LEAST_MS = 1_000;
const MOST_MS = { short: 2_500, long: 10_000 } as const;
const REFUSALS_MIN = 3;

/** A Weir that reaches its ClickHouse through two proxies: one disturbs connections, the other one answers inserts with errors. */
interface BehindProxies extends Embedded {
  readonly proxy: FaultyProxy;
  readonly http: RefusingProxy;
  /** Runs a statement in ClickHouse itself. Resolves with the text of its answer. */
  statement(sql: string): Promise<string>;
}

async function openBehindProxies(): Promise<BehindProxies> {
  const dataDir = mkdtempSync(join(tmpdir(), 'weir-behind-proxies-'));
  const server = await startEmbeddedClickhouse({
    dataDir: join(dataDir, 'server'),
    entry: ENTRY,
    logger: createLogger('error'),
  });
  await server.ready();
  const http = await startRefusingProxy(server.url);
  const proxy = await startFaultyProxy(Number(new URL(http.url).port));
  const url = `http://${server.username}:${server.password}@127.0.0.1:${proxy.port}`;
  const opened = await openEmbedded({ dataDir, env: { CLICKHOUSE_URL: url } }, async () => {
    await proxy.close();
    await http.close();
    await server.close();
    rmSync(dataDir, { recursive: true, force: true });
  });
  return {
    ...{ ...opened, proxy, http },
    async statement(sql) {
      const authorization = `Basic ${Buffer.from(`${server.username}:${server.password}`).toString('base64')}`;
      const answer = await fetch(server.url, { method: 'POST', body: sql, headers: { authorization } });
      const text = await answer.text();
      if (!answer.ok) throw new Error(text);
      return text;
    },
  };
}

type ClickhouseFault = Fault<BehindProxies>;
const behindProxies = (name: string, about: string, strike: ClickhouseFault['strike']): ClickhouseFault => ({
  ...{ name, about, strike },
  open: openBehindProxies,
  shares: 'clickhouse behind proxies',
});

const NETWORK: readonly (readonly [mode: ProxyMode, about: string])[] = [
  ['slow', 'data between Weir and ClickHouse is slow'],
  ['silent', 'connections between Weir and ClickHouse hang, and continue later'],
  ['half-open', 'data between Weir and ClickHouse is lost, and the connections stay open'],
  ['reset', 'connections between Weir and ClickHouse are reset when data comes'],
  ['away', 'Weir cannot reach ClickHouse, and its connections are reset'],
];

const REFUSALS: readonly (readonly [name: string, about: string, refusal: Refusal])[] = [
  ['memory', 'ClickHouse refuses inserts, because it has no memory', { code: 241, name: 'MEMORY_LIMIT_EXCEEDED' }],
  [
    'busy',
    'ClickHouse refuses inserts, because too many queries run',
    { code: 202, name: 'TOO_MANY_SIMULTANEOUS_QUERIES' },
  ],
  ['locked', 'ClickHouse refuses inserts, because the table is locked', { code: 473, name: 'DEADLOCK_AVOIDED' }],
  [
    'read-only',
    'ClickHouse refuses inserts, because the table is read-only',
    { code: 242, name: 'TABLE_IS_READ_ONLY' },
  ],
  ['stopping', 'ClickHouse refuses inserts, because it shuts down', { code: 236, name: 'ABORTED' }],
];

const FAULTS: readonly ClickhouseFault[] = [
  ...NETWORK.map(([mode, about]) =>
    behindProxies(`clickhouse-${mode}`, about, async ({ proxy }, { random, short }) => {
      proxy.set(mode);
      await pause(LEAST_MS + random() * ((short ? MOST_MS.short : MOST_MS.long) - LEAST_MS));
      proxy.set('pass');
    }),
  ),
  ...REFUSALS.map(([name, about, refusal]) =>
    behindProxies(`clickhouse-${name}`, about, async ({ http }, { random }) => {
      http.refuse(refusal);
      const times = REFUSALS_MIN + Math.floor(random() * REFUSALS_MIN);
      await eventually('inserts to be refused', () => http.refused() >= times);
      http.refuse(undefined);
    }),
  ),
  behindProxies(
    'too-many-parts',
    '`records` has too many parts, and ClickHouse refuses inserts',
    async ({ statement }, { random, short }) => {
      const errors = async (): Promise<number> =>
        Number(await statement("SELECT sum(value) FROM system.errors WHERE name = 'TOO_MANY_PARTS'"));
      const before = await errors();
      await statement('ALTER TABLE weir.records MODIFY SETTING parts_to_throw_insert = 1');
      await pause(LEAST_MS + random() * ((short ? MOST_MS.short : MOST_MS.long) - LEAST_MS));
      await eventually('ClickHouse to refuse an insert', async () => (await errors()) > before);
      await statement('ALTER TABLE weir.records RESET SETTING parts_to_throw_insert');
    },
  ),
];

export const CLICKHOUSE_FAULTS: readonly Runnable[] = FAULTS.map(embedded);
