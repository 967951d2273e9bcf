import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { openClickhouseAnalytics } from '../../src/clickhouse/clickhouse-analytics.ts';

const MB = 1024 * 1024;
const headOf = (name: string): string => `{"meta":[{"name":"${name}","type":"String"}],"data":[["x"]`;
const HEAD = headOf('a');
const ROW = `,["${'x'.repeat(MB)}"]`;

/** Starts a server that sends answers of `rows` MB. ClickHouse can send such answers for a constant column, in spite of `max_result_bytes`. */
async function openServer() {
  let rows = 0;
  let head = HEAD;
  let row = ROW;
  let sent = 0;
  function* answer(): Iterable<string> {
    yield head;
    for (; sent < rows; sent++) yield row;
    yield ']}';
  }
  const server = createServer((request, response) => {
    sent = 0;
    request.resume();
    pipeline(Readable.from(answer(), { highWaterMark: 1 }), response).catch(() => undefined);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const analytics = openClickhouseAnalytics({ url, username: 'u', password: 'p', migrationsDir: '' });
  return {
    sent: () => sent,
    ask(count: number, answered = { head: HEAD, row: ROW }) {
      rows = count;
      ({ head, row } = answered);
      return analytics.userQuery('SELECT 1', {});
    },
    async close() {
      await analytics.close();
      server.closeAllConnections();
      server.close();
    },
  };
}

test('an answer that is larger than the limit is refused before all of it is in memory', async () => {
  const server = await openServer();
  try {
    await expect(server.ask(200)).rejects.toMatchObject({
      code: 'analytics_refused',
      message: expect.stringContaining('the result is larger than is allowed'),
    });
    expect(server.sent()).toBeLessThan(200);
    expect((await server.ask(2)).rows).toHaveLength(3);
  } finally {
    await server.close();
  }
});

test('an answer is refused if the column names that its rows repeat are longer in total than the limit', async () => {
  const server = await openServer();
  try {
    const answered = { head: headOf('n'.repeat(60_000)), row: ',["x"]' };
    await expect(server.ask(90_000, answered)).rejects.toMatchObject({
      code: 'analytics_refused',
      message: expect.stringContaining('90001 rows repeat 60002 bytes of column names'),
    });
    expect((await server.ask(100, answered)).rows).toHaveLength(101);
  } finally {
    await server.close();
  }
});

test('if the reader may not run a query without PREWHERE, the error of the first run is reported', async () => {
  const answers = [
    "Code: 53. DB::Exception: Cannot convert string 'gold' to type Int64. (TYPE_MISMATCH)",
    "Code: 164. DB::Exception: Cannot modify 'optimize_move_to_prewhere' setting in readonly mode. (READONLY)",
  ];
  const asked: URLSearchParams[] = [];
  const server = createServer((request, response) => {
    request.resume();
    const answer = answers[asked.length] ?? '';
    asked.push(new URL(request.url ?? '', 'http://127.0.0.1').searchParams);
    response.writeHead(500).end(answer);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const analytics = openClickhouseAnalytics({ url, username: 'u', password: 'p', migrationsDir: '' });
  try {
    await expect(analytics.userQuery('SELECT 1', {})).rejects.toMatchObject({
      code: 'analytics_refused',
      message: expect.stringContaining("Cannot convert string 'gold'"),
    });
    expect(asked.map((params) => params.get('optimize_move_to_prewhere'))).toEqual([null, '0']);
  } finally {
    await analytics.close();
    server.closeAllConnections();
    server.close();
  }
});

test('a query whose signal has aborted before the call is not sent', async () => {
  let asked = 0;
  const server = createServer((request, response) => {
    asked += 1;
    request.resume();
    response.end(`${HEAD}]}`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const analytics = openClickhouseAnalytics({ url, username: 'u', password: 'p', migrationsDir: '' });
  try {
    const left = analytics.userQuery('SELECT 1', {}, { signal: AbortSignal.abort() });
    await expect(left).rejects.toMatchObject({ code: 'analytics_unavailable' });
    expect(asked).toBe(0);
    expect((await analytics.userQuery('SELECT 1', {}, { signal: new AbortController().signal })).rows).toHaveLength(1);
  } finally {
    await analytics.close();
    server.closeAllConnections();
    server.close();
  }
});
