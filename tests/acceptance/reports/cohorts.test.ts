import { useWeir } from '../use-weir.ts';

const client = useWeir();

interface Cohorts {
  readonly cohorts: readonly {
    readonly start: string;
    readonly end: string;
    readonly visitors: number;
    readonly returned: readonly number[];
    readonly rates: readonly (number | null)[];
  }[];
  readonly explain?: { readonly statements: readonly { readonly sql: string; readonly params: object }[] };
}

/** The UTC times of each visitor's events. The time in Berlin is one hour later, and from 29 March on two hours later. */
const PEOPLE: Readonly<Record<string, readonly string[]>> = {
  once: ['2026-03-27T12:00:00Z'],
  daily: ['2026-03-27T12:00:00Z', '2026-03-28T12:00:00Z', '2026-03-29T12:00:00Z', '2026-03-29T13:00:00Z'],
  lateEvening: ['2026-03-27T22:59:59.999Z', '2026-03-27T23:00:00Z'],
  clockChange: ['2026-03-28T23:00:00Z', '2026-03-29T21:59:59.999Z', '2026-03-29T22:00:00Z'],
  old: ['2026-01-01T12:00:00Z', '2026-03-27T12:00:00Z', '2026-03-28T12:00:00Z'],
  oldOnlyByEngagement: ['2026-03-28T10:00:00Z', '2026-03-30T10:00:00Z'],
};

describe('cohorts', () => {
  let site = '';
  const cohorts = async (query: string): Promise<Cohorts> =>
    (await client.must(200, 'GET', `/sites/${site}/cohorts?${query}`)) as Cohorts;

  beforeAll(async () => {
    site = await client.createSite({ timezone: 'Europe/Berlin' });
    const { key } = await client.createKey(site);
    const use = (kind: string, timestamp: string, name = 'use'): object => ({
      ...{ name, timestamp, properties: { kind } },
      ...(kind === 'anonymous' ? {} : { visitor_id: kind }),
    });
    const events = [
      ...Object.entries(PEOPLE).flatMap(([visitor, times]) => times.map((time) => use(visitor, time))),
      // `$engagement` is an internal event, which reports ignore. Therefore this visitor does not belong to an earlier cohort.
      use('oldOnlyByEngagement', '2026-02-01T10:00:00Z', '$engagement'),
      ...['2026-03-27T12:00:00Z', '2026-03-28T12:00:00Z'].map((time) => use('anonymous', time)),
    ];
    await client.sendBatch(key, events);
    await client.settled();
  });

  test('by day, counted by hand, over a clock change', async () => {
    const { cohorts: found } = await cohorts('from=2026-03-27&to=2026-03-30');
    expect(found.map(({ start }) => start)).toEqual([
      '2026-03-27T00:00:00+01:00',
      '2026-03-28T00:00:00+01:00',
      '2026-03-29T00:00:00+01:00',
      '2026-03-30T00:00:00+02:00',
    ]);
    // The first visits were on 27 March (once, daily, lateEvening), on 28 March (oldOnlyByEngagement), and on 29 March (clockChange).
    expect(found.map(({ visitors, returned }) => [visitors, returned])).toEqual([
      [3, [2, 1, 0]],
      [1, [0, 1]],
      [1, [1]],
      [0, []],
    ]);
    expect(found[0]?.rates).toEqual([0.6667, 0.3333, 0]);
  });

  test('by week and by month: the first bucket of all is the cohort', async () => {
    const weeks = await cohorts('from=2026-03-23&to=2026-04-05&interval=week');
    expect(weeks.cohorts.map(({ visitors, returned }) => [visitors, returned])).toEqual([
      [5, [2]],
      [0, []],
    ]);
    const months = await cohorts('from=2026-01-01&to=2026-03-31&interval=month');
    expect(months.cohorts.map(({ visitors, returned }) => [visitors, returned])).toEqual([
      [1, [0, 1]],
      [0, [0]],
      [5, []],
    ]);
    expect(months.cohorts[1]?.rates).toEqual([null]);
  });

  test('filters select the rows of the period, and the SQL gives the same numbers', async () => {
    const daily = await cohorts('from=2026-03-27&to=2026-03-29&filter=property:kind:is:daily,old,anonymous&explain=1');
    expect(daily.cohorts[0]).toMatchObject({ visitors: 1, returned: [1, 1] });
    const { sql = '', params = {} } = daily.explain?.statements[0] ?? {};
    expect((await client.sql(sql, params)).map(({ visitors }) => Number(visitors))).toEqual([1, 1, 1]);
  });

  test.each([
    ['interval=hour', 'interval must be one of day, week, month'],
    ['period=90d', 'interval must give at most 60 buckets; day gives more in this period'],
    ['compare=previous_year', 'compare is not a known parameter'],
  ])('%s is refused', async (query, message) => {
    const refused = await client.admin('GET', `/sites/${site}/cohorts?${query}`);
    expect([refused.status, refused.json]).toMatchObject([
      400,
      { error: { message: expect.stringContaining(message) } },
    ]);
  });
});
