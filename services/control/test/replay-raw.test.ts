import { encodeRawRecord } from '@weir/domain/records/raw-record';
import { TOPIC_REPLAYED } from '@weir/domain/records/topics';
import { loadSourceLists } from '@weir/enricher/acquisition/source-lists';
import type { EventLog, StoredRecord } from '@weir/ports/event-log';
import { eventually } from '@weir/testkit/eventually';
import { createRawMix } from './raw-mix.ts';
import { openReplayHarness, type ReplayHarness } from './replay-harness.ts';

const MINUTE_MS = 60_000;

let weir: ReplayHarness;
let mix: () => Promise<void>;
/** Whether the enricher of a replay can read the records that the live enricher could not read. */
let readsAll = false;
beforeAll(async () => {
  weir = await openReplayHarness(10, {
    leading: ({ raw, ...deps }) => ({
      ...deps,
      raw: {
        ...raw,
        startEnricher: (enricher) => raw.startEnricher({ ...enricher, eventLog: withReadable(enricher.eventLog) }),
      },
    }),
  });
  mix = createRawMix(weir);
  // The moments are less than half an hour apart, so each visit continues from one moment to the next.
  for (let moment = 0; moment < 9; moment++) {
    await mix();
    weir.advance(25 * MINUTE_MS);
  }
  await mix();
});
afterAll(() => weir.close());
afterEach(async () => {
  weir.setReplayLists(loadSourceLists());
  await weir.drop();
});

/** Returns an event log that delivers a hit of the site `shop` for each unreadable record, while `readsAll` is true. */
function withReadable(eventLog: EventLog): EventLog {
  const readable = (record: StoredRecord): StoredRecord => {
    if (!readsAll || Buffer.from(record.value).toString() !== 'not a record') return record;
    const eventId = `00000000-0000-7000-9000-${String(record.offset).padStart(12, '0')}`;
    const head = { eventId, kind: 'collect', siteId: 'shop', receivedAt: record.appendedAt, sealedIp: '' } as const;
    const page = { site_id: 'shop', type: 'pageview', url: 'https://shop.example/', visitor_id: 'now', session_id: '' };
    const value = encodeRawRecord({ ...head, userAgent: 'Firefox', acceptLanguage: 'en' }, JSON.stringify(page));
    return { ...record, value };
  };
  return {
    ...eventLog,
    consume: (options) =>
      eventLog.consume({
        ...options,
        async open(handle) {
          const consumer = await options.open(handle);
          return { ...consumer, handle: (records) => consumer.handle(records.map(readable)) };
        },
      }),
  };
}

const ask = (what: 'swap' | 'undo') => weir.call('POST', `/replays/current/${what}`);

async function start(body: object): Promise<void> {
  const { status, body: answer } = await weir.call('POST', '/replays', { from: 'raw', ...body });
  if (status !== 201) throw new Error(JSON.stringify(answer));
  await weir.follows();
}

/**
 * `part`: true if the replay begins after the first record. The rows of visits that began before the replay can then be flagged (`visit_stamp` is 2,
 * docs/decisions/0033), so stamps are not compared exactly.
 */
async function expectSameTables({ part = false } = {}): Promise<void> {
  const differing = await weir.analytics.select(
    `SELECT raw_partition, raw_offset, outcome, source, site_id, visitor_id, session_id, detail, count() AS n FROM (
       SELECT *, 0 AS side FROM weir.records UNION ALL SELECT *, 1 AS side FROM weir_shadow.records)
     GROUP BY raw_partition, raw_offset, outcome, source, site_id, visitor_id, session_id, detail HAVING n != 2
     ORDER BY raw_partition, raw_offset LIMIT 20`,
  );
  expect(differing).toEqual([]);
  const [live, shadow] = await Promise.all([weir.digests('weir'), weir.digests('weir_shadow')]);
  const stamped = part ? { records: '', event_rows: '' } : {};
  expect({ ...shadow, ...stamped }).toEqual({ ...live, ...stamped });
  const stamps = await weir.count(
    `SELECT count() AS n FROM weir.records AS live JOIN weir_shadow.records AS shadow USING (log_id, raw_partition, raw_offset)
     WHERE shadow.visit_stamp != live.visit_stamp AND shadow.visit_stamp != 2`,
  );
  expect(stamps).toBe(0);
}

test('a replay from raw makes the rows that the tables have, and follows them', async () => {
  await start({});
  await expectSameTables();
  await mix();
  await weir.visits(5);
  await weir.follows();
  await expectSameTables();
  const data = await weir.diff();
  expect([data.changes, data.versions]).toEqual([[], []]);
  const outcomes = await weir.analytics.select<{ outcome: string }>('SELECT DISTINCT outcome FROM records');
  expect(outcomes.map(({ outcome }) => outcome).toSorted()).toEqual(['dead', 'duplicate', 'identify', 'row']);
  const hits = await weir.analytics.select(
    `SELECT source, cookieless, bot != '' AS bot, count() > 10 AS many FROM events
     WHERE source != 'server' GROUP BY source, cookieless, bot ORDER BY source, cookieless, bot`,
  );
  expect(hits).toEqual(
    [
      ['collect', false],
      ['collect', true],
      ['import', true],
    ].flatMap(([source, cookieless]) => [0, 1].map((bot) => ({ source, cookieless, bot, many: 1 }))),
  );
});

test.each([30, 90])('a replay of the last %i minutes continues earlier sessions and links', async (ago) => {
  const since = new Date(weir.clock() - ago * MINUTE_MS).toISOString();
  await start({ since });
  const copied = Number((await weir.current()).body.data.records_to_copy);
  expect(copied).toBeGreaterThan(100);
  await expectSameTables({ part: true });
});

test('a replay of one site keeps the dead letters without a site, also if their records can be read now', async () => {
  readsAll = true;
  try {
    await start({ site_id: 'shop' });
    await expectSameTables();
  } finally {
    readsAll = false;
  }
});

test('after a change in a list of sources exactly the expected cells differ', async () => {
  const lists = loadSourceLists();
  const ai = lists.own.ai?.map((one) => (one.name === 'ChatGPT' ? { ...one, name: 'Chat GPT' } : one)) ?? [];
  weir.setReplayLists({ ...lists, own: { ...lists.own, ai } });
  await start({});
  const isChanged = "traffic_source = 'ChatGPT'";
  const changed = await weir.count(`SELECT count() AS n FROM weir.records WHERE ${isChanged}`);
  expect(changed).toBeGreaterThan(10);
  const before = ['traffic_source', 'visit_source'].map((column) => `replaceOne(${column}, 'Chat GPT', 'ChatGPT')`);
  const columns = `* EXCEPT (enrichment, traffic_source, visit_source), ${before.join(', ')}`;
  const rows = (database: string) => `SELECT cityHash64(toString(tuple(${columns}))) AS row FROM ${database}.records`;
  expect(
    await weir.count(
      `SELECT countIf(n != 2) AS n FROM (SELECT row, count() AS n FROM (${rows('weir')} UNION ALL ${rows('weir_shadow')}) GROUP BY row)`,
    ),
  ).toBe(0);
  const data = await weir.diff();
  const of = { step: 'put-source', column: 'traffic_source' };
  expect(data.changes).toHaveLength(2);
  expect(data.changes).toEqual(
    expect.arrayContaining([
      { ...of, value: 'Chat GPT', old: 0, new: changed },
      { ...of, value: 'ChatGPT', old: changed, new: 0 },
    ]),
  );
  expect(new Set(data.versions.map(({ part }: { part: string }) => part))).toEqual(new Set(['lists']));

  // The swap (docs/glossary.md) loses and repeats no record under traffic. The undo brings the former rows back, with the records that were stored
  // since the swap.
  let stop = false;
  const traffic = (async () => {
    while (!stop) await weir.visit('shop');
  })();
  await ask('swap');
  await weir.reaches('swapped');
  stop = true;
  await traffic;
  await weir.settled();
  expect(await weir.count(`SELECT count() AS n FROM records WHERE ${isChanged}`)).toBe(0);
  const { data: audit } = (await weir.call('GET', '/audit')).body;
  expect([audit.balanced, audit.totals.in_flight]).toEqual([true, 0]);
  expect(await weir.count('SELECT count() - uniqExact(raw_partition, raw_offset) AS n FROM records')).toBe(0);
  await ask('undo');
  await weir.reaches('undone');
  expect(await weir.count(`SELECT count() AS n FROM records WHERE ${isChanged}`)).toBe(changed);
  expect((await weir.call('GET', '/audit')).body.data.balanced).toBe(true);
  const [replayed] = await weir.eventLog.positions(TOPIC_REPLAYED, 'test');
  expect(replayed?.first).toBe(replayed?.end);
});

test('a replay that is interrupted again and again makes the same rows', async () => {
  await weir.call('POST', '/replays', { from: 'raw', records_per_second_max: 300 });
  const replayed = async () => (await weir.current()).body.data.records_replayed;
  for (const part of [100, 300, 500]) {
    await eventually(`${part} records`, async () => (await replayed()) >= part);
    await weir.restartReplayer();
    // Removes the state store of the replay's enricher (sessions, first-seen keys, links). The replay must build it again.
    if (part === 300) await weir.removeReplayState();
  }
  await weir.follows();
  await expectSameTables();
});

test('erased persons stay erased', async () => {
  const begun = await weir.call('POST', '/sites/shop/erasures', { visitors: ['v1'], users: ['u2'] });
  await eventually('the erasure', async () => {
    return (await weir.call('GET', `/erasures/${begun.body.data.erasure_id}`)).body.data.phase === 'done';
  });
  await start({});
  const changes = await weir.analytics.select(
    `SELECT DISTINCT old.outcome AS was, new.outcome AS is FROM weir.records AS old
     JOIN weir_shadow.records AS new USING (log_id, raw_partition, raw_offset)
     WHERE (old.outcome, old.visitor_id, old.session_id, old.user_id, old.detail) != (new.outcome, new.visitor_id, new.session_id, new.user_id, new.detail)`,
  );
  // The row of a duplicate has no person, so the erasure did not change it. The replay finds the person in the raw record.
  expect(changes).toEqual([{ was: 'duplicate', is: 'erased' }]);
  expect(await weir.count("SELECT count() AS n FROM weir.records WHERE outcome = 'erased'")).toBeGreaterThan(20);
});

test('a replay from raw that is restarted after an erasure stops, and says why', async () => {
  await start({});
  const begun = await weir.call('POST', '/sites/shop/erasures', { users: ['u3'] });
  const id = begun.body.data.erasure_id;
  await eventually('the erasure', async () => (await weir.call('GET', `/erasures/${id}`)).body.data.phase === 'done');
  await weir.restartReplayer();
  await weir.waits(
    `analytics_refused: the erasure ${id} ended after this replay began: drop the replay and start it again`,
  );
});
