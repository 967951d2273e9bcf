import { randomBytes } from 'node:crypto';
import { encodeRawRecord, type RecordKind } from '@weir/domain/records/raw-record';
import { GROUP_ENRICHER, GROUP_WRITER, TOPIC_ENRICHED, TOPIC_RAW } from '@weir/domain/records/topics';
import type { AppendRecord, EventLog } from '@weir/ports/event-log';
import { createAddressSealer } from '@weir/runtime/address-sealer';
import { eventually } from '@weir/testkit/eventually';
import { type ControlHarness, openControlHarness } from './control-harness.ts';

let weir: ControlHarness;
/** Replaces the next append of control. */
let nextAppend: ((log: EventLog, records: readonly AppendRecord[]) => ReturnType<EventLog['append']>) | undefined;

beforeAll(async () => {
  weir = await openControlHarness((log) => ({
    ...log,
    append(topic, records) {
      const replaced = nextAppend;
      nextAppend = undefined;
      return replaced === undefined || topic !== TOPIC_RAW ? log.append(topic, records) : replaced(log, records);
    },
  }));
  for (const site_id of ['shop', 'gone', 'person']) {
    await weir.call('POST', '/sites', { name: site_id, domain: 'example.com', site_id });
  }
});
afterAll(() => weir.close());

let made = 0;
/** Appends a record with a client IP that no other record has. */
async function append(kind: RecordKind, body: object, siteId = 'shop', more: object = {}): Promise<string> {
  const nth = ++made;
  const sealer = createAddressSealer({ registry: weir.registry, randomBytes });
  const receivedAt = weir.clock();
  const head = {
    ...{ eventId: `00000000-0000-7000-8000-${String(nth).padStart(12, '0')}`, kind, siteId, receivedAt },
    sealedIp: (await sealer.seal(`81.2.${69 + (nth >> 8)}.${nth & 255}`, receivedAt)) ?? '',
    ...{
      userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
      acceptLanguage: 'en',
      ...more,
    },
  };
  const [answer] = await weir.eventLog.append(TOPIC_RAW, [
    { partition: nth % 4, value: encodeRawRecord(head, JSON.stringify(body)) },
  ]);
  if (answer?.status !== 'stored') throw new Error('not stored');
  return `${weir.eventLog.logId}.${answer.partition}.${answer.offset}`;
}

const page = (path: string, more: object = {}) => ({
  ...{ site_id: 'shop', type: 'pageview', url: `https://shop.example${path}`, visitor_id: '', session_id: '' },
  ...more,
});

async function audit() {
  const { data } = (await weir.call('GET', '/audit')).body;
  return data;
}
const settled = () =>
  eventually('everything to be stored', async () => {
    const { balanced, totals } = await audit();
    const positions = await weir.eventLog.positions(TOPIC_ENRICHED, GROUP_WRITER);
    return balanced && totals.in_flight === 0 && positions.every(({ end, committed = 0 }) => committed === end);
  });
const list = async (query = '') => (await weir.call('GET', `/dead-letters${query}`)).body.data;
const redrive = (body: object = {}) => weir.call('POST', '/dead-letters/redrive', body);
const count = async (sql: string) => Number((await weir.analytics.select<{ n: number }>(sql))[0]?.n);
const urls = (path: string) => count(`SELECT count() AS n FROM events WHERE pathname = '${path}'`);

/** Appends page views that become dead letters of the enricher. */
async function letters(paths: readonly string[], more: object = {}): Promise<readonly string[]> {
  weir.failPlaces(true);
  const ids: string[] = [];
  for (const path of paths) ids.push(await append('collect', page(path, more)));
  await settled();
  weir.failPlaces(false);
  return ids;
}

test('list, show and redrive: a dead letter that succeeds is gone, and its row is that of its time of receipt', async () => {
  const [id = ''] = await letters(['/one']);
  const { total, letters: listed, cursor } = await list('?stage=enricher&site=shop&error=NO%20PLACE&since=1h');
  expect([total, cursor]).toEqual([1, null]);
  expect(listed).toMatchObject([
    { letter_id: id, site_id: 'shop', reason: 'step_failed', attempts: 0, redriven_at: null },
  ]);
  expect(listed[0].error).toBe('put-geo: no place for [address] of [email]');
  const shown = (await weir.call('GET', `/dead-letters/${id}`)).body.data;
  expect(shown).toMatchObject({ letter_id: id, redrive_problem: null });
  expect(JSON.parse(shown.payload)).toMatchObject({ sealedIp: '', body: { url: 'https://shop.example/one' } });

  const dry = (await redrive({ letters: [id], dry_run: true })).body.data;
  expect(dry.results).toEqual([{ letter_id: id, result: 'would_redrive', problem: null }]);
  expect(await urls('/one')).toBe(0);

  const before = (await audit()).totals;
  const { status, body } = await redrive({ site: 'shop' });
  expect([status, body.data.results]).toEqual([200, [{ letter_id: id, result: 'stored', problem: null }]]);
  expect(await list()).toMatchObject({ total: 0, letters: [] });
  expect((await weir.call('GET', `/dead-letters/${id}`)).body.data).toMatchObject({
    attempts: 1,
    redriven_at: expect.any(String),
    redrive_problem: 'it was redriven',
  });
  const after = await audit();
  expect(after).toMatchObject({
    balanced: true,
    totals: { received: before.received + 1, stored: before.stored + 1, redriven: 1, redriven_twice: 0 },
  });
  expect(after.totals.dead).toEqual({});
  const again = (await redrive({ letters: [id, `${weir.eventLog.logId}.0.999999`] })).body.data;
  expect(again.results.map(({ result }: { result: string }) => result)).toEqual(['redriven_before', 'not_found']);
  expect(await urls('/one')).toBe(1);
  const [row] = await weir.analytics.select<object>(
    "SELECT country, cookieless, received_at = min(received_at) OVER (PARTITION BY event_id) AS same FROM records WHERE pathname = '/one' OR outcome = 'dead' ORDER BY outcome DESC LIMIT 1",
  );
  expect(row).toMatchObject({ country: 'GB', cookieless: true, same: 1 });
});

test('the visitor of a redriven hit is that of the other hits of the day', async () => {
  await letters(['/visitor']);
  const sealer = createAddressSealer({ registry: weir.registry, randomBytes });
  const [letter] = (await list()).letters;
  await redrive({ letters: [letter.letter_id] });
  const nth = made;
  await append('collect', page('/visitor'), 'shop', {
    sealedIp: await sealer.seal(`81.2.${69 + (nth >> 8)}.${nth & 255}`, weir.clock()),
  });
  await settled();
  expect(await count("SELECT uniqExact(visitor_id) AS n FROM events WHERE pathname = '/visitor'")).toBe(1);
  expect(await urls('/visitor')).toBe(2);
});

test('a dead letter that fails again stays, with the new error and the number of attempts', async () => {
  const [id = ''] = await letters(['/again']);
  for (const attempt of [1, 2, 3]) {
    weir.failPlaces(true);
    const { results } = (await redrive({ letters: [id] })).body.data;
    expect(results).toMatchObject([{ result: 'dead', problem: expect.stringContaining('no place') }]);
    expect((await list()).letters).toMatchObject([{ letter_id: id, attempts: attempt }]);
  }
  expect(await audit()).toMatchObject({ balanced: true, totals: { dead: { step_failed: 1 } } });
  weir.failPlaces(false);
  expect((await redrive({ letters: [id] })).body.data.results).toMatchObject([{ result: 'stored' }]);
  expect([await urls('/again'), (await list()).total]).toEqual([1, 0]);
  expect((await audit()).totals.dead).toEqual({});
  expect((await audit()).balanced).toBe(true);
});

test('a kill between the append and its answer: the next redrive finds the letter done', async () => {
  const [id = ''] = await letters(['/killed']);
  nextAppend = async (log, records) => {
    await log.append(TOPIC_RAW, records);
    return records.map(() => ({ status: 'unknown', reason: 'killed' }));
  };
  expect((await redrive({ letters: [id] })).status).toBe(503);
  weir.forgetControl();
  expect((await redrive({ letters: [id] })).body.data.results).toMatchObject([{ result: 'redriven_before' }]);
  expect(await urls('/killed')).toBe(1);
  expect(await audit()).toMatchObject({ balanced: true, totals: { redriven_twice: 0 } });
});

test('an append that arrives after the letter was redriven again is a duplicate', async () => {
  const [id = ''] = await letters(['/late']);
  let late: readonly AppendRecord[] = [];
  nextAppend = async (_log, records) => {
    late = records;
    return records.map(() => ({ status: 'unknown', reason: 'no answer' }));
  };
  expect((await redrive({ letters: [id] })).status).toBe(503);
  weir.forgetControl();
  expect((await redrive({ letters: [id] })).body.data.results).toMatchObject([{ result: 'stored' }]);
  const { duplicate } = (await audit()).totals;
  await weir.eventLog.append(TOPIC_RAW, late);
  await settled();
  expect(await urls('/late')).toBe(1);
  expect((await list()).total).toBe(0);
  expect(await audit()).toMatchObject({ balanced: true, totals: { duplicate: duplicate + 1, redriven_twice: 0 } });
});

test('a row that ClickHouse refused can be redriven when ClickHouse accepts it', async () => {
  await weir.command("ALTER TABLE weir.records ADD CONSTRAINT no_refused CHECK NOT startsWith(event_name, 'refused')");
  const id = await append('event', { name: 'refused', idempotency_key: 'once', email: 'x' });
  await append('event', { name: 'accepted', properties: { to: 'ada@example.com' } });
  await settled();
  expect((await list('?stage=writer')).letters).toMatchObject([{ letter_id: id, reason: 'row_refused' }]);
  expect((await redrive({ stage: 'writer' })).body.data.results).toMatchObject([{ letter_id: id, result: 'dead' }]);
  expect((await list('?stage=writer')).letters).toMatchObject([{ letter_id: id, attempts: 1 }]);
  await weir.command('ALTER TABLE weir.records DROP CONSTRAINT no_refused');
  expect((await redrive({ stage: 'writer' })).body.data.results).toMatchObject([{ letter_id: id, result: 'stored' }]);
  // The client repeats its request, because it got no answer.
  await append('event', { name: 'refused', idempotency_key: 'once', email: 'x' });
  await settled();
  expect(await count("SELECT count() AS n FROM events WHERE event_name = 'refused'")).toBe(1);
  expect((await audit()).totals.dead).toEqual({});
  expect((await audit()).balanced).toBe(true);
});

test('the letters of a removed site and of an erased person do not come back', async () => {
  weir.failPlaces(true);
  const ofSite = await append('collect', page('/gone', { site_id: 'gone' }), 'gone');
  // This dead letter has only a visitor ID. The identify record after it links the visitor to the user, who is then erased.
  const ofPerson = await append('collect', page('/person', { site_id: 'person', visitor_id: 'v-zoe' }), 'person');
  await append('identify', { user_id: 'zoe', visitor_id: 'v-zoe' }, 'person', { sealedIp: '' });
  await settled();
  weir.failPlaces(false);
  let held: readonly AppendRecord[] = [];
  nextAppend = async (_log, records) => {
    held = records;
    return records.map(() => ({ status: 'unknown', reason: 'no answer' }));
  };
  expect((await redrive({ letters: [ofSite, ofPerson] })).status).toBe(503);
  expect(held).toHaveLength(2);
  const erased = await weir.call('POST', '/sites/person/erasures', { users: ['zoe'] });
  const removed = await weir.call('DELETE', '/sites/gone');
  for (const { body } of [erased, removed]) {
    await eventually('the erasure', async () => {
      const { data } = (await weir.call('GET', `/erasures/${body.data.erasure_id}`)).body;
      return data.phase === 'done';
    });
  }
  // The two redriven records reach the log only after both erasures.
  await weir.eventLog.append(TOPIC_RAW, held);
  await settled();
  expect(await urls('/gone')).toBe(0);
  expect(await urls('/person')).toBe(0);
  expect((await list()).letters).toEqual([]);
  expect(await count("SELECT count() AS n FROM records WHERE visitor_id = 'v-zoe' OR detail LIKE '%v-zoe%'")).toBe(0);
  expect(await audit()).toMatchObject({ balanced: true });
});

test('pages, filters and wrong requests', async () => {
  const ids = await letters(['/p1', '/p2', '/p3', '/p4', '/p5']);
  const first = await list('?limit=2');
  expect([first.total, first.letters.length]).toEqual([5, 2]);
  const second = await list(`?limit=3&after=${first.cursor}`);
  expect([...first.letters, ...second.letters].map(({ letter_id }) => letter_id).toSorted()).toEqual(
    [...ids].toSorted(),
  );
  expect((await list(`?limit=3&after=${second.cursor}`)).letters).toEqual([]);
  expect((await list('?until=1h')).total).toBe(0);
  for (const query of ['?limit=501', '?limit=0', '?after=x', '?since=yesterday', '?foo=1']) {
    expect((await weir.call('GET', `/dead-letters${query}`)).status).toBe(400);
  }
  for (const body of [
    { letters: ['x'] },
    { letters: [] },
    { letters: ids, site: 'shop' },
    { foo: 1 },
    { since: 'x' },
  ]) {
    expect((await redrive(body)).status).toBe(400);
  }
  expect((await weir.call('GET', '/dead-letters/nothing')).status).toBe(404);
  expect((await weir.call('GET', `/dead-letters/${weir.eventLog.logId}.0.99999`)).status).toBe(404);
  const { data } = (await redrive({ limit: 2 })).body;
  expect([data.total, data.results.length, data.cursor]).toEqual([5, 2, first.cursor]);
  await redrive({ after: data.cursor });
  expect((await list()).total).toBe(0);
});

test('a record that is not JSON, and one that has expired, are refused with the reason', async () => {
  await weir.eventLog.append(TOPIC_RAW, [{ partition: 0, value: Buffer.from('nonsense') }]);
  const id = await append('other' as RecordKind, {});
  await settled();
  const results = new Map<string, { result: string; problem: string }>(
    (await redrive()).body.data.results.map((one: { letter_id: string }) => [one.letter_id, one]),
  );
  expect(results.get(id)).toMatchObject({ result: 'dead', problem: 'kind is not known' });
  expect([...results.values()].find(({ result }) => result === 'refused')?.problem).toMatch(/not a raw record/);
  expect(await audit()).toMatchObject({ balanced: true, totals: { dead: { unreadable: 2 } } });
  const ends = (await weir.eventLog.positions(TOPIC_RAW, GROUP_ENRICHER)).map(({ end }) => end);
  await weir.eventLog.removeBefore(TOPIC_RAW, ends);
  const shown = (await weir.call('GET', `/dead-letters/${id}`)).body.data;
  expect(shown.redrive_problem).toMatch(/has expired: events\.raw keeps records for 72 hours/);
});
