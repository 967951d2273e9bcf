import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { erasedHashSql } from '@weir/control/erasure/person-sql';
import { buildDays } from '@weir/control/visit-slots/build-days';
import { createLineEraser } from '@weir/domain/erasure/erase-line';
import { erasureHash } from '@weir/domain/erasure/tombstone';
import { partitionKey } from '@weir/domain/records/partition-key';
import { encodeRawRecord, type RawRecordHead } from '@weir/domain/records/raw-record';
import { TOPIC_ENRICHED, TOPIC_RAW } from '@weir/domain/records/topics';
import { createEnrichment } from '@weir/enricher/pipeline/pipeline';
import type { StoredRecord } from '@weir/ports/event-log';
import { eventually } from '@weir/testkit/eventually';
import { useOpened } from '@weir/testkit/use-opened';
import { openControlHarness } from '../control-harness.ts';
import { buildContextOf } from '../visit-slots/slot-builds-harness.ts';

const DAY_MS = 24 * 3600_000;
const weir = useOpened(openControlHarness);
beforeAll(async () => {
  for (const siteId of ['shop', 'other']) {
    await weir.call('POST', '/sites', { site_id: siteId, name: 'N', domain: 'example.com' });
  }
});

let ids = 0;
const newId = () => `00000000-0000-7000-8000-${String(++ids).padStart(12, '0')}`;

/** Appends records as the gateway does. */
async function append(
  kind: 'collect' | 'event' | 'identify',
  bodies: readonly object[],
  siteId = 'shop',
): Promise<void> {
  const records = bodies.map((body) => {
    const eventId = newId();
    const head: RawRecordHead = {
      eventId,
      kind,
      siteId,
      receivedAt: Date.now(),
      sealedIp: '',
      userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
      acceptLanguage: '',
    };
    const { visitor_id: visitorId = '', user_id: userId = '' } = body as { visitor_id?: string; user_id?: string };
    const key = partitionKey({ siteId, eventId, userId, visitorId, idempotencyKey: '' }, kind === 'identify');
    return { key, value: encodeRawRecord(head, JSON.stringify(body)) };
  });
  for (const { status } of await weir.eventLog.append(TOPIC_RAW, records)) expect(status).toBe('stored');
}

async function stored(): Promise<void> {
  await eventually('everything to be stored', async () => {
    const { body } = await weir.call('GET', '/audit');
    expect(body.data).toMatchObject({ balanced: true, totals: { in_flight: 0 } });
    return true;
  });
}

test('a dry run says what would remain, and erases nothing', async () => {
  const asked = { users: ['dry-u'], visitors: ['dry-v'], dry_run: true };
  const { status, body } = await weir.call('POST', '/sites/shop/erasures', asked);
  expect([status, body.data]).toMatchObject([200, { erasure_id: '', visitors: 1, users: 1, removed: {} }]);
  const kinds = body.data.remains.map(({ kind }: { kind: string }) => kind);
  expect(kinds).toEqual(['raw_topic', 'enriched_topic', 'old_parts', 'free_space', 'archive', 'copies', 'tombstones']);
  expect((await weir.call('GET', '/erasures')).body.data).toEqual([]);
  expect(weir.registry.tombstones('shop')).toEqual([]);
});

test('a receipt lists the parts that a repair of the tables has moved away, if there are any', async () => {
  const kinds = (receipt: Receipt) => receipt.remains.map(({ kind }) => kind);
  expect(kinds(await forget({ visitors: ['before-v'] }))).not.toContain('detached_parts');
  const [table] = await weir.analytics.select<{ path: string }>(
    "SELECT data_paths[1] AS path FROM system.tables WHERE database = currentDatabase() AND name = 'records'",
  );
  const part = join(table?.path ?? '', 'detached', 'unacknowledged_209901_1_1_0');
  mkdirSync(part, { recursive: true });
  const receipt: Receipt = await forget({ visitors: ['after-v'] });
  const dry = await weir.call('POST', '/sites/shop/erasures', { visitors: ['after-v'], dry_run: true });
  rmSync(part, { recursive: true });
  for (const { remains } of [receipt, dry.body.data as Receipt]) {
    const { until } = remains.find(({ kind }) => kind === 'detached_parts') ?? { until: '' };
    const days = (Date.parse(until ?? '') - Date.now()) / DAY_MS;
    expect(days).toBeGreaterThan(7);
    expect(days).toBeLessThan(7.1);
  }
});

interface Receipt {
  readonly remains: readonly { readonly kind: string; readonly until: string | null }[];
}

async function forget(body: object, site = 'shop') {
  const begun = await weir.call('POST', `/sites/${site}/erasures`, body);
  expect(begun.status).toBe(202);
  return eventually('the erasure to be done', async () => {
    const { data } = (await weir.call('GET', `/erasures/${begun.body.data.erasure_id}`)).body;
    if (data.phase !== 'done') throw new Error(`${data.phase}: ${data.problem}`);
    return data;
  });
}

async function readAll(topic: string): Promise<readonly { partition: number; record: StoredRecord }[]> {
  const found: { partition: number; record: StoredRecord }[] = [];
  for (let partition = 0; partition < weir.eventLog.partitionCount; partition++) {
    for (let from = 0; ; ) {
      const records = await weir.eventLog.read(topic, partition, from, 1 << 20);
      found.push(...records.map((record) => ({ partition, record })));
      const last = records.at(-1);
      if (last === undefined) break;
      from = last.offset + 1;
    }
  }
  return found;
}

const person = (who: string) => [
  {
    type: 'pageview',
    visitor_id: `${who}-v`,
    session_id: `${who}-s`,
    site_id: 'shop',
    url: `https://example.com/${who}`,
  },
  { type: 'event', event_name: 'click', visitor_id: `${who}-v`, session_id: `${who}-s`, site_id: 'shop' },
];
const identity = (who: string) => ({ visitor_id: `${who}-v`, user_id: `${who}-u`, email: `${who}@mail.example` });

test.each(['42', `o'brien"\\`, '😀', 'a\tb', '\u0000', 'ü'.repeat(255), ''])(
  'SQL and TypeScript hash %j alike',
  async (id) => {
    const [row] = await weir.analytics.select<{ hash: string }>(
      `SELECT ${erasedHashSql('salt', 'shop', 'u', '{id:String}')} AS hash`,
      { id },
    );
    expect(row?.hash).toBe(erasureHash('salt', 'shop', 'u', id));
  },
);

test('replays from raw and from enriched give no row of the person, and those of others as they were', async () => {
  for (const who of ['zoe', 'max']) {
    await append('collect', person(who));
    await append('identify', [identity(who)]);
    await append('event', [{ name: 'by-user', user_id: `${who}-u`, idempotency_key: `${who}-key` }]);
    await append('event', [{ value: '1', name: 'payment', visitor_id: `${who}-v`, properties: { currency: 'EUR' } }]);
  }
  // These events become dead letters, because the name is not a text. The gateway would have refused them.
  await append('event', [{ name: 7, user_id: 'zoe-u' }]);
  await append('event', [{ name: 7, user_id: 'max-u' }]);
  await stored();
  const rows = "SELECT * FROM records WHERE outcome != 'erased' ORDER BY raw_partition, raw_offset";
  const before = (await weir.analytics.select<object>(rows)).map((row) => JSON.stringify(row));
  expect(before.filter((row) => row.includes('zoe'))).toHaveLength(6);
  const letters = 'SELECT payload FROM dead_letters WHERE payload LIKE ';
  // An insert fills the table of dead letters after the table `records`.
  await eventually('the dead letters are stored', async () =>
    (await Promise.all(['zoe', 'max'].map((who) => weir.analytics.select(`${letters}'%${who}%'`)))).every(
      (found) => found.length === 1,
    ),
  );

  const receipt = await forget({ users: ['zoe-u'] });
  expect(receipt).toMatchObject({ removed: { records: 6, dead_letter_attempts: 1 }, problem: null });
  const others = before.filter((row) => !row.includes('zoe'));
  expect((await weir.analytics.select<object>(rows)).map((row) => JSON.stringify(row))).toEqual(others);
  expect(await weir.analytics.select(`${letters}'%zoe%'`)).toHaveLength(0);
  expect(await weir.analytics.select(`${letters}'%max%'`)).toHaveLength(1);
  await stored();

  // Passes each line through the line eraser, as a replay from `events.enriched` does. The records of this topic still contain the erased person.
  const eraseLine = createLineEraser((site) => weir.registry.tombstones(site));
  const enriched = (await readAll(TOPIC_ENRICHED)).map(({ record }) =>
    Buffer.from(eraseLine(record.value, 1)).toString(),
  );
  expect(enriched.filter((line) => line.includes('zoe'))).toEqual([]);
  expect(enriched.filter((line) => line.startsWith('["erased"'))).toHaveLength(6);
  expect(enriched.filter((line) => line.includes('max'))).toHaveLength(6);

  // Enriches each record again with a new state, as a replay from `events.raw` does.
  const { registry, eventLog } = weir;
  const geo = { version: 'none', generation: 0, lookup: () => ({ country: '', region: '', city: '', timezone: '' }) };
  const enrichment = createEnrichment({ registry, geo, logId: eventLog.logId });
  const state = new Map<string, string | undefined>();
  const lines = (await readAll(TOPIC_RAW)).map(({ partition, record }) => {
    const decoded = enrichment.decode(record, partition);
    enrichment.prepare(decoded, new Map());
    const held = enrichment.firstSeenKey(decoded);
    const batch = {
      state: { get: (key: string) => state.get(key), set: (key: string, value?: string) => state.set(key, value) },
    };
    return { text: Buffer.from(enrichment.enrich(decoded, { ...batch, firstSeen: held }).row).toString(), held };
  });
  expect(lines.filter(({ text }) => text.includes('zoe'))).toEqual([]);
  expect(lines.filter(({ text }) => text.startsWith('["erased"'))).toHaveLength(6);
  expect(lines.map(({ held }) => held?.key).filter(Boolean)).toEqual(['max-key']);
  expect([...state].some(([key, value]) => `${key} ${value}`.includes('zoe'))).toBe(false);
});

test('an erasure removes the slots of the person, and the builds of the days near the rows', async () => {
  await append('collect', [...person('slots'), ...person('slots-stay')]);
  await stored();
  const { analytics } = weir;
  const fromMs = (Math.floor(Date.now() / DAY_MS) - 1) * DAY_MS;
  await buildDays(buildContextOf(analytics), {
    siteId: 'shop',
    fromMs: fromMs - 5 * DAY_MS,
    toMs: fromMs + 2 * DAY_MS,
    rows: 1,
  });
  const slots = async (visitor: string) =>
    Number(
      (
        await analytics.select<{ n: number }>(
          `SELECT count() AS n FROM visit_slots WHERE visitor_key = sipHash64('${visitor}')`,
        )
      )[0]?.n,
    );
  const builtDays = async () =>
    Number(
      (await analytics.select<{ n: number }>("SELECT uniqExact(day) AS n FROM visit_days WHERE site_id = 'shop'"))[0]
        ?.n,
    );
  expect([await slots('slots-v'), await slots('slots-stay-v'), await builtDays()]).toEqual([2, 2, 7]);
  const done = await forget({ visitors: ['slots-v'] });
  expect(done.removed.visit_slots).toBe(2);
  expect([await slots('slots-v'), await slots('slots-stay-v')]).toEqual([0, 2]);
  // The erasure has removed the builds of the day of the rows, and of the days near it.
  expect(await builtDays()).toBeLessThanOrEqual(5);
});

test('an erasure leaves the slots of other days, which other rows without a visitor or of the same visitor have', async () => {
  const oldMs = Date.now() - 4 * DAY_MS;
  const at = { timestamp: new Date(oldMs).toISOString() };
  await append('event', [
    { name: 'old', ...at },
    { name: 'shared', visitor_id: 'shared-v', ...at },
  ]);
  await append('event', [
    { name: 'new', user_id: 'slots-u' },
    { name: 'new', user_id: 'slots-u', visitor_id: 'shared-v' },
  ]);
  await stored();
  const { analytics } = weir;
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  await buildDays(buildContextOf(analytics), {
    siteId: 'shop',
    fromMs: today - 6 * DAY_MS,
    toMs: today + DAY_MS,
    rows: 1,
  });
  const hitsOn = async (ms: number) => {
    const day = new Date(ms).toISOString().slice(0, 10);
    const [row] = await analytics.select<{ total: number }>(
      `SELECT sum(pageviews + events) AS total FROM visit_slots WHERE site_id = 'shop' AND day = '${day}' AND hits
         AND visitor_key IN (sipHash64(''), sipHash64('shared-v')) AND build = (SELECT max(build) FROM visit_days WHERE site_id = 'shop' AND day = '${day}')`,
    );
    return Number(row?.total);
  };
  expect(await hitsOn(oldMs)).toBe(2);
  await forget({ users: ['slots-u'] });
  expect(await hitsOn(oldMs)).toBe(2);
});
