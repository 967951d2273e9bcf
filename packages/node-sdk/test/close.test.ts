import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Undelivered } from '../src/event.ts';
import { openQueueFile } from '../src/queue-file.ts';
import { Weir } from '../src/weir.ts';

describe('close and flush always end', () => {
  let server: Server;
  let requests: number;
  let answer: (response: ServerResponse) => void;
  let url: string;
  beforeAll(async () => {
    server = createServer((request, response) => {
      requests += 1;
      request.resume().once('end', () => answer(response));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    requests = 0;
  });
  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });

  const refuse = (response: ServerResponse, retryAfter: string): unknown =>
    response.writeHead(429, { 'retry-after': retryAfter }).end();

  test('close waits for a running request, but not for its Retry-After', async () => {
    const asked = new Promise<ServerResponse>((resolve) => {
      answer = resolve;
    });
    const weir = new Weir({ url, apiKey: 'k' });
    weir.track('unsent');
    const response = await asked;
    const flushed = weir.flush();
    const closed = weir.close(1);
    // A flush ends when the client is closed.
    await flushed;
    refuse(response, '3600');
    expect(await closed).toBe(1);
  });

  test.each([
    ['2592000', 'a month, more than a timer can have'],
    ['0', 'no time'],
  ])('after a Retry-After of %s (%s) the client does not retry at once', async (retryAfter) => {
    answer = (response) => refuse(response, retryAfter);
    const asked = once(server, 'request');
    const weir = new Weir({ url, apiKey: 'k', random: () => 1 });
    weir.track('unsent');
    await asked;
    await weir.flush(300);
    expect(requests).toBe(1);
    expect(await weir.close(1)).toBe(1);
  });

  test('logs the first retry, and the lost calls at close with the last failure. With an onError, the client logs nothing', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-close-'));
    const logged = jest.spyOn(console, 'error').mockImplementation(() => undefined);
    const undelivered: Undelivered[] = [];
    const onError = (one: Undelivered): void => void undelivered.push(one);
    const refused = new Error('connect ECONNREFUSED 127.0.0.1:9');
    const several = Object.assign(new AggregateError([refused]), { code: 'ECONNREFUSED' });
    const unsent = async (cause: Error, options: object): Promise<void> => {
      const failing: typeof fetch = () => Promise.reject(new TypeError('fetch failed', { cause }));
      const weir = new Weir({ url, apiKey: 'k', fetch: failing, ...options });
      weir.track('unsent');
      weir.identify('v', 'u');
      expect(await weir.close(50)).toBe(2);
    };
    await unsent(refused, {});
    await unsent(several, {});
    await unsent(refused, { onError });
    await unsent(refused, { store: openQueueFile(join(folder, 'queue')) });
    const lines = logged.mock.calls.map(([line]) => String(line));
    logged.mockRestore();
    const start = 'weir: the client was closed before it could send 2 calls; the last attempt failed: ';
    const retry = 'weir: a request failed, and the client repeats it until it is closed: ';
    expect(lines).toEqual([
      `${retry}connect ECONNREFUSED 127.0.0.1:9`,
      `${start}connect ECONNREFUSED 127.0.0.1:9`,
      `${retry}ECONNREFUSED`,
      `${start}ECONNREFUSED`,
      // With a store, `close` loses no calls.
      `${retry}connect ECONNREFUSED 127.0.0.1:9`,
    ]);
    expect(undelivered).toEqual([]);
    rmSync(folder, { recursive: true });
  });

  test('close can wait without a limit', async () => {
    answer = (response) => response.end('{"status":"success"}');
    const weir = new Weir({ url, apiKey: 'k', concurrency: 1 });
    for (const name of ['first', 'second', 'third']) weir.track(name);
    expect(await weir.close(Number.POSITIVE_INFINITY)).toBe(0);
    expect(requests).toBe(3);
  });

  test('a second close returns the promise of the first', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-close-'));
    answer = (response) => response.destroy();
    const weir = new Weir({ url, apiKey: 'k', store: openQueueFile(join(folder, 'queue')) });
    weir.track('unsent');
    await once(server, 'request');
    expect(await Promise.all([weir.close(1), weir.close(1)])).toEqual([1, 1]);
    expect(await weir.close()).toBe(1);
    rmSync(folder, { recursive: true });
  });
});
