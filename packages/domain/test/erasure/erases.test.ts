import { createLineEraser } from '@weir/domain/erasure/erase-line';
import { compileErasures } from '@weir/domain/erasure/erases';
import { letterTexts } from '@weir/domain/erasure/letter-texts';
import { ENTRY_PATTERN, entryOf, erasureHash, readEntry, type Tombstone } from '@weir/domain/erasure/tombstone';
import { RECORDS_COLUMNS } from '@weir/domain/records/records-columns';

const SALT = 'salt';
const hash = (kind: 'v' | 'd' | 'u' | 'c', id: string) => erasureHash(SALT, 'shop', kind, id);
const tombstone = (change: Partial<Tombstone>): Tombstone => ({
  siteId: 'shop',
  erasureId: 'e',
  part: 0,
  at: 100,
  salt: SALT,
  whole: false,
  entries: [],
  ...change,
});
const record = (change: object = {}) => ({
  siteId: 'shop',
  receivedAt: 50,
  timestamp: 40,
  visitorId: '',
  userId: '',
  customerId: '',
  ...change,
});

test('no tombstone, nothing to compile', () => {
  expect(compileErasures([])).toBeUndefined();
});

test('an entry reads back as it was', () => {
  const spans = [
    { from: Number.MIN_SAFE_INTEGER, to: 5 },
    { from: 9, to: Number.POSITIVE_INFINITY },
  ];
  const entry = entryOf('d', hash('d', 'x'), spans);
  expect(entry).toMatch(ENTRY_PATTERN);
  expect(readEntry(entry)).toEqual({ kind: 'd', hash: hash('v', 'x'), spans });
});

describe('what a tombstone erases', () => {
  const erases = compileErasures([
    tombstone({
      entries: [
        entryOf('v', hash('v', 'visitor')),
        entryOf('d', hash('d', 'device')),
        entryOf('d', hash('d', 'shared'), [{ from: 30, to: 45 }]),
      ],
    }),
    tombstone({ part: 1, entries: [entryOf('u', hash('u', 'user')), entryOf('c', hash('c', 'cus'))] }),
    tombstone({
      erasureId: 'other',
      at: 60,
      salt: 'another',
      entries: [entryOf('v', erasureHash('another', 'shop', 'v', 'old'))],
    }),
  ]);

  test.each([
    ['a visitor', { visitorId: 'visitor' }, true],
    ['a visitor with a user', { visitorId: 'visitor', userId: 'someone' }, true],
    ['another visitor', { visitorId: 'visitor2' }, false],
    ['a device', { visitorId: 'device' }, true],
    ['a device, in an event that names another user', { visitorId: 'device', userId: 'someone' }, false],
    ['a shared device in the span', { visitorId: 'shared' }, true],
    ['a shared device after the span', { visitorId: 'shared', timestamp: 45 }, false],
    ['a user', { userId: 'user', visitorId: 'v' }, true],
    ['a visitor with the ID of the user', { visitorId: 'user' }, false],
    ['a customer', { customerId: 'cus' }, true],
    ['received at that moment', { visitorId: 'visitor', receivedAt: 100 }, true],
    ['received later', { visitorId: 'visitor', receivedAt: 101 }, false],
    ['of another erasure with another salt', { visitorId: 'old' }, true],
    ['received after the other erasure', { visitorId: 'old', receivedAt: 61 }, false],
    ['no ID at all', {}, false],
  ])('%s', (_, change, erased) => {
    expect(erases?.record(record(change))).toBe(erased);
  });

  test('a whole site', () => {
    const whole = compileErasures([
      tombstone({ whole: true }),
      tombstone({ at: 200, entries: [entryOf('u', hash('u', 'u'))] }),
    ]);
    expect([
      whole?.record(record()),
      whole?.record(record({ receivedAt: 101 })),
      whole?.record(record({ receivedAt: 150, userId: 'u' })),
    ]).toEqual([true, false, true]);
  });
});

test('an erased line has only its place, its site and its time of receipt', () => {
  const values = Object.fromEntries(RECORDS_COLUMNS.map((column) => [column, 'secret'] as [string, unknown]));
  const numbers = {
    received_at: 50,
    timestamp: 40,
    raw_partition: 3,
    raw_offset: 7,
    screen_width: 100,
    value: 1.5,
    visit_started: 30,
  };
  const others = { site_id: 'shop', log_id: 'log', enrichment: 'v1', cookieless: true, outcome: 'row' };
  const given = { ...values, ...numbers, ...others, properties: { payment_customer_id: 'cus', x: 'secret' } };
  const line = Buffer.from(`${JSON.stringify(RECORDS_COLUMNS.map((column) => given[column as keyof typeof given]))}\n`);
  const erase = createLineEraser(() => [tombstone({ entries: [entryOf('c', hash('c', 'cus'))] })]);
  const later = Buffer.from(line.toString().replace('"cus"', '"other"'));
  expect(erase(later, 2)).toBe(later);
  const text = Buffer.from(erase(line, 2)).toString();
  expect(text).not.toMatch(/secret|cus/);
  expect(text.endsWith(']\n')).toBe(true);
  const erased = Object.fromEntries((JSON.parse(text) as unknown[]).map((value, i) => [RECORDS_COLUMNS[i], value]));
  expect(erased).toMatchObject({
    outcome: 'erased',
    reason: 'forgotten',
    site_id: 'shop',
    received_at: 50,
    timestamp: 50,
    log_id: 'log',
    raw_partition: 3,
    raw_offset: 7,
    screen_width: 0,
    cookieless: false,
    value: null,
    properties: {},
  });
});

test('a payment customer that is a long number is compared with all of its digits, as in ClickHouse', () => {
  const id = '900719925474099301';
  const erase = createLineEraser(() => [tombstone({ entries: [entryOf('c', hash('c', id))] })]);
  const lineOf = (digits: string): Buffer => {
    const values = RECORDS_COLUMNS.map((column) => {
      if (column === 'properties') return { other: 'DIGITS', payment_customer_id: 'DIGITS' };
      return { outcome: 'row', site_id: 'shop', received_at: 50, timestamp: 40 }[column as string] ?? '';
    });
    return Buffer.from(`${JSON.stringify(values).replaceAll('"DIGITS"', digits)}\n`);
  };
  const kept = lineOf(String(Number(id)));
  expect(Number(kept.toString().match(/\d{18}/)?.[0])).toBe(Number(id));
  expect(erase(kept, 2)).toBe(kept);
  expect(Buffer.from(erase(lineOf(id), 2)).toString()).toContain('"erased","forgotten"');
});

test('a dead letter is erased if it names the site and an erased ID, also one that is cut off', () => {
  const erases = compileErasures([tombstone({ entries: [entryOf('u', hash('u', 'o"brien'))] })]);
  const letter = (payload: string, receivedAt = 50) => erases?.letter(letterTexts(payload), receivedAt);
  const record = JSON.stringify({ siteId: 'shop', body: { user_id: 'o"brien', name: 7 } });
  expect(letter(record)).toBe(true);
  expect(letter(record.slice(0, -11))).toBe(true);
  expect(letter(record, 101)).toBe(false);
  expect(letter(record.replace('shop', 'other'))).toBe(false);
  expect(letter(record.replace('brien', 'connor'))).toBe(false);
  expect(letter('not JSON "\\x"')).toBe(false);
});
