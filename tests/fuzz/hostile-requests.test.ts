import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { eventually } from '@weir/testkit/eventually';
import { type HttpAnswer, type HttpRequest, openSocket } from '@weir/testkit/http-client';
import { bearer } from '@weir/testkit/weir-client';
import { isRunning, startWeir, type WeirProcess } from '@weir/testkit/weir-process';
import fc from 'fast-check';
import { ADMIN_BODY, type Operation, readOperations } from './admin-operations-of-document.ts';
import { bodyOf, headers, jsonText, nearly, word } from './hostile-values.ts';
import { cut, exchange, requestBytes } from './raw-connection.ts';

// Sends random requests to the ingestion endpoints and to the admin API of a Weir with all roles. Checks that no answer is a 500, that each error
// has the format of its endpoint, that the process continues, that its memory is limited, and that the audit finds no error. Each random test has
// one to five times WEIR_FUZZ_RUNS runs. A failure prints the seed and the smallest request that fails.

const RUNS = Number(process.env.WEIR_FUZZ_RUNS ?? 60);
const MEMORY_GROWTH_MIB_MAX = 400;

let weir: WeirProcess;
let site = '';
/** Random requests to the admin API may change this site. */
let changed = '';
let key = '';
let operations: readonly Operation[] = [];
/** The process IDs of Weir's main process and of its ClickHouse before the first request. */
let pids: readonly number[] = [];

beforeAll(async () => {
  const env = { RATE_LIMIT_COLLECT: '1000000', RATE_LIMIT_EVENTS: '1000000', RATE_LIMIT_IDENTIFY: '1000000' };
  weir = await startWeir({ env: { ...env, TRUSTED_PROXIES: '127.0.0.1' } });
  site = await weir.client.createSite();
  changed = await weir.client.createSite();
  ({ key } = await weir.client.createKey(site));
  operations = await readOperations(weir.client);
  pids = [weir.pid(), weir.clickhousePid()];
});
afterAll(() => weir?.stop());

const EVENT = {
  name: 'n',
  value: 1,
  properties: { a: 1 },
  visitor_id: 'v',
  session_id: 's',
  user_id: 'u',
  idempotency_key: 'k',
  timestamp: 1_700_000_000_000,
};
const CONTEXT = {
  url: 'https://example.com/',
  referrer: 'https://example.org/',
  ip: '192.0.2.1',
  user_agent: 'Mozilla/5.0',
  device_type: 'tv',
};
const HIT = {
  visitor_id: 'v',
  session_id: 's',
  type: 'event',
  event_name: 'n',
  event_properties: { a: 1 },
  url: 'https://example.com/',
  screen_width: 1,
};
const IDENTIFY = {
  visitor_id: 'v',
  user_id: 'u',
  email: 'a@example.com',
  name: 'n',
  plan: 'pro',
  stripe_customer_id: 'c',
};

/** Whether an error has the format of its endpoint (docs/api.md, Answers). */
function hasShape(path: string, { status, text, json, headers: answered }: HttpAnswer): boolean {
  if (status === 429) return true;
  if (status === 503) return answered['retry-after'] !== undefined;
  if (path.startsWith('/api/collect')) return text === '' && answered['access-control-allow-origin'] === '*';
  if (path.startsWith('/api/identify')) return typeof (json as { error?: unknown } | undefined)?.error === 'string';
  const { error } = (json ?? {}) as { error?: { code?: unknown; message?: unknown } };
  return error?.code === status && typeof error.message === 'string';
}

async function check(request: HttpRequest): Promise<void> {
  const answer = await weir.client.send(request);
  const { status, text } = answer;
  if (status < 400) return;
  expect({ status, text }).not.toMatchObject({ status: 500 });
  expect([400, 401, 403, 404, 405, 409, 413, 415, 429, 431, 503]).toContain(status);
  if (request.method !== 'HEAD')
    expect({ status, text, shape: hasShape(request.path, answer) }).toMatchObject({ shape: true });
}

describe('the endpoints of ingestion', () => {
  const batch = fc.oneof(
    jsonText,
    fc.array(nearly(EVENT), { maxLength: 20 }).map((events) => `{"events":[${events.join(',')}]}`),
    nearly({ events: [EVENT, EVENT] }),
  );
  test.each([
    [
      '/api/v1/events',
      fc.oneof(
        jsonText,
        nearly(EVENT),
        nearly({ ...EVENT, context: CONTEXT }),
        nearly(CONTEXT).map((context) => `{"name":"n","context":${context}}`),
      ),
    ],
    ['/api/v1/events/batch', batch],
    ['/api/identify', fc.oneof(jsonText, nearly(IDENTIFY))],
    [
      '/api/collect',
      fc.oneof(
        jsonText,
        fc.constant(HIT).chain((hit) => nearly({ ...hit, site_id: site })),
      ),
    ],
  ])('%s', async (path, json) => {
    const request = fc.tuple(bodyOf(json), fc.option(headers), fc.boolean());
    await fc.assert(
      fc.asyncProperty(request, async ([{ body, headers: ofBody }, more, chunked]) => {
        await check({ path, method: 'POST', body, chunked, headers: { ...bearer(key), ...more, ...ofBody } });
      }),
      { numRuns: RUNS * 2 },
    );
  });
});

test('the admin API: each operation, with random paths, parameters and bodies', async () => {
  const request = fc.nat().chain((index) => {
    const { method, path, parameters } = operations[index % operations.length] as Operation;
    const filled = [...path.matchAll(/\{\w+\}/g)].map(() =>
      method === 'DELETE' ? word : fc.oneof(word, fc.constant(changed)),
    );
    const query = fc.dictionary(fc.constantFrom('none', ...parameters), word, { maxKeys: 4 });
    return fc.tuple(
      fc.constant(method),
      fc.constant(path),
      fc.tuple(...filled),
      query,
      bodyOf(fc.oneof(jsonText, nearly(ADMIN_BODY))),
    );
  });
  await fc.assert(
    fc.asyncProperty(
      request,
      fc.option(headers),
      async ([method, path, words, query, { body, headers: ofBody }], more) => {
        let next = 0;
        const asked = path.replace(/\{\w+\}/g, () => words[next++] || 'x');
        const text = Object.entries(query)
          .map(([name, value]) => `${name}=${value}`)
          .join('&');
        const withBody = method === 'POST' || method === 'PATCH' ? { body } : {};
        await check({
          method,
          path: `${asked}?${text}`,
          ...withBody,
          headers: { ...more, ...ofBody, ...bearer(weir.client.adminToken) },
        });
      },
    ),
    { numRuns: RUNS * 5 },
  );
});

test.each(['timeline', 'search'])('people/%s with a body of thousands of levels', async (route) => {
  const body = `{"text":"a","visitor_id":"v","":${'{"a":'.repeat(30_000)}1${'}'.repeat(30_000)}}`;
  const { status } = await weir.client.admin('POST', `/sites/${site}/people/${route}`, body);
  expect([200, 400]).toContain(status);
});

describe('bytes of a connection', () => {
  const one = fc.tuple(
    fc.constantFrom('/api/v1/events', '/api/collect', '/api/identify', '/api/v1/events/batch', '/none'),
    nearly({ ...HIT, name: 'n' }),
    fc.boolean(),
  );
  const wire = (request: [string, string, boolean], isLast: boolean) => requestBytes(request, key, isLast);

  test('requests that follow each other on a connection are each answered, however they are cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(one, { minLength: 1, maxLength: 6 }),
        fc.array(fc.nat(), { maxLength: 6 }),
        async (requests, at) => {
          const bytes = Buffer.concat(requests.map((request, nth) => wire(request, nth === requests.length - 1)));
          const statuses = await exchange(weir.url, cut(bytes, at), false);
          expect(statuses.filter((status) => status >= 500)).toEqual([]);
          // After a 413, the server does not read the rest of the body and closes the connection. Later requests get no answer.
          if (!statuses.includes(413)) expect(statuses).toHaveLength(requests.length);
        },
      ),
      { numRuns: RUNS },
    );
  });

  test('damaged requests', async () => {
    await fc.assert(
      fc.asyncProperty(
        one,
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 8 }),
        fc.nat(),
        async (request, damage, at) => {
          const bytes = wire(request, true);
          for (const [place, byte] of damage) bytes[place % Math.min(bytes.length, 250)] = byte;
          expect((await exchange(weir.url, cut(bytes, [at]), true)).filter((status) => status >= 500)).toEqual([]);
        },
      ),
      { numRuns: RUNS },
    );
  });
});

describe('memory', () => {
  const anonymousMib = (): number =>
    Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${weir.pid()}/status`, 'utf8'))?.[1] ?? 0) / 1024;

  /** Runs `work`. Returns how much the memory of the main process grew during this time, at most. */
  async function growthMib(work: () => Promise<unknown>): Promise<number> {
    const before = anonymousMib();
    let most = before;
    const timer = setInterval(() => {
      most = Math.max(most, anonymousMib());
    }, 20);
    await work();
    clearInterval(timer);
    return most - before;
  }

  test('bodies that expand to 256 MiB, 40 at once', async () => {
    const zeros = Buffer.alloc(256 * 1024 * 1024, ' ');
    const bombs = [
      ['gzip', gzipSync(zeros, { level: 1 })],
      ['br', brotliCompressSync(zeros.subarray(0, 64 * 1024 * 1024), { params: { 1: 3 } })],
    ] as const;
    for (const [encoding, body] of bombs) {
      const paths = ['/api/collect', '/api/v1/events', '/api/v1/events/batch', '/api/identify', '/api/admin/sql'];
      const sendAll = () =>
        Promise.all(
          Array.from({ length: 40 }, (_, index) => {
            const path = paths[index % paths.length] ?? '';
            const token = path.startsWith('/api/admin') ? weir.client.adminToken : key;
            return weir.client
              .send({ path, method: 'POST', body, headers: { ...bearer(token), 'content-encoding': encoding } })
              .then(
                ({ status }) => status,
                () => 'closed',
              );
          }),
        );
      let statuses: readonly (number | string)[] = [];
      const growth = await growthMib(async () => {
        statuses = await sendAll();
      });
      // The server answers and closes the connection before it has read the whole body. Depending on the timing, the client sees only the closed
      // connection.
      expect(statuses.filter((status) => ![413, 503, 'closed'].includes(status))).toEqual([]);
      expect(growth).toBeLessThan(MEMORY_GROWTH_MIB_MAX);
    }
  });

  test('400 clients that send a body and stop do not prevent others', async () => {
    const head = `POST /api/v1/events/batch HTTP/1.1\r\nHost: w\r\nContent-Type: application/json\r\nAuthorization: Bearer ${key}\r\nContent-Length: 1000000\r\n\r\n`;
    const sockets = await Promise.all(
      Array.from({ length: 400 }, async () => {
        const socket = openSocket(weir.url);
        socket.on('error', () => {});
        await once(socket, 'connect');
        socket.write(`${head}${'['.repeat(60_000)}`);
        return socket;
      }),
    );
    const growth = await growthMib(async () => {
      for (let n = 0; n < 20; n++) expect((await weir.client.events(key, { name: 'n' })).status).toBe(202);
    });
    expect(growth).toBeLessThan(MEMORY_GROWTH_MIB_MAX);
    for (const socket of sockets) socket.destroy();
  });
});

test('afterwards, Weir and its ClickHouse have not been restarted, and everything that it accepted is stored exactly once', async () => {
  expect((await weir.client.events(key, { name: 'last' })).status).toBe(202);
  await weir.client.settled();
  await weir.client.balanced();
  expect(pids.map(isRunning)).toEqual([true, true]);
  expect([weir.pid(), weir.clickhousePid()]).toEqual(pids);
  expect(weir.output()).not.toMatch(/"level":60|unhandled/i);
  const settledAt = Date.now();
  const metrics = await eventually('a check of the audit in the background', async () => {
    const { text } = await weir.client.send({ path: '/metrics' });
    return Number(/^weir_audit_done_timestamp_seconds (\S+)$/m.exec(text)?.[1]) * 1000 > settledAt && text;
  });
  expect(metrics).not.toMatch(/^weir_audit_unbalanced_records.* [1-9]/m);
  const dead = await weir.client.sql('SELECT stage, reason, error FROM dead_letters');
  expect(dead).toEqual([]);
});
