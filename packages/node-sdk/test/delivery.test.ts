import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@weir/testkit/eventually';
import { startWeir, type WeirProcess } from '@weir/testkit/weir-process';
import type { Undelivered } from '../src/event.ts';
import type { OutboxStore } from '../src/outbox.ts';
import { openQueueFile } from '../src/queue-file.ts';
import { Weir } from '../src/weir.ts';

const EVENTS = 10_000;
const RESTARTS_MIN = 3;
const RESTARTS_MAX = 15;
const RESTART_EVERY_MS = 2_000;
const KILLS_WITHIN_MS = 120_000;

const raise = (): never => {
  throw new Error('a defect of the caller');
};

/** Prints the state of Weir after a failed run. */
async function explain(server: WeirProcess, found: object): Promise<void> {
  const stored =
    'SELECT raw_partition, count() AS records, max(raw_offset) AS highest FROM records GROUP BY raw_partition ORDER BY raw_partition';
  const asked = await Promise.allSettled([server.client.must(200, 'GET', '/pipeline'), server.client.sql(stored)]);
  const [pipeline, records] = asked.map((one) => (one.status === 'fulfilled' ? one.value : String(one.reason)));
  console.error(`${JSON.stringify({ ...found, pipeline, records })}\n${server.output().slice(-4_000)}`);
}

describe('delivery to a real Weir', () => {
  let server: WeirProcess;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'weir-sdk-'));
    server = await startWeir({ env: { RATE_LIMIT_EVENTS: '1000000', RATE_LIMIT_IDENTIFY: '1000000' } });
  }, 120_000);
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  const open = async (options: object = {}) => {
    const siteId = await server.client.createSite();
    const { key } = await server.client.createKey(siteId);
    const undelivered: Undelivered[] = [];
    const onError = (one: Undelivered): void => void undelivered.push(one);
    // A long timeout, so that a slow machine does not cause retries.
    const weir = new Weir({ url: server.url, apiKey: key, timeoutMs: 60_000, onError, ...options });
    return { siteId, key, weir, undelivered };
  };

  test('every field arrives; an identity is sent before the events that depend on it', async () => {
    const { siteId, weir, undelivered } = await open();
    weir.track('before', { value: 3 });
    weir.identify('v1', 'u1', { email: 'u1@example.com', plan: 'pro' });
    weir.track('after', {
      userId: 'u1',
      value: '12.50',
      properties: { plan: 'pro' },
      externalId: 'x9',
      timestamp: new Date('2026-01-02T03:04:05.678Z'),
      context: {
        url: 'https://example.com/buy?utm_source=s',
        userAgent: 'Mozilla/5.0 (Windows NT 10.0) Firefox/140.0',
      },
    });
    await weir.flush();
    await weir.close();
    const rows = await server.client.rows('events', siteId, 2);
    const after = rows.find((row) => row.event_name === 'after');
    expect(after).toMatchObject({
      visitor_id: 'v1',
      user_id: 'u1',
      value: 12.5,
      pathname: '/buy',
      utm_source: 's',
      os: 'Windows',
      source: 'server',
      properties: { plan: 'pro', external_id: 'x9' },
    });
    expect(String(after?.timestamp)).toContain('2026-01-02 03:04:05.678');
    expect(undelivered).toEqual([]);
  });

  test('a refused call is reported once and does not affect others', async () => {
    const { siteId, weir, undelivered } = await open();
    weir.track('');
    weir.track('good');
    await weir.flush();
    expect(undelivered).toMatchObject([{ status: 400, reason: expect.stringContaining('name') }]);
    expect(await server.client.rows('events', siteId, 1)).toHaveLength(1);
    await weir.close();
    expect(weir.track('late')).toBe(false);
  });

  test.each([
    ['throws', () => raise()],
    ['rejects', async () => raise()],
  ])('an onError that %s does not stop the client', async (_, onError) => {
    const told = jest.spyOn(console, 'error').mockReturnValue();
    const { siteId, weir } = await open({ concurrency: 1, queueCallsMax: 4, onError });
    weir.track('');
    weir.identify('v1', '');
    weir.track('');
    weir.track('good');
    expect(weir.track('too many')).toBe(false);
    await weir.flush();
    expect(await server.client.rows('events', siteId, 1)).toHaveLength(1);
    expect(await weir.close()).toBe(0);
    expect(told.mock.calls).toEqual(Array(4).fill(['weir: onError failed: Error: a defect of the caller']));
    told.mockRestore();
  });

  test('a full disk: a call that the store cannot save is refused; a call that it cannot remove is still sent', async () => {
    const full = openSync('/dev/full', 'w');
    const file = openQueueFile(join(folder, 'full'));
    const remove = (): void => void writeSync(full, 'done');
    const { siteId, weir, undelivered } = await open({ concurrency: 1, store: { ...file, remove } });
    for (const name of ['first', 'second']) expect(weir.track(name)).toBe(true);
    await weir.flush();
    expect(await server.client.rows('events', siteId, 2)).toHaveLength(2);
    const unforgotten = { reason: expect.stringMatching(/^sent, but .*ENOSPC/) };
    expect(undelivered).toMatchObject([unforgotten, unforgotten]);
    expect(await weir.close()).toBe(0);

    const store: OutboxStore = { ...openQueueFile(join(folder, 'full')), add: remove };
    const next = await open({ store });
    expect(next.weir.track('third')).toBe(false);
    expect(next.undelivered).toMatchObject([{ reason: expect.stringMatching(/not save it.*ENOSPC/) }]);
    await next.weir.close();
    closeSync(full);
  });

  test('batches: 1,200 events need few requests, a refused event is reported, an identity is sent in order', async () => {
    const posted: string[] = [];
    const counting: typeof fetch = (input, init) => {
      posted.push(new URL(String(input)).pathname);
      return fetch(input, init);
    };
    const { siteId, weir, undelivered } = await open({ batch: true, fetch: counting });
    for (let count = 0; count < 600; count += 1) weir.track('early', { properties: { count } });
    weir.track('x'.repeat(129));
    weir.identify('v1', 'u1');
    for (let count = 0; count < 600; count += 1) weir.track('late', { userId: 'u1', properties: { count } });
    await weir.flush();
    expect(await weir.close()).toBe(0);
    const rows = await server.client.rows('events', siteId, 1_200, 'event_name, visitor_id');
    expect(rows).toHaveLength(1_200);
    expect(rows.filter((row) => row.event_name === 'late').every((row) => row.visitor_id === 'v1')).toBe(true);
    expect(undelivered).toMatchObject([{ status: 400 }]);
    expect(posted.filter((path) => path === '/api/identify')).toHaveLength(1);
    expect(posted.length).toBeLessThanOrEqual(6);
  });

  test('batches over the rate limit: the events that fit are sent in order, the others wait for the next window', async () => {
    const { siteId, weir, undelivered } = await open({ batch: true, concurrency: 1 });
    await server.client.must(200, 'PATCH', `/sites/${siteId}`, { limits: { events: 30 } });
    for (let count = 0; count < 100; count += 1) weir.track(`e${count}`);
    const rows = await server.client.rows('events', siteId, 30, 'event_name');
    const sent = rows.map((row) => String(row.event_name)).sort();
    expect(await weir.close(0)).toBe(70);
    expect(sent).toEqual(Array.from({ length: 30 }, (_, count) => `e${count}`).sort());
    expect(undelivered).toEqual([]);
  });

  test('a flush waits for earlier calls, up to its limit, and ends when the client is closed', async () => {
    const { weir } = await open({ url: 'http://127.0.0.1:9' });
    weir.track('unsent');
    await weir.flush(10);
    const flushed = weir.flush();
    expect(await weir.close(10)).toBe(1);
    await flushed;
  });

  test('answers of proxies: a 200 is retried, a redirect is reported, a 413 halves the batch', async () => {
    const answers = [
      () => new Response('<html>Sign in to the Wi-Fi</html>'),
      () => new Response('', { status: 413 }),
      () => new Response('', { status: 413 }),
    ];
    const sizes: number[] = [];
    const between: typeof fetch = async (input, init) => {
      sizes.push((JSON.parse(String(init?.body)) as { events: unknown[] }).events.length);
      return answers.shift()?.() ?? fetch(input, init);
    };
    const { siteId, weir, undelivered } = await open({ batch: true, concurrency: 1, fetch: between });
    for (let count = 0; count < 40; count += 1) weir.track(`e${count}`);
    await weir.flush();
    expect(sizes.slice(0, 4)).toEqual([40, 40, 20, 10]);
    expect(await server.client.rows('events', siteId, 40)).toHaveLength(40);
    expect(undelivered).toEqual([]);
    await weir.close();
    const redirected = await open({
      fetch: async () => new Response('', { status: 301, headers: { location: '/x' } }),
    });
    redirected.weir.track('lost');
    await redirected.weir.close();
    expect(redirected.undelivered).toMatchObject([{ status: 301 }]);
  });

  test('the queue is bounded', async () => {
    const { weir, undelivered } = await open({ url: 'http://127.0.0.1:9', queueCallsMax: 3 });
    expect([1, 2, 3, 4].map((count) => weir.track(`e${count}`))).toEqual([true, true, true, false]);
    expect(undelivered).toMatchObject([{ reason: 'the queue is full' }]);
    expect(await weir.close(10)).toBe(3);
  });

  test('unsent events are on disk, and the next process sends them', async () => {
    const path = join(folder, 'queue');
    const { siteId, key, weir } = await open({ url: 'http://127.0.0.1:9', store: openQueueFile(path) });
    for (let count = 0; count < 50; count += 1) weir.track(`e${count}`);
    expect(await weir.close(50)).toBe(50);
    const next = new Weir({ url: server.url, apiKey: key, timeoutMs: 60_000, store: openQueueFile(path) });
    await next.flush();
    expect(await next.close()).toBe(0);
    expect(await server.client.rows('events', siteId, 50)).toHaveLength(50);
    expect(readFileSync(path, 'utf8')).toBe('');
  });

  test(`${EVENTS} events are stored once each while Weir is killed ${RESTART_EVERY_MS} ms after each start`, async () => {
    const { siteId, weir, undelivered } = await open({
      queueCallsMax: EVENTS,
      concurrency: 16,
      timeoutMs: 10_000,
    });
    let restarts = 0;
    let over = false;
    const track = async (): Promise<void> => {
      for (let count = 0; count < EVENTS && !over; count += 1) {
        weir.track('load', { properties: { count } });
        if (count % 100 === 99) await new Promise((resolve) => setTimeout(resolve, RESTART_EVERY_MS / 25));
        // Waits for the first restarts, so that events remain to be sent after each of them, also if restarts are slow.
        const killed = () => over || restarts >= RESTARTS_MIN;
        if (count === (EVENTS * 7) / 10) await eventually('the first kills', killed, 240_000);
      }
      await weir.flush(300_000);
      over = true;
    };
    const kill = async (): Promise<void> => {
      // On a busy machine, Weir is up only for a short time between two restarts. The last events could then take longer than the 300 s of the
      // flush above. So the number of restarts is limited, and so is the time in which they happen.
      const killUntil = Date.now() + KILLS_WITHIN_MS;
      while (restarts < RESTARTS_MIN || (restarts < RESTARTS_MAX && Date.now() < killUntil)) {
        await new Promise((resolve) => setTimeout(resolve, RESTART_EVERY_MS));
        if (over) break;
        await server.kill9();
        await server.restart();
        restarts += 1;
      }
    };
    const working = [track(), kill()];
    try {
      await Promise.all(working);
      expect(await weir.close()).toBe(0);
      expect(undelivered).toEqual([]);
      await server.client.rows('events', siteId, EVENTS, 'event_id');
      await server.client.settled();
      const counts = `SELECT count() AS total, uniqExact(properties.count) AS distinct FROM events WHERE site_id = {site:String}`;
      const [found] = await server.client.sql(counts, { site: siteId });
      expect([Number(found?.total), Number(found?.distinct)]).toEqual([EVENTS, EVENTS]);
      expect(await server.client.audit()).toEqual([]);
    } catch (error) {
      await explain(server, { restarts, undelivered: undelivered.slice(0, 5) });
      throw error;
    } finally {
      over = true;
      await weir.close(0);
      await Promise.allSettled(working);
    }
  }, 900_000);
});
