import { bucketStarts, defaultInterval, localText } from '@weir/control/reports/buckets';
import { readFilters } from '@weir/control/reports/filter';
import { comparedPeriod, momentOf, type Period, type PeriodQuery, readPeriod } from '@weir/control/reports/period';
import { readQuery } from '@weir/control/reports/read-query';

const NOW = Date.parse('2026-03-30T21:30:00Z');
const noRows = (): Promise<number | undefined> => Promise.resolve(undefined);

async function period(query: PeriodQuery, zone = 'Europe/Berlin', first = noRows): Promise<Period> {
  const read = await readPeriod(query, zone, NOW, first);
  if ('problem' in read) throw new Error(read.problem);
  return read.value;
}
const shown = ({ fromMs, toMs, zone }: Period) => [localText(fromMs, zone), localText(toMs, zone)];

describe('docs/stats.md: period', () => {
  test.each([
    ['24h', '2026-03-29T23:30:00+02:00', '2026-03-30T23:30:00+02:00'],
    ['today', '2026-03-30T00:00:00+02:00', '2026-03-31T00:00:00+02:00'],
    ['yesterday', '2026-03-29T00:00:00+01:00', '2026-03-30T00:00:00+02:00'],
    ['7d', '2026-03-24T00:00:00+01:00', '2026-03-31T00:00:00+02:00'],
    [undefined, '2026-03-01T00:00:00+01:00', '2026-03-31T00:00:00+02:00'],
    ['90d', '2025-12-31T00:00:00+01:00', '2026-03-31T00:00:00+02:00'],
    ['12mo', '2025-04-01T00:00:00+02:00', '2026-03-31T00:00:00+02:00'],
    ['month', '2026-03-01T00:00:00+01:00', '2026-03-31T00:00:00+02:00'],
    ['year', '2026-01-01T00:00:00+01:00', '2026-03-31T00:00:00+02:00'],
    ['all', '2026-03-30T00:00:00+02:00', '2026-03-31T00:00:00+02:00'],
  ])('%s is from %s to %s', async (name, from, to) => {
    expect(shown(await period({ period: name }))).toEqual([from, to]);
  });

  test('`today` is the day in the time zone of the site, not of the server', async () => {
    expect(shown(await period({ period: 'today' }, 'Pacific/Kiritimati'))[0]).toBe('2026-03-31T00:00:00+14:00');
    expect(shown(await period({ period: 'today' }, 'Pacific/Pago_Pago'))[0]).toBe('2026-03-30T00:00:00-11:00');
  });
  test('`all` begins with the day of the first row, and never after today', async () => {
    const at = (text: string) => () => Promise.resolve(Date.parse(text));
    expect(shown(await period({ period: 'all' }, 'Europe/Berlin', at('2015-05-17T22:30:00Z')))[0]).toMatch(
      /^2015-05-18T00/,
    );
    expect(shown(await period({ period: 'all' }, 'Europe/Berlin', at('2050-01-01T00:00:00Z')))[0]).toMatch(
      /^2026-03-30T00/,
    );
  });
  test('dates mean whole days, times mean moments; without an offset they are local', async () => {
    expect(shown(await period({ from: '2026-03-29' }))).toEqual([
      '2026-03-29T00:00:00+01:00',
      '2026-03-31T00:00:00+02:00',
    ]);
    const moments = await period({ from: '2026-03-29T01:30', to: '2026-03-29T01:00:00Z' });
    expect(shown(moments)).toEqual(['2026-03-29T01:30:00+01:00', '2026-03-29T03:00:00+02:00']);
    const offsets = await period({ from: '2026-03-28T10:00-05', to: '2026-03-29T10:00+02:00[Europe/Berlin]' });
    expect(shown(offsets)).toEqual(['2026-03-28T16:00:00+01:00', '2026-03-29T10:00:00+02:00']);
    const spaced = await period({ from: '2026-03-29 10:00:00+02:00', to: '20260330' }, 'America/New_York');
    expect(shown(spaced)).toEqual(['2026-03-29T04:00:00-04:00', '2026-03-31T00:00:00-04:00']);
    const named = await period({ from: '2026-03-28T10:00[America/New_York]', to: '2026-03-29T10:00' });
    expect(shown(named)[0]).toBe('2026-03-28T15:00:00+01:00');
  });
});

test('a time with more than 128 chars is refused before it is parsed', () => {
  // ISO 8601 has annotations, which Temporal ignores.
  const annotated = (chars: number): string => `2026-03-29T10:00+02:00[Europe/Berlin][note=${'a'.repeat(chars)}]`;
  expect(momentOf(annotated(10), 'UTC', 0)).toBe(Date.parse('2026-03-29T08:00Z'));
  expect(momentOf(annotated(100), 'UTC', 0)).toBeUndefined();
  expect(momentOf('T'.repeat(16_000), 'UTC', 0)).toBeUndefined();
});

test.each([
  [{ from: '2026-03-31' }, 'to is required when from is after today'],
  [{ from: '2026-03-31T00:00:00+02:00' }, 'to is required when from is after today'],
  [{ from: '2026-03-31', to: '2026-03-30' }, 'to must be later than from'],
  [{ to: '2026-03-30' }, 'from is required when to is sent'],
  [{ period: '7d', to: '2026-03-30' }, 'period must not be sent together with from or to'],
])('%j is refused: %s', async (query, problem) => {
  expect(await readPeriod(query, 'Europe/Berlin', NOW, noRows)).toEqual({ problem });
});

describe('docs/stats.md: compare', () => {
  test.each([
    [
      { from: '2026-03-29', to: '2026-03-30' },
      'previous_period',
      '2026-03-27T00:00:00+01:00',
      '2026-03-29T00:00:00+01:00',
    ],
    [
      { from: '2026-03-01', to: '2026-03-31' },
      'previous_period',
      '2026-01-29T00:00:00+01:00',
      '2026-03-01T00:00:00+01:00',
    ],
    [
      { from: '2026-01-01', to: '2026-12-31' },
      'previous_period',
      '2025-01-01T00:00:00+01:00',
      '2026-01-01T00:00:00+01:00',
    ],
    [
      { from: '2024-02-28', to: '2024-02-28' },
      'previous_year',
      '2023-02-28T00:00:00+01:00',
      '2023-03-01T00:00:00+01:00',
    ],
    [
      { from: '2024-02-01', to: '2024-02-28' },
      'previous_year',
      '2023-02-01T00:00:00+01:00',
      '2023-03-01T00:00:00+01:00',
    ],
    [
      { from: '2025-02-28', to: '2025-02-28' },
      'previous_year',
      '2024-02-28T00:00:00+01:00',
      '2024-02-29T00:00:00+01:00',
    ],
    [
      { from: '2025-01-01', to: '2025-02-28' },
      'previous_year',
      '2024-01-01T00:00:00+01:00',
      '2024-02-29T00:00:00+01:00',
    ],
    [
      { from: '2024-02-29', to: '2024-02-29' },
      'previous_year',
      '2023-02-28T00:00:00+01:00',
      '2023-03-01T00:00:00+01:00',
    ],
    [
      { from: '2026-03-29T12:00Z', to: '2026-03-29T18:00Z' },
      'previous_period',
      '2026-03-29T08:00:00+02:00',
      '2026-03-29T14:00:00+02:00',
    ],
    [
      { from: '2024-02-28T23:00', to: '2024-02-29T05:00' },
      'previous_year',
      '2023-02-28T23:00:00+01:00',
      '2023-03-01T05:00:00+01:00',
    ],
    [
      { from: '2026-03-29T12:00Z', to: '2026-03-29T18:00Z' },
      'previous_year',
      '2025-03-29T14:00:00+01:00',
      '2025-03-29T20:00:00+01:00',
    ],
  ] as const)('%j with %s', async (query, comparison, from, to) => {
    expect(shown(comparedPeriod(await period(query), comparison))).toEqual([from, to]);
  });
});

describe('docs/stats.md: buckets', () => {
  const zones = Intl.supportedValuesOf('timeZone').filter((_, index) => index % 40 === 0);
  test.each([...zones, 'America/Havana', 'Africa/Cairo', 'Asia/Beirut', 'Antarctica/Troll'])(
    '%s: each day of a year begins with its first moment, and no hour is lost',
    async (zone) => {
      const year = await period({ from: '2026-01-01', to: '2026-12-31' }, zone);
      const days = bucketStarts(year, 'day');
      if ('problem' in days) throw new Error(days.problem);
      const dateOf = (ms: number) => localText(ms, zone).slice(0, 10);
      expect(days.value).toHaveLength(365);
      expect(days.value.every((ms) => dateOf(ms - 1) < dateOf(ms))).toBe(true);
      for (const [from, to] of [
        ['2026-03-06', '2026-04-25'],
        ['2026-10-01', '2026-11-08'],
      ]) {
        const hours = bucketStarts(await period({ from, to }, zone), 'hour');
        if ('problem' in hours) throw new Error(hours.problem);
        const names = hours.value.map((ms) => localText(ms, zone).replace(/:\d\d:\d\d/, ''));
        expect(new Set(names).size).toBe(names.length);
        expect(Math.max(...hours.value.map((ms, index) => ms - (hours.value[index - 1] ?? ms)))).toBe(3600_000);
      }
    },
  );
  test('a clock change within an hour ends that hour', async () => {
    const caracas = await period({ from: '2016-05-01T01:00', to: '2016-05-01T04:00' }, 'America/Caracas');
    const hours = bucketStarts(caracas, 'hour');
    expect('value' in hours && hours.value.map((ms) => localText(ms, 'America/Caracas').slice(11))).toEqual([
      '01:00:00-04:30',
      '02:00:00-04:30',
      '03:00:00-04:00',
    ]);
  });
  test('the default interval: hours for two days, days for three months, then weeks, then months', async () => {
    const of = async (from: string, to: string) => defaultInterval(await period({ from, to }));
    expect(await of('2026-10-24', '2026-10-25')).toBe('hour');
    expect(await of('2026-10-24', '2026-10-26')).toBe('day');
    expect(await of('2026-01-01', '2026-06-30')).toBe('week');
    expect(await of('2020-01-01', '2026-06-30')).toBe('month');
  });
});

describe('docs/stats.md: filters', () => {
  const read = (text: string) => {
    const filters = readFilters([text]);
    if ('problem' in filters) return filters.problem;
    return filters.value.map(({ dimension, operator, values }) => [dimension.name, operator, values])[0];
  };
  test.each([
    ['page:is:/a', ['page', 'is', ['/a']]],
    ['page:is_not:/a,/b', ['page', 'is_not', ['/a', '/b']]],
    ['page:is:/a\\,b,c:d\\:e', ['page', 'is', ['/a,b', 'c:d:e']]],
    ['page:is:a\\\\,b', ['page', 'is', ['a\\', 'b']]],
    ['page:is:a\\b\\', ['page', 'is', ['a\\b\\']]],
    ['country:is:', ['country', 'is', ['']]],
    ['property:plan:is:a', ['property:plan', 'is', ['a']]],
    ['property:a\\:b:is:c', ['property:a:b', 'is', ['c']]],
  ])('%s', (text, expected) => {
    expect(read(text)).toEqual(expected);
  });
  test('no filter is ignored, however many parameters there are', () => {
    const many = Array.from({ length: 5_000 }, () => 'filter=page:is:/').join('&');
    const query = readQuery(`/x?${many}&filter=os:is:x`, ['filter']);
    expect('value' in query && query.value.filters).toHaveLength(5_001);
  });
});
