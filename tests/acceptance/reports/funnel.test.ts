import { useWeir } from '../use-weir.ts';

const client = useWeir();

interface Funnel {
  readonly within_seconds: number;
  readonly steps: readonly {
    readonly visitors: number;
    readonly dropped: number;
    readonly rate: number | null;
    readonly step_rate: number | null;
  }[];
  readonly conversion_rate: number | null;
  readonly explain?: { readonly statements: readonly { readonly sql: string; readonly params: object }[] };
}
/** An event: its name, and its time in milliseconds after `START`. */
type Sent = readonly [name: string, ms: number];

const START = Date.UTC(2026, 2, 10, 12);
const HOUR_MS = 3_600_000;
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0';

/** Visitors for cases that are easy to get wrong. `a`, `b` and `c` are the steps of the funnel. */
const CASES: Readonly<Record<string, readonly Sent[]>> = {
  all: [
    ['a', 0],
    ['b', 1],
    ['c', 2],
  ],
  first: [
    ['a', 0],
    ['x', 5],
  ],
  none: [
    ['b', 0],
    ['c', 5],
  ],
  backwards: [
    ['c', 0],
    ['b', 5],
    ['a', 9],
  ],
  sameTime: [
    ['a', 0],
    ['b', 0],
  ],
  repeatedAtTheSameTime: [
    ['a', 0],
    ['a', 7],
    ['b', 7],
    ['c', 8],
  ],
  justWithin: [
    ['a', 0],
    ['b', HOUR_MS / 2],
    ['c', HOUR_MS],
  ],
  justTooLate: [
    ['a', 0],
    ['b', HOUR_MS / 2],
    ['c', HOUR_MS + 1],
  ],
  startsAgain: [
    ['a', 0],
    ['b', 1],
    ['a', HOUR_MS],
    ['b', HOUR_MS + 1],
    ['c', HOUR_MS + 2],
  ],
  startsAgainWithoutB: [
    ['a', 0],
    ['b', 1],
    ['a', 2],
    ['c', 3],
  ],
  skips: [
    ['a', 0],
    ['c', 5],
    ['b', 9],
  ],
};

/**
 * The expected number of steps that a visitor reaches. Tries each event of the first step as the start, and then takes the earliest possible
 * event for each further step.
 */
function levelOf(sent: readonly Sent[], steps: readonly string[], withinMs: number): number {
  const starts = sent.filter(([name]) => name === steps[0]);
  return Math.max(
    0,
    ...starts.map(([, start]) => {
      let [level, at] = [1, start];
      for (const step of steps.slice(1)) {
        const next = sent
          .filter(([name, ms]) => name === step && ms > at && ms <= start + withinMs)
          .map(([, ms]) => ms);
        if (next.length === 0) break;
        [level, at] = [level + 1, Math.min(...next)];
      }
      return level;
    }),
  );
}

describe('funnels', () => {
  let site = '';
  const people = new Map<string, readonly Sent[]>(Object.entries(CASES));
  const funnel = async (query: string): Promise<Funnel> =>
    (await client.must(200, 'GET', `/sites/${site}/funnel?from=2026-03-10&to=2026-03-11&${query}`)) as Funnel;
  const visitorsOf = ({ steps }: Funnel): readonly number[] => steps.map(({ visitors }) => visitors);
  const expected = (steps: readonly string[], withinMs: number): readonly number[] =>
    steps.map((_, n) => [...people.values()].filter((sent) => levelOf(sent, steps, withinMs) > n).length);

  beforeAll(async () => {
    site = await client.createSite();
    const { key } = await client.createKey(site);
    // 150 generated visitors, each with 0 to 12 events in three hours. Many events have the same time. The generator has a fixed seed.
    let state = 7;
    const next = (below: number): number => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return Math.floor((state / 2 ** 32) * below);
    };
    for (let n = 0; n < 150; n++) {
      const sent = Array.from({ length: next(13) }, (): Sent => ['abcx'[next(4)] ?? 'a', next(13) * (HOUR_MS / 4)]);
      if (sent.length > 0) people.set(`visitor${n}`, sent);
    }
    const events = [...people].flatMap(([visitor_id, sent]) =>
      sent.map(([name, ms]) => ({ name, visitor_id, timestamp: START + ms, properties: { plan: visitor_id.length } })),
    );
    const anonymous = ['a', 'b', 'c'].map((name, n) => ({ name, timestamp: START + n }));
    for (const all = [...events, ...anonymous]; all.length > 0; ) {
      await client.sendBatch(key, all.splice(0, 500));
    }
    await client.settled();
  });

  test.each([
    ['abc', '1h'],
    ['abc', '3h'],
    ['ab', '15m'],
    ['aa', '45m'],
    ['aba', '2h'],
    ['abcabc', '3h'],
    ['abcabcab', '7d'],
    ['cxb', '14m'],
  ])('%s within %s: equal to a search in plain TypeScript', async (names, within) => {
    const steps = [...names];
    const withinMs = { '14m': 14, '15m': 15, '45m': 45, '1h': 60, '2h': 120, '3h': 180, '7d': 10_080 }[within] ?? 0;
    const found = await funnel(`${steps.map((name) => `step=event:${name}`).join('&')}&within=${within}`);
    expect(found.within_seconds).toBe(withinMs * 60);
    expect(visitorsOf(found)).toEqual(expected(steps, withinMs * 60_000));
    expect(visitorsOf(found)[0]).toBeGreaterThan(0);
  });

  test('the visitors with known answers, drop-off and rates', async () => {
    const levels = Object.entries(CASES).map(([name, sent]) => [name, levelOf(sent, ['a', 'b', 'c'], HOUR_MS)]);
    expect(Object.fromEntries(levels)).toEqual({
      ...{
        all: 3,
        first: 1,
        none: 0,
        backwards: 1,
        sameTime: 1,
        repeatedAtTheSameTime: 3,
        justWithin: 3,
        justTooLate: 2,
      },
      ...{ startsAgain: 3, startsAgainWithoutB: 3, skips: 2 },
    });
    const { steps, conversion_rate: rate } = await funnel('step=event:a&step=event:b&step=event:c&within=1h');
    const [first, second, third] = steps.map(({ visitors }) => visitors) as [number, number, number];
    expect(steps.map(({ dropped }) => dropped)).toEqual([0, first - second, second - third]);
    expect(steps.map((step) => step.rate)).toEqual([1, second / first, third / first].map((x) => Number(x.toFixed(4))));
    expect(steps[2]?.step_rate).toBe(Number((third / second).toFixed(4)));
    expect(rate).toBe(steps[2]?.rate);
  });

  test('pages as steps: a glob, and pages only', async () => {
    const shop = await client.createSite();
    const view = async (visitor: string, path: string): Promise<void> => {
      const page = { site_id: shop, visitor_id: visitor, session_id: `s-${visitor}`, type: 'pageview' };
      await client.collect({ ...page, url: `https://example.com${path}` }, { 'user-agent': FIREFOX });
      await client.settled();
    };
    await view('ann', '/');
    await view('ann', '/checkout/pay');
    await view('bob', '/');
    const found = (await client.must(
      200,
      'GET',
      `/sites/${shop}/funnel?period=24h&step=page:/&step=page:/checkout/*`,
    )) as Funnel;
    expect(visitorsOf(found)).toEqual([2, 1]);
  });

  test('filters select the rows, and the SQL gives the same numbers', async () => {
    const steps = 'step=event:a&step=event:b';
    const one = await funnel(`${steps}&filter=property:plan:is:3&explain=1`);
    expect(visitorsOf(one)).toEqual([1, 1]);
    const { sql = '', params = {} } = one.explain?.statements[0] ?? {};
    expect(await client.sql(sql, params)).toMatchObject([{ level: 2 }]);
    const none = await funnel(`${steps}&filter=country:is:DE`);
    expect(none).toMatchObject({ steps: [{ visitors: 0, rate: null }, { visitors: 0 }], conversion_rate: null });
  });

  test.each([
    ['step=event:a', 'step must be sent 2 to 8 times'],
    ['step=event:a&'.repeat(9), 'step must be sent 2 to 8 times'],
    ['step=event:a&step=b', 'step must be event:NAME or page:GLOB, such as page:/checkout/*'],
    ['step=event:a&step=page:b', 'step is invalid: a page must be a glob'],
    ['step=event:a&step=event:b&within=0d', 'within must be a duration of up to 366 days'],
    ['step=event:a&step=event:b&within=367d', 'within must be a duration of up to 366 days'],
    ['step=event:a&step=event:b&compare=previous_year', 'compare is not a known parameter'],
  ])('%s is refused', async (query, message) => {
    const refused = await client.admin('GET', `/sites/${site}/funnel?${query.replace(/&$/, '')}`);
    expect([refused.status, refused.json]).toMatchObject([
      400,
      { error: { message: expect.stringContaining(message) } },
    ]);
  });
});
