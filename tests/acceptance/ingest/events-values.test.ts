import { ACCEPTED, expectEnvelope, expectJson } from '../expect-answers.ts';
import { useWeir } from '../use-weir.ts';

const weir = useWeir();
let key = '';

beforeAll(async () => {
  key = (await weir.createSiteWithKey()).key;
});

const accepts = async (body: unknown) => expectJson(await weir.events(key, body), 202, ACCEPTED);
const refuses = async (body: unknown, message: RegExp) => expectEnvelope(await weir.events(key, body), 400, message);

/** Sends events to a new site. Returns the stored rows in the order of the event names. */
async function store(bodies: readonly unknown[], columns: string) {
  const { site, key: ownKey } = await weir.createSiteWithKey();
  for (const body of bodies) expectJson(await weir.events(ownKey, body), 202, ACCEPTED);
  const rows = await weir.rows('events', site, bodies.length, `event_name, ${columns}`);
  return rows.toSorted((a, b) => String(a.event_name).localeCompare(String(b.event_name), 'en', { numeric: true }));
}

describe('value', () => {
  test('a finite number or a string; a decimal number in a string is also a number', async () => {
    const sent = [42.5, 0, -3, 1e21, '19.99', '-7', '0', 'abc', '', null, '0x10', 'NaN', 'Infinity', '12px'];
    const rows = await store(
      sent.map((value, index) => ({ name: `e${index}`, value })),
      'value, value_text',
    );
    const numbers = [42.5, 0, -3, 1e21, 19.99, -7, 0, null, null, null, null, null, null, null];
    const texts = ['', '', '', '', '19.99', '-7', '0', 'abc', '', '', '0x10', 'NaN', 'Infinity', '12px'];
    expect(rows.map((row) => row.value)).toEqual(numbers);
    expect(rows.map((row) => row.value_text)).toEqual(texts);
  });

  test('a number that is not finite gets 400', async () => {
    await refuses('{"name":"x","value":1e400}', /value/);
    await refuses('{"name":"x","value":-1e999}', /value/);
  });
});

describe('timestamp', () => {
  const good: readonly (readonly [unknown, string])[] = [
    ['2026-01-02', '2026-01-02T00:00:00.000Z'],
    ['2026-01-02T03:04:05', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02T03:04:05.678Z', '2026-01-02T03:04:05.678Z'],
    ['2026-01-02T03:04:05+02:00', '2026-01-02T01:04:05.000Z'],
    ['2026-01-02T03:04', '2026-01-02T03:04:00.000Z'],
    ['2024-02-29T23:59:59.999-05:30', '2024-03-01T05:29:59.999Z'],
    ['20260102T030405.678+0200', '2026-01-02T01:04:05.678Z'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
    ['1969-12-31T23:30:00-00:30', '1970-01-01T00:00:00.000Z'],
    ['2100-01-01T00:59:59.9999999999999+01:00', '2099-12-31T23:59:59.999Z'],
    ['0000000001764000000123', '2025-11-24T16:00:00.123Z'],
    [1764000000123, '2025-11-24T16:00:00.123Z'],
    ['1764000000123', '2025-11-24T16:00:00.123Z'],
    [0, '1970-01-01T00:00:00.000Z'],
    ['1970-01-01', '1970-01-01T00:00:00.000Z'],
    [4102444799999, '2099-12-31T23:59:59.999Z'],
    ['2099-12-31T23:59:59.999Z', '2099-12-31T23:59:59.999Z'],
  ];

  test('ISO 8601 or Unix milliseconds, stored in UTC', async () => {
    const rows = await store(
      good.map(([timestamp], index) => ({ name: `t${index}`, timestamp })),
      'toUnixTimestamp64Milli(timestamp) AS ms',
    );
    expect(rows.map((row) => new Date(Number(row.ms)).toISOString())).toEqual(good.map(([, iso]) => iso));
  });

  test('defaults to the time of receipt', async () => {
    const before = Date.now();
    const [row] = await store(
      [{ name: 'now' }],
      'toUnixTimestamp64Milli(timestamp) AS ms, timestamp = received_at AS same',
    );
    expect(Number(row?.ms)).toBeGreaterThanOrEqual(before);
    expect(Number(row?.ms)).toBeLessThanOrEqual(Date.now());
    expect(Boolean(row?.same)).toBe(true);
  });

  test.each([
    -1,
    4102444800000,
    '4102444800000',
    '-1',
    '1969-12-31T23:59:59.999Z',
    '1970-01-01T00:00:00+01:00',
    '2100-01-01',
    '2099-12-31T23:59:59-01:00',
    'yesterday',
    '2026-13-01',
    '2026-02-30',
    '2025-02-29',
    '2026-01-02T25:00:00Z',
    '2026-01-02T03:60:00Z',
    '2026-01-02T03:04:60Z',
    '02/01/2026',
    'Fri, 02 Jan 2026 03:04:05 GMT',
    '2026-01-02T03:04:05+99:00',
    1e300,
    -0.5,
  ])('%j is 400', async (timestamp) => {
    await refuses({ name: 'x', timestamp }, /timestamp/);
  });

  test.each([1764000000, '1764000000', 1764000000.5, 1e9, 99_999_999_999, '099999999999'])(
    '%j is probably a time in seconds and gets 400',
    async (timestamp) => {
      await refuses({ name: 'x', timestamp }, /^timestamp must be Unix milliseconds; this looks like seconds$/);
    },
  );

  test.each([999_999_999, 100_000_000_000, '100000000000'])('%j is milliseconds', async (timestamp) => {
    await accepts({ name: 'x', timestamp });
  });
});

describe('properties', () => {
  const ofBytes = (bytes: number) => ({ k: 'x'.repeat(bytes - '{"k":""}'.length) });
  const ofDepth = (levels: number): object => (levels === 1 ? { leaf: 1 } : { deeper: ofDepth(levels - 1) });
  const ofKeys = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index]));

  test.each(['properties', 'metadata', 'event_properties'])('%s: at most 32 KiB as JSON', async (field) => {
    await accepts({ name: 'x', [field]: ofBytes(32_768) });
    await refuses({ name: 'x', [field]: ofBytes(32_769) }, /32 ?KiB|32,?768/);
  });

  test('the limit of 32 KiB counts bytes, not chars', async () => {
    await refuses({ name: 'x', properties: { k: 'é'.repeat(16_384) } }, /propert/);
    await accepts({ name: 'x', properties: { k: 'é'.repeat(16_380) } });
  });

  test('at most 5 levels deep; the object itself is the first level', async () => {
    await accepts({ name: 'x', properties: ofDepth(5) });
    await refuses({ name: 'x', properties: ofDepth(6) }, /5|deep|level/);
    await accepts({ name: 'x', properties: { a: [[[[1]]]] } });
    await refuses({ name: 'x', properties: { a: [[[[[1]]]]] } }, /5|deep|level/);
  });

  test('at most 200 keys in total', async () => {
    await accepts({ name: 'x', properties: ofKeys(200) });
    await refuses({ name: 'x', properties: ofKeys(201) }, /200/);
    await accepts({ name: 'x', properties: { a: ofKeys(100), b: ofKeys(98) } });
    await refuses({ name: 'x', properties: { a: ofKeys(100), b: [ofKeys(99)] } }, /200/);
  });

  test('an extremely deep body is refused and does not crash the process', async () => {
    const deep = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`;
    expectEnvelope(await weir.events(key, `{"name":"x","properties":${deep}}`), 400);
    expectEnvelope(
      await weir.events(key, `{"name":"x","properties":{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}}`),
      400,
    );
  });

  test('__proto__ and constructor are ordinary keys', async () => {
    const body =
      '{"name":"proto","properties":{"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"p":"q"}},"plan":"pro"}}';
    const [row] = await store([body], 'toJSONString(properties) AS json');
    const stored = JSON.parse(String(row?.json)) as object;
    expect(Object.entries(stored).toSorted()).toEqual([
      ['__proto__', { polluted: 'yes' }],
      ['constructor', { prototype: { p: 'q' } }],
      ['plan', 'pro'],
    ]);
  });

  test('every accepted event is stored, with any properties', async () => {
    const strange = [
      '{"a":1,"a":{"b":2}}',
      '{"":"empty key","x":{"":1}}',
      '{"k":18446744073709551616,"l":-9223372036854775808,"m":1e308,"n":0.1,"o":1e-320}',
      '{"k":"\\u0000nul","quote":"\\"`\'\\\\"}',
      '{"k":[1,"a",{"b":1},null],"o":[1,[true]],"l":[],"m":{},"n":null}',
      '{"`tick`":1,"a b":2,"ключ":3,"\\u0000":4,"a..b":5,".":6,"a[]":7}',
      '{"k":"2026-01-01 00:00:00","l":"2026-01-01","m":"true","n":"1"}',
      `{"${'long'.repeat(2000)}":1}`,
    ];
    const { site, key: ownKey } = await weir.createSiteWithKey();
    for (const [index, properties] of strange.entries()) {
      expectJson(await weir.events(ownKey, `{"name":"s${index}","properties":${properties}}`), 202, ACCEPTED);
    }
    const rows = await weir.rows('events', site, strange.length, 'event_name');
    expect(rows.map((row) => row.event_name).toSorted()).toEqual(strange.map((_, index) => `s${index}`));
  });
});
