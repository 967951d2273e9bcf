import { encodeRawRecord } from '@weir/domain/records/raw-record';
import { TOPIC_RAW } from '@weir/domain/records/topics';
import { eventually } from '@weir/testkit/eventually';
import { useOpened } from '@weir/testkit/use-opened';
import { createBrowsing } from './browse.ts';
import { ADMIN_TOKEN, openControlHarness } from './control-harness.ts';

const weir = useOpened(openControlHarness);
beforeAll(async () => {
  for (const siteId of ['shop', 'other']) {
    await weir.call('POST', '/sites', { name: siteId, domain: 'example.com', site_id: siteId });
  }
});
const listeners = new Set<AbortController>();
afterEach(() => {
  for (const listener of listeners) listener.abort();
  listeners.clear();
});
const { browse, cookieOf, addViewer } = createBrowsing(weir);

let sent = 0;
function recordOf(siteId: string, kind: 'event' | 'identify', body: object) {
  const eventId = `0199d1a5-7c00-7000-8000-${String(++sent).padStart(12, '0')}`;
  const sealedIp = `1${'A'.repeat(32)}`;
  const head = { eventId, kind, siteId, receivedAt: weir.clock(), sealedIp } as const;
  const value = encodeRawRecord({ ...head, userAgent: 'curl/8', acceptLanguage: '' }, JSON.stringify(body));
  return { partition: 0, value };
}

const appendBody = (siteId: string, kind: 'event' | 'identify', body: object) =>
  weir.eventLog.append(TOPIC_RAW, [recordOf(siteId, kind, body)]);

/** Appends events to one partition, as the gateway does. */
async function append(siteId: string, ...names: readonly string[]): Promise<void> {
  const values = names.map((name) =>
    recordOf(siteId, 'event', { name, visitor_id: 'v', properties: { plan: 'Gold' } }),
  );
  await weir.eventLog.append(TOPIC_RAW, values);
}

interface Listener {
  readonly status: number;
  readonly headers: Headers;
  /** Everything that was received so far. */
  text(): string;
  readonly ended: Promise<void>;
  close(): void;
}

/** Connects, and resolves when the first bytes are there. */
async function listen(query = '', headers: Readonly<Record<string, string>> = {}, site = 'shop'): Promise<Listener> {
  const abort = new AbortController();
  listeners.add(abort);
  const response = await fetch(`${weir.url}/api/admin/sites/${site}/live${query}`, {
    headers: headers.cookie === undefined ? { authorization: `Bearer ${ADMIN_TOKEN}`, ...headers } : headers,
    signal: abort.signal,
  });
  let text = '';
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) text += decoder.decode(bytes, { stream: true });
  };
  const ended = read().catch((error: unknown) => {
    if (!abort.signal.aborted) throw error;
  });
  await eventually('the first bytes', () => text !== '');
  return { status: response.status, headers: response.headers, text: () => text, ended, close: () => abort.abort() };
}

const namesIn = (text: string): string[] => [...text.matchAll(/"event_name":"(\w+)"/g)].map((match) => match[1] ?? '');
const lastIdIn = (text: string): string => [...text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? '';

/** Appends events until the listener has received one. From then on, it receives each event. */
async function ready(listener: Listener, site = 'shop'): Promise<void> {
  await eventually('the listener is ready', async () => {
    await append(site, 'ready');
    return namesIn(listener.text()).includes('ready');
  });
}
const without = (names: readonly string[]): string[] => names.filter((name) => name !== 'ready');

test('sends the records of one site with their enrichment, in order, and no client address', async () => {
  const listener = await listen();
  expect([listener.status, listener.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  expect(listener.headers.get('content-disposition')).toBeNull();
  await ready(listener);
  await append('shop', 'a', 'b');
  await append('other', 'foreign');
  await append('shop', 'c');
  await eventually('all events', () => namesIn(listener.text()).includes('c'));
  expect(without(namesIn(listener.text()))).toEqual(['a', 'b', 'c']);
  const [data = ''] = listener.text().match(/^data: .*"event_name":"a".*$/m) ?? [];
  const shown = JSON.parse(data.slice('data: '.length));
  expect(shown).toMatchObject({ site_id: 'shop', record: { outcome: 'row', visitor_id: 'v' } });
  expect(data).not.toContain('A'.repeat(32));
});

test('a filter selects records by their outcome and by a text in a value', async () => {
  const gold = await listen('?contains=gOLD&outcome=row');
  const none = await listen('?contains=silver');
  const dropped = await listen('?outcome=dropped');
  await ready(gold);
  await append('shop', 'wanted');
  await eventually('the event', () => namesIn(gold.text()).includes('wanted'));
  expect([namesIn(none.text()), namesIn(dropped.text())]).toEqual([[], []]);
});

test('a viewer gets stored rows without the IDs of persons, and cannot search for them', async () => {
  const { token } = await addViewer('shop');
  const authorization = `Bearer ${token}`;
  const listener = await listen('', { authorization });
  const byVisitor = await listen('?contains=visitor-7', { authorization });
  await ready(listener);
  const body = { visitor_id: 'visitor-7', user_id: 'ada', email: 'ada@example.com' };
  await appendBody('shop', 'identify', body);
  await appendBody('shop', 'event', {
    name: 'shown',
    visitor_id: 'visitor-7',
    user_id: 'ada',
    idempotency_key: 'order-7',
  });
  await eventually('the event', () => namesIn(listener.text()).includes('shown'));
  expect(listener.text()).not.toMatch(/visitor-7|ada|order-7/);
  expect(listener.text()).toContain('"type":"event"');
  await append('shop', 'end');
  await eventually('the next event', () => namesIn(listener.text()).includes('end'));
  expect(namesIn(byVisitor.text())).toEqual([]);
});

test('a viewer gets no number that depends on the records of other sites, and continues after the last ID', async () => {
  const authorization = `Bearer ${(await addViewer('shop')).token}`;
  const first = await listen('', { authorization });
  await ready(first);
  const numbersOf = async (name: string) => {
    await append('shop', name);
    await eventually('the event and its ID', () => new RegExp(`"${name}"[^]*\nid: .*\n\n$`).test(first.text()));
    const [data = ''] = first.text().match(new RegExp(`(?<=^data: ).*"event_name":"${name}".*$`, 'm')) ?? [];
    const { offset, partition, record } = JSON.parse(data);
    const { timestamp: _, received_at: __, ...rest } = record;
    return [offset, partition, Object.values(rest).filter((value) => typeof value === 'number')];
  };
  const before = await numbersOf('before');
  await append('other', ...Array.from({ length: 500 }, () => 'foreign'));
  expect(await numbersOf('after')).toEqual(before);
  const ids = [...first.text().matchAll(/^id: (.*)$/gm)].map((match) => match[1] ?? '');
  expect(new Set(ids.map((id) => id.length)).size).toBe(1);
  expect(Buffer.from(ids.join(''), 'base64url').toString()).not.toContain(weir.eventLog.logId);
  expect(first.text()).not.toContain(weir.eventLog.logId);

  first.close();
  await append('shop', 'between');
  const second = await listen('', { authorization, 'last-event-id': ids.at(-1) ?? '' });
  await eventually('the event that was missed', () => namesIn(second.text()).includes('between'));
  expect(namesIn(second.text())).not.toContain('after');
  const cursor = `events.enriched_${weir.eventLog.logId}_0.0.0.0`;
  for (const id of [cursor, 'A'.repeat(100), '']) {
    const guessing = await listen('', { authorization, 'last-event-id': id });
    await ready(guessing);
    expect(without(namesIn(guessing.text()))).toEqual([]);
  }
});

test.each(['?outcome=none', `?contains=${'x'.repeat(257)}`, '?limit=5', '?contains=a&contains=b'])(
  '%s is 400',
  async (query) => {
    expect((await weir.call('GET', `/sites/shop/live${query}`)).status).toBe(400);
  },
);

test('a site that does not exist is 404', async () => {
  expect((await weir.call('GET', '/sites/none/live')).status).toBe(404);
});

test('a listener that connects again with the last ID misses nothing', async () => {
  const first = await listen();
  await ready(first);
  await append('shop', 'before');
  await eventually('the ID after the event', () => {
    return namesIn(first.text()).includes('before') && first.text().endsWith('\n\n') && lastIdIn(first.text()) !== '';
  });
  const id = lastIdIn(first.text());
  first.close();
  await append('shop', 'between');
  const second = await listen('', { 'last-event-id': id });
  await eventually('the event that was missed', () => namesIn(second.text()).includes('between'));
  expect(namesIn(second.text())).not.toContain('before');
  const other = await listen('', { 'last-event-id': 'events.enriched_no-such-log_0' });
  await ready(other);
  expect(namesIn(other.text())).not.toContain('between');
});

test('a listener that is too far behind gets the event skipped and continues with newer records', async () => {
  const listener = await listen();
  await ready(listener);
  await eventually('an ID', () => lastIdIn(listener.text()) !== '');
  const id = lastIdIn(listener.text());
  listener.close();
  for (let round = 0; round < 6; round++) await append('other', ...Array.from({ length: 1000 }, () => 'many'));
  await append('shop', 'late');
  await eventually('all are enriched', async () => {
    const page = await weir.call('GET', '/topics/events.enriched/records?site=shop&limit=1');
    return page.body.data.records[0].record.event_name === 'late';
  });
  const again = await listen('', { 'last-event-id': id });
  await eventually('the newest event', () => namesIn(again.text()).includes('late'));
  expect(again.text()).toContain('event: skipped\n');
});

test('ends when the session of the listener is signed out', async () => {
  const cookie = await cookieOf(ADMIN_TOKEN);
  const listener = await listen('', { cookie, 'sec-fetch-site': 'same-origin' });
  await browse('DELETE', '/session', cookie);
  await listener.ended;
  expect((await browse('GET', '/sites/shop/live', cookie)).status).toBe(401);
});

test('a place is free again when its listener has left', async () => {
  const all = await Promise.all(Array.from({ length: 16 }, () => listen()));
  const refused = await weir.call('GET', '/sites/shop/live');
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '10']);
  // All sites together can have 32 listeners, and one site at most 16. So 16 places are still free for another site.
  expect(
    (await Promise.all(Array.from({ length: 16 }, () => listen('', {}, 'other')))).map(({ status }) => status),
  ).toEqual(Array.from({ length: 16 }, () => 200));
  expect(
    (
      await fetch(`${weir.url}/api/admin/sites/shop/live`, {
        method: 'HEAD',
        headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
      })
    ).status,
  ).toBe(200);
  all[0]?.close();
  const next = await eventually('a free place', async () => {
    const listener = await listen();
    return listener.status === 200 ? listener : undefined;
  });
  await ready(next);
});
