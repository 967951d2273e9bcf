import { encodeRawRecord, type RawRecordHead } from '@weir/domain/records/raw-record';
import { TOPIC_ENRICHED, TOPIC_RAW } from '@weir/domain/records/topics';
import type { EventLog } from '@weir/ports/event-log';
import { eventually } from '@weir/testkit/eventually';
import { type ControlHarness, openControlHarness, type Reply } from './control-harness.ts';

let weir: ControlHarness;
/** The names of all methods of the log that were called. */
const calls: string[] = [];
beforeAll(async () => {
  weir = await openControlHarness((log) => recording(log));
});
afterAll(() => weir.close());
beforeEach(() => void calls.splice(0));

function recording(log: EventLog): EventLog {
  return new Proxy(log, {
    get(target, name) {
      const member = Reflect.get(target, name) as unknown;
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        calls.push(String(name));
        return (member as (...all: unknown[]) => unknown).apply(target, args);
      };
    },
  });
}

let n = 0;
const head = (siteId: string): RawRecordHead => ({
  eventId: `0199d1a5-7c00-7000-8000-${String(++n).padStart(12, '0')}`,
  kind: 'event',
  siteId,
  receivedAt: Date.now(),
  sealedIp: `1${'A'.repeat(32)}`,
  userAgent: 'curl/8',
  acceptLanguage: '',
});
const event = (siteId: string, name: string, more = '') =>
  encodeRawRecord(head(siteId), `{"name":"${name}","visitor_id":"v"${more}}`);

async function append(partition: number, ...values: readonly Uint8Array[]): Promise<void> {
  const outcomes = await weir.eventLog.append(
    TOPIC_RAW,
    values.map((value) => ({ partition, value })),
  );
  expect(outcomes.every(({ status }) => status === 'stored')).toBe(true);
}

const page = (query = '', topic = TOPIC_RAW): Promise<Reply> =>
  weir.call('GET', `/topics/${encodeURIComponent(topic)}/records${query === '' ? '' : `?${query}`}`);
const names = ({ body }: Reply): string[] =>
  body.data.records.map(({ record }: { record: { body: { name: string } } | null }) => record?.body.name ?? 'damaged');

async function addSite(siteId: string, more: object = {}): Promise<void> {
  const body = { name: 'N', domain: 'example.com', site_id: siteId, ...more };
  expect((await weir.call('POST', '/sites', body)).status).toBe(201);
}

describe('GET /topics', () => {
  test('lists every topic: records, offsets and times of each partition, also of an empty one', async () => {
    await append(1, event('listed', 'a'), event('listed', 'b'));
    const { status, body } = await weir.call('GET', '/topics');
    expect(status).toBe(200);
    expect(
      body.data.map(({ name, kind, retention_hours: hours }: Record<string, unknown>) => [name, kind, hours]),
    ).toEqual([
      ['events.raw', 'log', 72],
      ['events.enriched', 'log', 720],
      ['registry', 'table', null],
      ['salts', 'table', null],
    ]);
    const time = expect.stringMatching(/^\d{4}-.*Z$/);
    expect(body.data[0].partitions.slice(0, 2)).toEqual([
      { partition: 0, records: 0, first_offset: 0, end_offset: 0, first_at: null, last_at: null },
      { partition: 1, records: 2, first_offset: 0, end_offset: 2, first_at: time, last_at: time },
    ]);
    expect(body.data[0].records).toBe(2);
    expect(body.data[3]).toEqual({
      name: 'salts',
      kind: 'table',
      records: null,
      retention_hours: null,
      partitions: [],
    });
    expect(JSON.stringify(body.data)).not.toMatch(/[0-9a-f]{64}/);
  });
});

describe('GET /topics/{topic}/records', () => {
  test('the newest records without since, in order of time, and then what follows the cursor', async () => {
    for (const [partition, name] of [
      [0, 'n1'],
      [3, 'n2'],
      [1, 'n3'],
      [0, 'n4'],
    ] as const) {
      await append(partition, event('newest', name));
    }
    const newest = await page('limit=3&site=newest');
    expect(newest.body.data).toMatchObject({ topic: 'events.raw', at_end: true });
    expect(names(await page('limit=1000&site=newest')).toSorted()).toEqual(['n1', 'n2', 'n3', 'n4']);
    expect(names(newest)).toContain('n4');
    const { cursor } = newest.body.data;
    expect(names(await page(`after=${cursor}`))).toEqual([]);
    await append(2, event('newest', 'n5'));
    expect(names(await page(`after=${cursor}`))).toEqual(['n5']);
  });

  test('a record is an object without the address', async () => {
    await append(0, event('shown', 'once', ',"context":{"ip":"192.0.2.7"}'));
    const { body } = await page('site=shown');
    expect(body.data.records).toEqual([
      {
        partition: 0,
        offset: expect.any(Number),
        appended_at: expect.stringMatching(/Z$/),
        bytes: expect.any(Number),
        site_id: 'shown',
        record: expect.objectContaining({ kind: 'event', body: { name: 'once', visitor_id: 'v', context: {} } }),
        problem: null,
      },
    ]);
    expect(JSON.stringify(body)).not.toMatch(/sealedIp|AAAA|192\.0\.2/);
  });

  test('pages since a time have each record once, in order within a partition', async () => {
    const since = new Date().toISOString();
    const all = Array.from({ length: 25 }, (_, i) => `p${i}`);
    for (const [i, name] of all.entries()) await append(i % 4, event('paged', name));
    const found: string[] = [];
    let query = `since=${since}`;
    for (let at_end = false; !at_end; ) {
      const { body, status } = await page(`${query}&site=paged&limit=4`);
      expect(status).toBe(200);
      found.push(...names({ body } as Reply));
      query = `after=${body.data.cursor}`;
      at_end = body.data.at_end;
    }
    expect(found.length).toBe(25);
    expect(found.filter((name) => Number(name.slice(1)) % 4 === 2)).toEqual(['p2', 'p6', 'p10', 'p14', 'p18', 'p22']);
  });

  test('an outcome has named columns', async () => {
    await addSite('outcomes');
    await append(2, event('outcomes', 'signup'));
    const stored = await eventually('the outcome is there', async () => {
      const { body } = await page('site=outcomes', TOPIC_ENRICHED);
      return body.data.records[0];
    });
    expect(stored.record).toMatchObject({ outcome: 'row', event_name: 'signup', raw_partition: 2 });
  });

  test('records of a removed site are still found', async () => {
    await addSite('removed');
    await append(0, event('removed', 'before'));
    await weir.call('DELETE', '/sites/removed');
    expect(names(await page('site=removed'))).toEqual(['before']);
  });

  test('bytes that are not a record give a problem without any of these bytes, and reading continues', async () => {
    const deep = event('deep', 'deep', `,"x":${'['.repeat(20_000)}${']'.repeat(20_000)}`);
    await append(3, Buffer.from([0, 255, 10]), Buffer.from('192.0.2.9 {'), Buffer.alloc(0), deep, event('odd', 'fine'));
    const { status, body } = await page('limit=5&since=1h');
    expect(status).toBe(200);
    const all = (await page('limit=1000&since=1h')).body.data.records.filter(
      ({ partition }: { partition: number }) => partition === 3,
    );
    expect(all.slice(-5).map(({ record, problem }: Record<string, unknown>) => [record === null, problem])).toEqual([
      [true, 'events.raw: the value (3 bytes) is not JSON in UTF-8'],
      [true, 'events.raw: the value (11 bytes) is not JSON in UTF-8'],
      [true, 'events.raw: the value (0 bytes) is not JSON in UTF-8'],
      [true, 'the record is nested deeper than 64 levels'],
      [false, null],
    ]);
    expect(JSON.stringify(body)).not.toContain('192.0.2.9');
  });

  test('wait answers as soon as there is a record, or without a record when the time is over', async () => {
    const { cursor } = (await page('limit=1')).body.data;
    const waiting = page(`after=${cursor}&site=awaited&wait=10`);
    await append(1, event('other', 'x'));
    await append(1, event('awaited', 'y'));
    expect(names(await waiting)).toEqual(['y']);
    expect((await page(`after=${cursor}&site=nothing&wait=1`)).body.data).toMatchObject({ records: [], at_end: true });
  });

  test('reading joins no group and commits nothing', async () => {
    await page('since=1h');
    await page('wait=0');
    expect(new Set(calls)).toEqual(new Set(['offsetsAtTime', 'positions', 'read']));
  });

  test('calls above the limit of waiting calls get 503, and ended calls make room for others', async () => {
    const { cursor } = (await page('limit=1')).body.data;
    const abort = new AbortController();
    const path = `${weir.url}/api/admin/topics/events.raw/records?after=${cursor}&site=nothing&wait=10`;
    const open = Array.from({ length: 70 }, () =>
      fetch(path, { signal: abort.signal, headers: { authorization: 'Bearer test-admin-token-0123456789' } }),
    );
    const first = await Promise.race(open);
    expect([first.status, first.headers.get('retry-after')]).toEqual([503, '1']);
    abort.abort();
    await Promise.allSettled(open);
    await eventually('a place is free', async () => (await page('limit=1')).status === 200);
  });

  test.each([
    ['limit=0', 'limit must be a whole number from 1 to 1000'],
    ['limit=1001', 'limit must be a whole number from 1 to 1000'],
    ['wait=11', 'wait must be a whole number from 0 to 10'],
    ['since=yesterday', 'since must be a duration (90s, 15m, 2h, 3d) or an ISO 8601 time'],
    ['since=1764000000', 'since must be Unix milliseconds; this looks like seconds'],
    ['since=2099-01-01', expect.stringMatching(/^since is in the future: the time of the server is /)],
    ['since=1h&after=x', 'since must not be sent together with after'],
    ['after=x', 'after must be the cursor of an earlier answer for this topic'],
    ['after=events.raw_other_1.2.3.4', 'after is a cursor of another event log: the log was created again'],
    ['site=a%20b', 'site must match ^[A-Za-z0-9_-]{1,64}$'],
    ['site=', 'site must match ^[A-Za-z0-9_-]{1,64}$'],
    ['from=1', 'from is not a known parameter; known are site, since, after, limit, wait'],
    ['limit=1&limit=2', 'limit must not be given twice'],
  ])('400: %s', async (query, message) => {
    const { status, body } = await page(query);
    expect([status, body.error.message]).toEqual([400, message]);
  });

  test('a cursor of another topic or another number of partitions gets 400; offsets beyond the end give no records', async () => {
    const { logId } = weir.eventLog;
    const cursor = (next: string) => `after=events.raw_${logId}_${next}`;
    expect((await page(cursor('0.0.0.0'), TOPIC_ENRICHED)).status).toBe(400);
    expect((await page(cursor('0.0.0'))).status).toBe(400);
    expect((await page(cursor('zzzzzzzzzzzzzzzzzzzz.0.0.0'))).status).toBe(400);
    const beyond = await page(cursor('zzzzz.zzzzz.zzzzz.zzzzz'));
    expect([beyond.status, beyond.body.data.records, beyond.body.data.at_end]).toEqual([200, [], true]);
  });

  test.each(['events', 'events/raw', '..', 'constructor', '__proto__', 'events.raw\n'])(
    '404: topic %j',
    async (topic) => {
      const { status, body } = await page('', topic);
      expect([status, body.error.message]).toEqual([
        404,
        topic === '..'
          ? 'no such path'
          : 'topic not found: the topics are events.raw, events.enriched, registry, salts',
      ]);
    },
  );

  test('salts cannot be read', async () => {
    const { status, body } = await page('', 'salts');
    expect([status, body.error.message]).toEqual([400, expect.stringMatching(/^salts cannot be read: /)]);
  });
});

describe('the registry', () => {
  test('shows the current rows in pages, without hashes, secrets and addresses', async () => {
    await addSite('reg');
    await addSite('reg-2');
    const secret = (await weir.call('POST', '/sites/reg/identity-secret')).body.data.secret as string;
    const { key } = (await weir.call('POST', '/sites/reg/keys', { name: 'k', scopes: ['events:write'] })).body.data;
    for (const value of ['203.0.113.9', '203.0.113.10']) {
      await weir.call('POST', '/sites/reg/exclusions', { type: 'ip', value });
    }
    await weir.call('POST', '/sites/reg-2/exclusions', { type: 'path', value: '/wp-*' });
    const found: { record: { key: string; value: Record<string, unknown> } }[] = [];
    let after = '';
    for (let at_end = false; !at_end; ) {
      const { body, status } = await page(`limit=1${after}`, 'registry');
      expect(status).toBe(200);
      found.push(...body.data.records);
      after = `&after=${body.data.cursor}`;
      at_end = body.data.at_end;
    }
    const keys = found.map(({ record }) => record.key);
    expect(keys).toEqual([...new Set(keys)].toSorted());
    const listed = (await weir.call('GET', '/topics')).body.data[2].records;
    expect(keys.length).toBe(listed);
    expect(keys.filter((one) => one.startsWith('exclusion/reg')).length).toBe(3);
    expect(found.find(({ record }) => record.key === 'site/reg')?.record.value).toMatchObject({
      siteId: 'reg',
      identityVerification: { required: false, secretCreatedAt: expect.any(Number) },
    });
    const text = JSON.stringify(found);
    expect(text).not.toMatch(/[0-9a-f]{64}|203\.0\.113/);
    expect(text).not.toContain(secret);
    expect(text).not.toContain(key);
    const ofSite = (await page('site=reg-2', 'registry')).body.data.records;
    expect(ofSite.map(({ site_id: site }: { site_id: string }) => site)).toEqual(['reg-2', 'reg-2']);
  });

  test.each(['since=1h', 'wait=5'])('%s does not apply: 400', async (query) => {
    expect((await page(query, 'registry')).body.error.message).toMatch(/^registry is a table of current rows/);
  });
});
