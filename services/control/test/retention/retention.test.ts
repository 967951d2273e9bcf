import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { encodeRawRecord, type RecordKind } from '@weir/domain/records/raw-record';
import { TOPIC_RAW } from '@weir/domain/records/topics';
import type { ExpiryChunk } from '@weir/ports/registry';
import { eventually as eventuallyWithin } from '@weir/testkit/eventually';
import { useOpened } from '@weir/testkit/use-opened';
import { openReplayHarness } from '../replay-harness.ts';

/** How long the tests wait. The time is long, because other test suites can run at the same time. */
const WITHIN_MS = 180_000;
jest.setTimeout(5 * WITHIN_MS);

const DAY_MS = 86_400_000;
const AGES = [100, 40, 20, 5, 0] as const;
const NOW = Date.now();
const ENDS = 10;
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const SITES = ['kept', 'limited'] as const;

let events = 0;
const weir = useOpened(() => openReplayHarness(3));
beforeAll(async () => {
  for (const site of SITES) await weir.call('POST', '/sites', { name: site, domain: 'example.com', site_id: site });
  for (const site of SITES) for (const age of AGES) await past(site, age);
  await weir.settled();
});

async function append(site: string, age: number, kind: RecordKind, body: object): Promise<void> {
  const eventId = `00000000-0000-7000-9000-${String(++events).padStart(12, '0')}`;
  const receivedAt = NOW - age * DAY_MS;
  const head = { eventId, kind, siteId: site, receivedAt, sealedIp: '', userAgent: FIREFOX, acceptLanguage: 'en' };
  await weir.eventLog.append(TOPIC_RAW, [{ key: 'all', value: encodeRawRecord(head, JSON.stringify(body)) }]);
}

/** Appends records of this age in days: of a person who came only once, and of the person `often`, who came every time. */
async function past(site: string, age: number): Promise<void> {
  for (const who of [`once-${age}`, 'often']) {
    const page = {
      site_id: site,
      type: 'pageview',
      visitor_id: who,
      session_id: `${who}-${age}`,
      url: `https://example.com/${age}`,
    };
    await append(site, age, 'collect', page);
    if (who !== 'often' || age === 100) {
      await append(site, age, 'identify', { visitor_id: who, user_id: `user-${who}`, plan: `plan-${who}` });
    }
    const paid = { name: 'paid', value: '5', visitor_id: who, properties: { currency: 'EUR' } };
    await append(site, age, 'event', { ...paid, idempotency_key: `${who}-${age}` });
  }
}

const eventually: typeof eventuallyWithin = (what, probe) => eventuallyWithin(what, probe, WITHIN_MS);
const rows = (query: string) => weir.analytics.select<Record<string, unknown>>(query);
const column = async (query: string) => (await rows(query)).map((row) => Object.values(row)[0]);

async function setKeep(keep: object, status = 200): Promise<void> {
  const answer = await weir.call('PATCH', '/sites/limited', { keep });
  expect([answer.status, answer.body]).toEqual([status, expect.anything()]);
}

async function expired(): Promise<void> {
  await eventually('nothing to be left to expire', async () => {
    const left = await weir.count(
      "SELECT count() AS n FROM records WHERE site_id = 'limited' AND outcome IN ('row', 'dead') AND received_at < now() - INTERVAL 11 DAY",
    );
    return left === 0 && weir.registry.expiry() === undefined;
  });
  await eventually('the sessions to expire', async () => {
    const left = await weir.count(
      "SELECT count() AS n FROM sessions_kept WHERE site_id = 'limited' AND visited AND ended_at < now() - INTERVAL 61 DAY",
    );
    return left === 0 && weir.registry.expiry() === undefined;
  });
}

/** The rows of a site in several tables and views, in a form that is easy to compare. */
async function contents(site: string, database = 'weir') {
  const from = (table: string) => `FROM ${database}.${table} WHERE site_id = '${site}'`;
  return {
    events: await column(
      `SELECT concat(visitor_id, ' ', toString(dateDiff('day', toDate(received_at), toDate(fromUnixTimestamp64Milli(${NOW}, 'UTC'))))) AS x ${from('events')} ORDER BY x, event_id`,
    ),
    outcomes: await rows(`SELECT outcome, reason, count() AS n ${from('records')} GROUP BY ALL ORDER BY ALL`),
    books: await rows(
      `SELECT outcome, reason, sum(records) AS n ${from('books')} GROUP BY ALL HAVING n != 0 ORDER BY ALL`,
    ),
    sessions: await column(
      `SELECT concat(visitor_id, ' ', toString(pageviews)) AS x ${from('sessions')} ORDER BY x, session_id`,
    ),
    profiles: await column(`SELECT concat(user_id, ' ', toString(traits.plan)) AS x ${from('profiles')} ORDER BY x`),
    links: await column(`SELECT visitor_id ${from('links_log')} ORDER BY visitor_id`),
    payments: await weir.count(`SELECT count() AS n ${from('payments_log')}`),
    seen: await column(`SELECT DISTINCT visitor_id ${from('people_seen')} ORDER BY visitor_id`),
  };
}

test('a site keeps only what its limits say, all else is as before, and a replay brings nothing back', async () => {
  const kept = await contents('kept');
  const [before] = await rows(
    "SELECT sum(cityHash64(formatRow('JSONEachRow', *))) AS x FROM records WHERE site_id != 'limited'",
  );
  expect(await contents('limited')).toEqual(kept);
  await setKeep({ events: '10d', rollups: '5d' }, 400);
  await setKeep({ events: '10d', profiles: '30d', rollups: '60d' });
  const { data } = (await weir.call('GET', '/sites/limited')).body;
  expect([data.keep, data.kept]).toEqual([data.kept, { events: '10d', profiles: '30d', rollups: '60d' }]);

  // The process that carries out the expiry is ended several times.
  for (let end = 0; end < ENDS; end++) {
    await pause(Math.random() * 800); // the process is ended at a random moment, so this pause waits for no condition
    await weir.restartRetention();
    expect((await weir.call('GET', '/audit')).body.data).toMatchObject({ balanced: true });
  }
  await expired();

  const limited = await contents('limited');
  const ofAges = (...ages: number[]) => ages.flatMap((age) => [`often ${age}`, `often ${age}`]);
  expect(limited).toMatchObject({
    events: [...ofAges(0, 5), 'once-0 0', 'once-0 0', 'once-5 5', 'once-5 5'],
    outcomes: limited.books,
    profiles: [
      'user-often plan-often',
      'user-once-0 plan-once-0',
      'user-once-20 plan-once-20',
      'user-once-5 plan-once-5',
    ],
    links: ['often', 'once-0', 'once-20', 'once-5'],
    payments: 4,
    seen: ['often', 'once-0', 'once-20', 'once-5'],
  });
  // The first session of `often` and the one of `once-100` are more than 60 days old.
  expect(limited.sessions).toEqual(kept.sessions.filter((text) => !String(text).startsWith('once-100')).slice(1));
  expect(limited.sessions).toHaveLength(2 * AGES.length - 2);
  expect(limited.outcomes).toContainEqual({ outcome: 'expired', reason: 'events', n: 12 });
  expect(limited.outcomes).toContainEqual({ outcome: 'expired', reason: 'profiles', n: 2 });
  expect(await contents('kept')).toEqual(kept);
  expect(
    await rows("SELECT sum(cityHash64(formatRow('JSONEachRow', *))) AS x FROM records WHERE site_id != 'limited'"),
  ).toEqual([before]);
  const texts = (
    JSON.parse(readFileSync(join(__dirname, '../../../../schemas/clickhouse/stored-tables.json'), 'utf8')).tables as {
      name: string;
    }[]
  ).map(({ name }) => name);
  for (const table of texts) {
    const text = "formatRow('JSONEachRow', *)";
    expect([
      table,
      await weir.count(
        `SELECT count() AS n FROM ${table} WHERE site_id = 'limited' AND position(${text}, 'once-100') > 0`,
      ),
    ]).toEqual([table, 0]);
  }

  await weir.call('POST', '/replays', { from: 'enriched' });
  await weir.follows();
  expect(await weir.call('PATCH', '/sites/limited', { keep: { events: '9d' } })).toMatchObject({ status: 409 });
  await weir.call('POST', '/replays/current/swap');
  await eventually('the swap', async () => {
    const { phase, refusal } = (await weir.current()).body.data;
    if (refusal !== null) throw new Error(refusal);
    return phase === 'swapped';
  });
  await eventually('what the replay brought back to be gone again', async () => {
    expect(await contents('limited')).toEqual(limited);
    return true;
  });
  expect(await contents('kept')).toEqual(kept);
  await weir.drop();
  expect((await weir.call('GET', '/audit')).body.data).toMatchObject({ balanced: true });

  // The export has the sessions of persons whose events have expired.
  const exported = await weir.call('GET', '/sites/limited/person?visitor_id=once-40');
  expect(exported.body).toMatchObject({ sessions: [{ session_id: 'once-40-40' }] });

  // The erasure also deletes these sessions, and their rows in other tables.
  for (const age of [40, 60]) {
    const at = `now() - INTERVAL ${age} DAY`;
    await weir.command(
      `INSERT INTO weir.moved_hours (site_id, visitor_id, hour) SELECT 'limited', 'once-${age}', toStartOfHour(${at})`,
    );
  }
  await weir.command(`INSERT INTO weir.visits_computed (site_id, day, session_id)
    SELECT site_id, toDate(started_at), session_id FROM weir.sessions WHERE site_id = 'limited' AND visitor_id IN ('once-20', 'once-40', 'once-60')`);
  const flagged = () => weir.count("SELECT uniqExact(session_id) AS n FROM visits_computed WHERE site_id = 'limited'");
  const flaggedBefore = await flagged();
  const asked = await weir.call('POST', '/sites/limited/erasures', { visitors: ['once-40', 'once-20'] });
  await eventually('the erasure', async () => {
    const { phase, problem } = (await weir.call('GET', `/erasures/${asked.body.data.erasure_id}`)).body.data;
    if (problem !== null) throw new Error(problem);
    return phase === 'done';
  });
  const after = await contents('limited');
  expect(after.sessions).toEqual(limited.sessions.filter((text) => !/once-[24]0/.test(String(text))));
  expect(after.seen).not.toContain('once-20');
  const moved = await rows(
    "SELECT DISTINCT visitor_id FROM moved_hours WHERE site_id = 'limited' AND visitor_id LIKE 'once-%'",
  );
  expect(moved).toEqual([{ visitor_id: 'once-60' }]);
  expect(await flagged()).toBe(flaggedBefore - 2);
  expect(await contents('kept')).toEqual(kept);
});

/** A condition for the records of the site `kept` that an expiry removes. */
const oldRecords = (before: number) =>
  `site_id = 'kept' AND received_at < fromUnixTimestamp64Milli(${before}) AND outcome = 'row'`;

async function firstChunk(old: string) {
  const [chunk] = await rows(
    `SELECT toYYYYMM(received_at) AS month, toString(log_id) AS log, raw_partition AS part, intDiv(raw_offset, 100000) AS nth
     FROM records WHERE ${old} GROUP BY ALL ORDER BY ALL LIMIT 1`,
  );
  const { month, log, part, nth } = chunk ?? {};
  return { month: Number(month), logId: String(log), partition: Number(part), nth: Number(nth) };
}

/**
 * Lets an expiry continue that another process has left. `chunk`: the last chunk that the other process began. Resolves when the expiry has ended.
 */
async function continueExpiry(expiryId: string, before: number, chunk: Omit<ExpiryChunk, 'token'>): Promise<void> {
  await weir.registry.putExpiry({
    expiryId,
    siteIds: ['kept'],
    before: { events: before },
    startedAt: NOW,
    phase: 'deleting',
    ends: [1_000_000, 1_000_000, 1_000_000, 1_000_000],
    chunk: { ...chunk, token: `${expiryId}:weir:events` },
    worker: { id: 'ended', at: NOW },
  });
  await weir.restartRetention();
  await eventually('the end of the expiry', () => weir.registry.expiry() === undefined);
}

/** Inserts rows `expired` into `records`, without correcting the books. An insert into `expirations` would also correct `books_sums`. */
async function expireWithoutBooks(old: string, month: number): Promise<void> {
  const kept = 'site_id, received_at, enrichment, log_id, raw_partition, raw_offset';
  await weir.command(`INSERT INTO weir.records (outcome, reason, timestamp, ${kept})
    SELECT 'expired', 'events', timestamp, ${kept} FROM weir.records WHERE ${old} AND toYYYYMM(received_at) = ${month}`);
}

test.each([
  ['a minute ago', 60, 61_000, 4],
  ['long ago', 30, 11 * 60_000, 8],
])('an insert that was interrupted %s is completed, although its token is forgotten', async (when, days, ms, n) => {
  const before = NOW - days * DAY_MS;
  const old = oldRecords(before);
  const place = await firstChunk(old);
  await expireWithoutBooks(old, place.month);
  await continueExpiry(`interrupted ${when}`.replaceAll(' ', '-'), before, { ...place, at: Date.now() - ms });
  const { outcomes, books } = await contents('kept');
  expect(books).toEqual(outcomes);
  expect(outcomes).toContainEqual({ outcome: 'expired', reason: 'events', n });
  expect((await weir.call('GET', '/audit')).body.data).toMatchObject({ balanced: true, totals: { erasing: 0 } });
});

test('an expiry that is continued after a restore of the tables inserts the missing rows', async () => {
  const before = NOW - 10 * DAY_MS;
  const old = oldRecords(before);
  const first = await firstChunk(old);
  // The registry names a later chunk. So before the restore, the tables had the rows `expired` of the first chunk.
  await continueExpiry('restored', before, { ...first, nth: first.nth + 1, at: Date.now() });
  expect(await weir.count(`SELECT count() AS n FROM records WHERE ${old}`)).toBe(0);
  const { outcomes, books } = await contents('kept');
  expect(books).toEqual(outcomes);
  expect((await weir.call('GET', '/audit')).body.data).toMatchObject({ balanced: true, totals: { erasing: 0 } });
});

test('an expiry that was killed after a restore, between its insert and the correction of the books, is continued', async () => {
  const before = NOW;
  const old = oldRecords(before);
  const first = await firstChunk(old);
  expect(first.month).toBeGreaterThan(0);
  await expireWithoutBooks(old, first.month);
  // The restored tables do not have the later chunk that the registry names.
  await continueExpiry('killed', before, { ...first, nth: first.nth + 1, at: Date.now() - 11 * 60_000 });
  expect(await weir.count(`SELECT count() AS n FROM records WHERE ${old}`)).toBe(0);
  const { outcomes, books } = await contents('kept');
  expect(books).toEqual(outcomes);
  expect((await weir.call('GET', '/audit')).body.data).toMatchObject({ balanced: true, totals: { erasing: 0 } });
});
