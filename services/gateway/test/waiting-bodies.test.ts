import { PassThrough } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { TOPIC_RAW } from '@weir/domain/records/topics';
import { deferred, eventually } from '@weir/testkit/eventually';
import { createBatchTurns } from '../src/admission/batch-turns.ts';
import { createReadBody } from '../src/http/read-request-body.ts';
import { type RunningGateway, startGateway } from './start-gateway.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const MB = 1_000_000;
const REQUESTS = 60;
const BATCHES = 8;
/** A JSON list of empty objects. The parsed list needs more than 20 times the memory of its text. */
const objectsOf = (bytes: number): string => `[${'{},'.repeat(bytes / 3)}{}]`;
const ITEMS = objectsOf(60_000);
const HIT = { site_id: 'site_a', visitor_id: 'v', session_id: 's', type: 'pageview', url: 'https://example.com/' };
const with26Traits = Object.fromEntries(Array.from({ length: 26 }, (_, nth) => [`trait_${nth}`, nth]));

let weir: RunningGateway;
let key: string;
let held = Promise.resolve();

beforeAll(async () => {
  weir = await startGateway({
    config: { rateLimits: { collect: 10_000, events: 10_000, identify: 10_000 } },
    wrapLog: (log) => ({
      ...log,
      async append(topic, records) {
        if (topic === TOPIC_RAW) await held;
        return log.append(topic, records);
      },
    }),
  });
  await weir.makeSite('site_a');
  key = await weir.makeKey('site_a');
});
afterAll(() => weir.close());

function send(path: string, body: string): Promise<number> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  return fetch(weir.url + path, { method: 'POST', headers, body }).then(({ status }) => status);
}

async function waiting(): Promise<number> {
  const text = await (await fetch(`${weir.url}/metrics`)).text();
  return Number(/^weir_gateway_waiting_requests (\d+)$/m.exec(text)?.[1]);
}

function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** Sends `requests` copies of the body while the event log stores no record. Returns by how many bytes the heap has grown when all requests wait. */
async function grownWhileWaiting(path: string, body: string, requests: number): Promise<number> {
  expect([200, 202, 204]).toContain(await send(path, body));
  const { promise, resolve: release } = deferred();
  held = promise;
  const before = heapBytes();
  const answers = Array.from({ length: requests }, () => send(path, body));
  await eventually('all requests to wait', async () => (await waiting()) === requests);
  const grown = heapBytes() - before;
  release();
  for (const status of await Promise.all(answers)) expect([200, 202, 204]).toContain(status);
  return grown;
}

describe('a request that waits for the event log keeps the text of its body, but not the parsed objects', () => {
  test.each([
    ['/api/v1/events', `{"name":"a","unknown":${ITEMS}}`],
    [
      '/api/identify',
      `${JSON.stringify({ visitor_id: 'v', user_id: 'u', ...with26Traits }).slice(0, -1)},"z":${ITEMS}}`,
    ],
    ['/api/collect', `${JSON.stringify(HIT).slice(0, -1)},"unknown":${ITEMS}}`],
  ])('%s', async (path, body) => {
    // The parsed bodies would need at least 1.2 MB each.
    expect(await grownWhileWaiting(path, body, REQUESTS)).toBeLessThan(REQUESTS * 0.5 * MB);
  });

  test('/api/v1/events/batch', async () => {
    const body = `{"events":[{"name":"a"}],"unknown":${objectsOf(900_000)}}`;
    expect(await grownWhileWaiting('/api/v1/events/batch', body, BATCHES)).toBeLessThan(BATCHES * 6 * MB);
  });
});

test('a batch is not parsed before its turn', async () => {
  const turns = createBatchTurns();
  const readBody = createReadBody();
  const body = Buffer.from(`{"events":[{"name":"a"}],"unknown":${objectsOf(900_000)}}`);
  const before = heapBytes();
  const reads = Array.from({ length: BATCHES }, () => {
    const request = Object.assign(new PassThrough(), { headers: {} });
    request.end(body);
    return readBody(request as never, 1024 * 1024, () => turns.next('key'));
  });
  await reads[0];
  expect(heapBytes() - before).toBeLessThan(2 * 25 * MB);
  expect((await Promise.all(reads)).filter((read) => 'json' in read)).toHaveLength(BATCHES);
});
