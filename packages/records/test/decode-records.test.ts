import { encodeRawRecord, type RawRecordHead } from '@weir/domain/records/raw-record';
import { RECORDS_COLUMNS_VERSION } from '@weir/domain/records/records-columns';
import { decodeEnriched, decodeRaw, RecordError } from '@weir/records';
import { ENRICHED_COLUMNS } from '@weir/records/enriched-columns';
import fc from 'fast-check';

const EMPTY = { text: '', whole: 0, integer: 0, 'number or null': null, boolean: false, object: {} } as const;
const NEWEST = RECORDS_COLUMNS_VERSION;
const columns = Object.entries(ENRICHED_COLUMNS[NEWEST] ?? {});
const bytes = (value: unknown): Buffer => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
const NEWEST_HEADERS = { v: String(NEWEST), o: '7', r: '1764000000123' };

/** The values of a line. `values` sets some columns by name; all others are empty. */
function line(values: Readonly<Record<string, unknown>> = {}): unknown[] {
  return columns.map(([name, type]) => values[name] ?? EMPTY[type]);
}

function failure(work: () => unknown): RecordError {
  try {
    work();
  } catch (error) {
    if (error instanceof RecordError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('decodeEnriched', () => {
  test('gives each column by its name; headers are text or bytes', () => {
    const sent = { site_id: 'shop', outcome: 'row', properties: { plan: 'pro' }, value: 49.5, raw_offset: 7 };
    const event = decodeEnriched(NEWEST_HEADERS, bytes(`${JSON.stringify(line(sent))}\n`));
    expect(event).toMatchObject(sent);
    expect(Object.keys(event)).toEqual(columns.map(([name]) => name));
    expect(decodeEnriched({ v: Buffer.from(String(NEWEST)) }, bytes(line(sent)))).toEqual(event);
  });

  test('version 1 has the same columns without the stamp', () => {
    const old = line({ site_id: 'shop' }).slice(0, 56);
    expect(decodeEnriched({ v: '1' }, bytes(old))).toMatchObject({ site_id: 'shop', detail: '' });
    expect(decodeEnriched({ v: '1' }, bytes(old))).not.toHaveProperty('visit_stamp');
    expect(decodeEnriched(NEWEST_HEADERS, bytes(line({ visit_bounces: -1 })))).toMatchObject({ visit_bounces: -1 });
  });

  test.each([
    ['no header', {}, line()],
    ['an empty header', { v: '' }, line()],
    ['two headers', { v: ['1', '1'] }, line()],
    ['a header that is no version', { v: '01' }, line()],
    ['a column too few', NEWEST_HEADERS, line().slice(1)],
    ['a column too many', NEWEST_HEADERS, [...line(), '']],
    ['an object', NEWEST_HEADERS, {}],
    ['a text instead of a number', NEWEST_HEADERS, line({ raw_offset: '7' })],
    ['a negative offset', NEWEST_HEADERS, line({ raw_offset: -1 })],
    ['half a bounce', NEWEST_HEADERS, line({ visit_bounces: 0.5 })],
    ['an array instead of an object', NEWEST_HEADERS, line({ properties: [] })],
    ['half a line', NEWEST_HEADERS, JSON.stringify(line()).slice(0, -5)],
    ['nothing', NEWEST_HEADERS, ''],
  ])('damaged: %s', (_, headers, value) => {
    expect(failure(() => decodeEnriched(headers, bytes(value))).code).toBe('damaged');
  });

  test('damaged: no value; invalid UTF-8', () => {
    expect(failure(() => decodeEnriched(NEWEST_HEADERS, null)).code).toBe('damaged');
    const text = bytes(line({ site_id: 'ü' }));
    text[text.indexOf(0xc3)] = 0xff;
    expect(failure(() => decodeEnriched(NEWEST_HEADERS, text)).code).toBe('damaged');
  });

  test('another version is its own error, whatever the value is', () => {
    const error = failure(() => decodeEnriched({ v: String(NEWEST + 1) }, bytes('[]')));
    expect([error.code, error.message]).toEqual([
      'unknown_version',
      `events.enriched: this version of @weir/records has no column list ${NEWEST + 1}: install a newer version`,
    ]);
  });
});

describe('decodeRaw', () => {
  const HEAD: RawRecordHead = {
    eventId: '0199d1a5-7c00-7000-8000-000000000001',
    kind: 'event',
    siteId: 'shop',
    receivedAt: 1764000000123,
    sealedIp: `1${'A'.repeat(32)}`,
    userAgent: 'curl/8',
    acceptLanguage: 'de',
    clientHints: { 'sec-ch-ua': '"Brave"' },
    idempotencyKey: 'order-1',
  };

  test('gives the envelope and the body, without the sealed address', () => {
    const { sealedIp: _, ...shown } = HEAD;
    expect(decodeRaw(encodeRawRecord(HEAD, '{"name":"signup","items":[1]}'))).toEqual({
      ...shown,
      body: { name: 'signup', items: [1] },
    });
  });

  test('omits each form of the client address, and keeps what the caller calls ip', () => {
    const body =
      '{"ip":"192.0.2.1","context":{"ip":"192.0.2.2","url":"/"},"properties":{"ip":"own"},"\\u0069p":"192.0.2.3"}';
    const old = { ...HEAD, ip: '192.0.2.4', sealed_address_of_later: '192.0.2.5' };
    const record = decodeRaw(encodeRawRecord(old, body));
    expect(record.body).toEqual({ context: { url: '/' }, properties: { ip: 'own' } });
    expect(JSON.stringify(record)).not.toMatch(/192\.0\.2|AAAA/);
  });

  test.each(['eventId', 'siteId', 'receivedAt', 'kind', 'body'])('damaged: %s is missing', (field) => {
    const { [field]: _, ...rest } = JSON.parse(encodeRawRecord(HEAD, '{}').toString());
    expect(failure(() => decodeRaw(bytes(rest))).message).toBe(`events.raw: ${field} is missing or has a wrong type`);
  });

  test('a kind of a later Weir is an unknown version', () => {
    expect(failure(() => decodeRaw(bytes({ ...HEAD, kind: 'refund', body: {} }))).code).toBe('unknown_version');
  });

  test('keys of JavaScript objects are data', () => {
    const record = decodeRaw(encodeRawRecord(HEAD, '{"__proto__":{"kind":"x"},"constructor":1}'));
    expect(JSON.stringify(record.body)).toBe('{"__proto__":{"kind":"x"},"constructor":1}');
  });
});

test('any bytes give a result or a RecordError, which quotes none of them', () => {
  const secret = '203.0.113.77';
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.json(), (noise, json) => {
      for (const value of [noise, bytes(json), bytes(`${secret}${json}`), bytes({ eventId: secret, kind: json })]) {
        for (const decode of [() => decodeRaw(value), () => decodeEnriched(NEWEST_HEADERS, value)]) {
          expect(failure(decode).message).not.toContain(secret);
        }
      }
    }),
  );
});
