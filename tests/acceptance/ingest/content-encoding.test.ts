import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import type { HttpAnswer } from '@weir/testkit/http-client';
import { ACCEPTED, expectEnvelope, expectIdentifyError, expectJson, expectNoBody } from '../expect-answers.ts';
import { useWeir } from '../use-weir.ts';

const weir = useWeir();
let site = '';
let key = '';

beforeAll(async () => {
  ({ site, key } = await weir.createSiteWithKey());
});

type Compress = (body: Buffer) => Buffer;
const LIMIT_BYTES = 65_536;
const BATCH_LIMIT_BYTES = 1_048_576;
const SUPPORTED = 'gzip, deflate, br';
const hit = (): object => ({ site_id: site, visitor_id: 'v', session_id: 's', type: 'pageview' });
const padded = (body: object, bytes: number): Buffer => Buffer.from(JSON.stringify(body).padEnd(bytes, ' '));
/** Compresses with a window of 16 MiB, the largest one that the format allows. */
const brotliOfLargeWindow: Compress = (body) =>
  brotliCompressSync(body, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS },
  });

const codings: readonly (readonly [what: string, header: string, compress: Compress])[] = [
  ['gzip', 'gzip', (body) => gzipSync(body)],
  ['gzip in capitals', 'GZIP', (body) => gzipSync(body)],
  ['gzip of two members', 'gzip', (body) => Buffer.concat([gzipSync(body.subarray(0, 3)), gzipSync(body.subarray(3))])],
  ['x-gzip', 'x-gzip', (body) => gzipSync(body)],
  ['deflate', 'deflate', (body) => deflateSync(body)],
  ['raw deflate', 'deflate', (body) => deflateRawSync(body)],
  ['br', 'br', (body) => brotliCompressSync(body)],
];

/** Sends a body to each endpoint. Returns the answers in the order events, batch, identify, collect. */
async function sendAll(encoding: string, pack: (body: Buffer) => Buffer, bytes = 0, batchBytes = 0, name = 'x') {
  const headers = { 'content-encoding': encoding };
  const batch = pack(padded({ events: [{ name }] }, batchBytes));
  return [
    await weir.events(key, pack(padded({ name }, bytes)), headers),
    await weir.send({
      path: '/api/v1/events/batch',
      headers: { authorization: `Bearer ${key}`, ...headers },
      body: batch,
    }),
    await weir.identify(key, pack(padded({ visitor_id: 'v', user_id: 'u' }, bytes)), headers),
    await weir.collect(pack(padded(hit(), bytes)), headers),
  ] as const;
}

function expectRefused(
  [events, batch, identify, collect]: readonly HttpAnswer[],
  status: number,
  message: RegExp,
): void {
  if (!events || !batch || !identify || !collect) throw new Error('expected four answers');
  expectEnvelope(events, status, message);
  expectEnvelope(batch, status, message);
  expectIdentifyError(identify, status, message);
  expectNoBody(collect, status);
}

describe('bodies with the Content-Encoding gzip, deflate or br are decompressed', () => {
  test.each(codings)('%s', async (_, header, compress) => {
    const [events, batch, identify, collect] = await sendAll(header, compress);
    expectJson(events, 202, ACCEPTED);
    expect(batch.json).toMatchObject({ data: { accepted: 1, failed: 0 } });
    expect(identify.status).toBe(200);
    expectNoBody(collect, 204);
  });

  test('a compressed body is stored unchanged, including exact numbers', async () => {
    const { site: own, key: ownKey } = await weir.createSiteWithKey();
    const text = '{"name":"Größe","value":12345678901234567.25,"properties":{"id":9007199254740993}}';
    expectJson(await weir.events(ownKey, gzipSync(text), { 'content-encoding': 'gzip' }), 202, ACCEPTED);
    const [row] = await weir.rows('events', own, 1, 'event_name, toString(properties.id) AS id');
    expect(row).toEqual({ event_name: 'Größe', id: '9007199254740993' });
  });
});

describe('size limits apply to the decompressed body', () => {
  test.each(codings)('%s, at the limit and one byte above it', async (_, header, compress) => {
    for (const { status } of await sendAll(header, compress, LIMIT_BYTES, BATCH_LIMIT_BYTES)) {
      expect([200, 202, 204]).toContain(status);
    }
    expectRefused(
      await sendAll(header, compress, LIMIT_BYTES + 1, BATCH_LIMIT_BYTES + 1),
      413,
      /at most (64|1024) KiB/,
    );
  });

  test('a body whose compressed form is longer than the limit is accepted', async () => {
    const body = padded({ name: 'x' }, LIMIT_BYTES);
    const stored = gzipSync(body, { level: 0 });
    expect(stored.length).toBeGreaterThan(LIMIT_BYTES);
    expectJson(await weir.events(key, stored, { 'content-encoding': 'gzip' }), 202, ACCEPTED);
  });

  test.each([
    ['gzip', 'gzip', gzipSync(Buffer.alloc(60_000_000))],
    ['deflate', 'deflate', deflateSync(Buffer.alloc(60_000_000))],
    ['br', 'br', brotliOfLargeWindow(Buffer.alloc(100_000_000))],
  ] as const)('many bombs at once are 413, and others are answered: %s', async (_, header, bomb) => {
    expect(bomb.length).toBeLessThan(LIMIT_BYTES);
    const headers = { 'content-encoding': header };
    const bombs = Promise.all(Array.from({ length: 40 }, () => weir.events(key, bomb, headers)));
    expectJson(await weir.events(key, { name: 'beside bombs' }), 202, ACCEPTED);
    for (const answer of await bombs) expectEnvelope(answer, 413);
  });
});

describe('a body that does not fit its Content-Encoding', () => {
  test.each(codings.filter(([what]) => what !== 'raw deflate'))(
    '%s: a body that is not compressed gets 400',
    async (_, header) => {
      expectRefused(await sendAll(header, (body) => body), 400, /Content-Encoding/);
    },
  );
  test.each(codings)(
    '%s: a truncated, damaged or empty body, or one with trailing bytes, gets 400',
    async (_, header, compress) => {
      const damage = (body: Buffer): Buffer => {
        const packed = Buffer.from(compress(body));
        return packed.fill(0xff, Math.floor(packed.length / 2), Math.floor(packed.length / 2) + 4);
      };
      for (const pack of [
        (body: Buffer) => compress(body).subarray(0, -1),
        (body: Buffer) => Buffer.concat([compress(body), Buffer.from('more')]),
        () => Buffer.alloc(0),
        damage,
      ]) {
        const answers = await sendAll(header, pack, 2_000, 2_000);
        // Damaged bytes can sometimes be decompressed. The result is then not valid JSON.
        expectRefused(answers, 400, pack === damage ? /the body must be/ : /Content-Encoding/);
      }
    },
  );

  test.each(['zstd', 'compress', 'aws-chunked', 'gzip, br', 'gzip, gzip', 'identity, gzip', 'utf-8'])(
    '%s is 415',
    async (header) => {
      const answers = await sendAll(header, (body) => gzipSync(body));
      expectRefused(answers, 415, /^Content-Encoding must be one of gzip, deflate, br$/);
      for (const { headers } of answers) expect(headers['accept-encoding']).toBe(SUPPORTED);
      expect(answers[3].headers['access-control-allow-origin']).toBe('*');
    },
  );
});

describe('a UTF-8 byte-order mark is ignored', () => {
  const marked: Compress = (body) => Buffer.concat([Buffer.from('\ufeff'), body]);

  test.each([
    ['plain', '', marked],
    ['in gzip', 'gzip', (body: Buffer) => gzipSync(marked(body))],
  ] as const)('%s', async (_, header, pack) => {
    const [events, batch, identify, collect] = await sendAll(header, pack, 0, 0, 'Größe');
    expectJson(events, 202, ACCEPTED);
    expect(batch.json).toMatchObject({ data: { accepted: 1 } });
    expect(identify.status).toBe(200);
    expectNoBody(collect, 204);
  });

  test('only one mark is ignored; a body that is only a mark is empty', async () => {
    expectRefused(await sendAll('', (body) => marked(marked(body))), 400, /valid JSON/);
    expectRefused(await sendAll('', () => marked(Buffer.alloc(0))), 400, /the body is empty/);
  });

  test('the record is stored, including exact numbers', async () => {
    const { site: own, key: ownKey } = await weir.createSiteWithKey();
    const text = '\ufeff{"name":"marked","properties":{"id":9007199254740993}}';
    expectJson(await weir.events(ownKey, text), 202, ACCEPTED);
    const [row] = await weir.rows('events', own, 1, 'event_name, toString(properties.id) AS id');
    expect(row).toEqual({ event_name: 'marked', id: '9007199254740993' });
  });
});

describe('the admin API', () => {
  const create = (body: Buffer, encoding: string): Promise<HttpAnswer> =>
    weir.send({
      path: `/api/admin/sites/${site}/keys/`,
      headers: { authorization: `Bearer ${weir.adminToken}`, 'content-encoding': encoding },
      body,
    });
  const body = Buffer.from(JSON.stringify({ name: 'packed', scopes: ['events:write'] }));

  test('the admin API accepts the same encodings, also with a slash at the end of the path', async () => {
    for (const [encoding, packed] of [
      ['gzip', gzipSync(body)],
      ['deflate', deflateSync(body)],
      ['br', brotliCompressSync(body)],
      ['', Buffer.concat([Buffer.from('\ufeff'), body])],
    ] as const) {
      expect((await create(packed, encoding)).status).toBe(201);
    }
    expectEnvelope(await create(body, 'gzip'), 400);
    const unknown = await create(body, 'zstd');
    expectEnvelope(unknown, 415, /^Content-Encoding must be one of gzip, deflate, br$/);
    expect(unknown.headers['accept-encoding']).toBe(SUPPORTED);
  });
});
