import { encodeRawRecord } from '@weir/domain/records/raw-record';
import { TOPIC_RAW } from '@weir/domain/records/topics';
import type { ExpiryChunk } from '@weir/ports/registry';
import { useOpened } from '@weir/testkit/use-opened';
import { expireTables } from '../../src/retention/expire-tables.ts';
import { openReplayHarness } from '../replay-harness.ts';

jest.setTimeout(600_000);

const DAY_MS = 86_400_000;
const NOW = Date.now();
const BEFORE = NOW - 30 * DAY_MS;

let events = 0;
const weir = useOpened(() => openReplayHarness(1));

/**
 * Appends an identify record. All records have the same key and so are in one partition. Those that are 100 days old are therefore in one chunk
 * (expired-rows.ts).
 */
async function identify(site: string, user: string, plan: string, age: number): Promise<void> {
  const eventId = `00000000-0000-7000-9000-${String(++events).padStart(12, '0')}`;
  const receivedAt = NOW - age * DAY_MS;
  const head = { eventId, kind: 'identify', siteId: site, receivedAt, sealedIp: '', userAgent: '' } as const;
  const body = JSON.stringify({ visitor_id: `v-${user}-${age}`, user_id: user, plan });
  const value = encodeRawRecord({ ...head, acceptLanguage: 'en' }, body);
  await weir.eventLog.append(TOPIC_RAW, [{ key: 'all', value }]);
}

async function startExpiry(site: string, change: (statement: string, token?: string) => Promise<void>) {
  const ends: number[] = [];
  for (let partition = 0; partition < weir.eventLog.partitionCount; partition++) {
    ends.push((await weir.analytics.highestRawOffset(weir.eventLog.logId, partition)) + 1);
  }
  const expiry = { expiryId: `of-${site}`, siteIds: [site], before: { profiles: BEFORE }, startedAt: NOW, ends };
  let chunk: ExpiryChunk | undefined;
  return {
    begin: (begun: ExpiryChunk) => {
      chunk = begun;
    },
    run: () =>
      expireTables({
        ...{ analytics: weir.analytics, clock: Date.now, startedAt: NOW, database: 'weir', change },
        ...{ logId: weir.eventLog.logId, expiry: { ...expiry, phase: 'deleting' } },
        lastBegun: () => chunk,
        async begin(begun) {
          chunk = begun;
        },
      }),
  };
}

const rows = (query: string) => weir.analytics.select<Record<string, unknown>>(query);
const outcomes = (site: string, table: string, sum: string) =>
  rows(
    `SELECT outcome, reason, toInt64(${sum}) AS n FROM ${table} WHERE site_id = '${site}' GROUP BY ALL HAVING n != 0 ORDER BY ALL`,
  );

test('a user who identifies while the profile is deleted keeps the new profile, also after a kill', async () => {
  for (const user of ['early', 'late', 'gone']) await identify('shop', user, 'old', 100);
  await weir.settled();
  const comeBack: Readonly<Record<string, string>> = { links_latest: 'early', profiles_latest: 'late' };
  let killed = false;
  const { run } = await startExpiry('shop', async (statement, token) => {
    const user = comeBack[/^ALTER TABLE weir\.(\w+) DELETE/.exec(statement)?.[1] ?? ''];
    if (user !== undefined && !killed) {
      await identify('shop', user, 'new', 0);
      await weir.settled();
    }
    await weir.analytics.change(statement, token);
    if (statement.startsWith('ALTER TABLE weir.profiles_latest') && !killed) {
      killed = true;
      throw new Error('killed');
    }
  });
  await expect(run()).rejects.toThrow('killed');
  await run();
  expect(
    await rows(
      "SELECT user_id, toString(traits.plan) AS plan, visitor_ids FROM profiles WHERE site_id = 'shop' ORDER BY user_id",
    ),
  ).toEqual([
    { user_id: 'early', plan: 'new', visitor_ids: ['v-early-0'] },
    { user_id: 'late', plan: 'new', visitor_ids: ['v-late-0'] },
  ]);
  expect(await outcomes('shop', 'records', 'count()')).toEqual([
    { outcome: 'expired', reason: 'profiles', n: 3 },
    { outcome: 'identify', reason: '', n: 2 },
  ]);
});

test.each([
  ['whose first user was another one', 'one'],
  ['with the same first user, but without another one', 'two'],
] as const)('a page %s is interrupted after its insert: each record expires once', async (_, site) => {
  await weir.call('POST', '/sites', { name: site, domain: 'example.com', site_id: site });
  for (const user of ['a', 'b', 'c']) await identify(site, user, 'old', 100);
  await weir.settled();
  const [first] = await rows(`SELECT profile_id FROM profiles_latest WHERE site_id = '${site}' ORDER BY profile_id`);
  const [place] = await rows(
    `SELECT toYYYYMM(received_at) AS month, toString(log_id) AS log, raw_partition AS part FROM records WHERE site_id = '${site}' AND outcome = 'identify'`,
  );
  const { run, begin } = await startExpiry(site, (statement, token) => weir.analytics.change(statement, token));
  const { month, log, part } = place as { month: number; log: string; part: number };
  const token = `of-${site}:weir:profiles:${site === 'one' ? '0' : first?.profile_id}`;
  begin({ month, logId: log, partition: part, nth: 0, token, at: Date.now() });
  const kept = 'site_id, received_at, outcome, reason, rule_id, enrichment, log_id, raw_partition, raw_offset';
  await weir.analytics.change(
    `INSERT INTO weir.expirations (${kept}, happened_at, expired_as) SELECT ${kept}, received_at, 'profiles'
     FROM weir.records WHERE site_id = '${site}' AND JSONExtractString(detail, 'profile_id') = '${first?.profile_id}'`,
    `${token}:${month}:${log}:${part}:0`,
  );
  await run();
  const expired = [{ outcome: 'expired', reason: 'profiles', n: 3 }];
  expect(await outcomes(site, 'records', 'count()')).toEqual(expired);
  expect(await outcomes(site, 'books', 'sum(records)')).toEqual(expired);
  expect(await weir.count(`SELECT uniqExact(raw_offset) AS n FROM records WHERE site_id = '${site}'`)).toBe(3);
  expect(await weir.count(`SELECT count() AS n FROM profiles_latest WHERE site_id = '${site}'`)).toBe(0);
});
