import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@weir/testkit/eventually';
import type { WeirClient } from '@weir/testkit/weir-client';
import type { Weir } from '../src/startup/start-weir.ts';
import { CHROME, startWithClock } from './start-with-clock.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const EVENING = Date.UTC(2026, 4, 1, 23, 50);

/** The time of Weir's clock, which the test sets. All started roles run in this process. */
let now = EVENING;
const dataDir = mkdtempSync(join(tmpdir(), 'weir-midnight-'));
let weir: Weir | undefined;
let client: WeirClient;
let site: string;

beforeAll(async () => {
  const env = { WEIR_DATA_DIR: dataDir, WEIR_GUARD_INTERVAL_SECONDS: '1' };
  ({ weir, client } = await startWithClock(() => now, env));
  site = await client.createSite();
});
afterAll(async () => {
  await weir?.close();
  rmSync(dataDir, { recursive: true });
});

async function hitAt(time: number, path: string): Promise<void> {
  now = time;
  const url = `https://example.com${path}`;
  const answer = await client.collect(
    { site_id: site, visitor_id: '', session_id: '', type: 'pageview', url },
    { 'user-agent': CHROME },
  );
  expect(answer.status).toBe(204);
}

/** The files below the data folder that contain these bytes. */
function filesWith(bytes: Buffer): string[] {
  try {
    return readdirSync(dataDir, { recursive: true, encoding: 'utf8' })
      .filter((name) => {
        const path = join(dataDir, name);
        return statSync(path).isFile() && readFileSync(path).includes(bytes);
      })
      .toSorted();
  } catch (error) {
    // ClickHouse may delete merged parts at any time. The search then begins again.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return filesWith(bytes);
    throw error;
  }
}

/** The salts in the data folder, by day. */
function saltsOnDisk(): ReadonlyMap<string, string> {
  const rows = JSON.parse(readFileSync(join(dataDir, 'log', 'salts.json'), 'utf8')) as [string, string][];
  return new Map(rows.map(([key, value]) => [key.split('/')[1] ?? '', (JSON.parse(value) as { salt: string }).salt]));
}

describe('cookieless visitors at midnight', () => {
  test('hits at 23:50 and 00:10 UTC belong to one visit', async () => {
    await hitAt(EVENING, '/before');
    await hitAt(EVENING + 20 * MINUTE_MS, '/after');
    await hitAt(EVENING + 50 * MINUTE_MS, '/goes-on');
    // The visitor was idle for 40 minutes, so this hit gets the visitor ID of the new day.
    await hitAt(EVENING + 90 * MINUTE_MS, '/next-visit');
    const events = await client.rows('events', site, 4, 'pathname, visitor_id, session_id');
    const of = (path: string) => events.find(({ pathname }) => pathname === path);
    expect(of('/after')).toMatchObject({
      visitor_id: of('/before')?.visitor_id,
      session_id: of('/before')?.session_id,
    });
    expect(of('/next-visit')?.visitor_id).not.toBe(of('/before')?.visitor_id);
    const columns = 'session_id, visitor_id, pageviews, duration_seconds, entry_path, exit_path';
    const sessions = await client.rows('sessions', site, 2, columns);
    expect(sessions.toSorted((a, b) => Number(b.pageviews) - Number(a.pageviews))).toEqual([
      {
        session_id: of('/before')?.session_id,
        visitor_id: of('/before')?.visitor_id,
        pageviews: 3,
        duration_seconds: 50 * 60,
        entry_path: '/before',
        exit_path: '/goes-on',
      },
      expect.objectContaining({ visitor_id: of('/next-visit')?.visitor_id, pageviews: 1, entry_path: '/next-visit' }),
    ]);
  });

  test('salts older than the raw retention are deleted from the disk', async () => {
    const salts = saltsOnDisk();
    expect([...salts.keys()]).toEqual(['2026-05-01', '2026-05-02']);
    for (const salt of salts.values()) {
      expect(salt).toMatch(/^[0-9a-f]{64}$/);
      expect(filesWith(Buffer.from(salt))).toEqual([join('log', 'salts.json')]);
    }
    // The records of 1 May are kept until 72 hours after the end of that day, and the salt is kept two minutes longer.
    const endOfFirst = Date.UTC(2026, 4, 2) + 3 * DAY_MS;
    await hitAt(endOfFirst, '/later');
    await client.rows('events', site, 5, 'pathname');
    expect([...saltsOnDisk().keys()]).toEqual(['2026-05-01', '2026-05-02', '2026-05-05']);
    now = endOfFirst + 2 * MINUTE_MS;
    await eventually('the first salt to go', () => !saltsOnDisk().has('2026-05-01'));
    await hitAt(endOfFirst + DAY_MS + 2 * MINUTE_MS, '/still-later');
    await eventually('the second salt to go', () => !saltsOnDisk().has('2026-05-02'));
    await weir?.close();
    weir = undefined;
    for (const salt of salts.values()) {
      expect(filesWith(Buffer.from(salt))).toEqual([]);
      expect(filesWith(Buffer.from(salt, 'hex'))).toEqual([]);
    }
  });
});
