import { readAccessLog } from '@weir/testkit/sample-access-log';
import { useWeir } from '../use-weir.ts';
import { labelOf, type Numbers, numbersByHand } from './stats-by-hand.ts';
import {
  AUTUMN,
  BERLIN_AUTUMN,
  generatedLines,
  importText,
  SANTIAGO_AUTUMN,
  SPRING,
  sendEvents,
} from './stats-traffic.ts';

const client = useWeir();

interface Bucket extends Numbers {
  readonly start: string;
  readonly end: string;
}
interface Stats {
  readonly from: string;
  readonly to: string;
  readonly interval: string;
  readonly totals: Numbers;
  readonly buckets: readonly Bucket[];
}

const stats = async (site: string, query: string): Promise<Stats> =>
  (await client.must(200, 'GET', `/sites/${site}/stats?${query}`)) as Stats;
const utc = (text: string): string => new Date(text).toISOString();
const numbersOf = ({ start: _start, end: _end, ...numbers }: Bucket): Numbers => numbers;
const EMPTY: Numbers = {
  ...{ visitors: 0, visits: 0, pageviews: 0, events: 0 },
  ...{ bounce_rate: null, visit_duration: null, views_per_visit: null },
};

/** Checks that the numbers of each bucket, and the totals, equal the numbers of `numbersByHand`. A bucket without rows must be present with zeros. */
async function expectEqual(site: string, zone: string, query: string, label: 'hour' | 'day' | 'month'): Promise<Stats> {
  const report = await stats(site, `${query}&interval=${label}`);
  const asked = { site, zone, from: utc(report.from), to: utc(report.to) };
  const [byHand, total] = [await numbersByHand(client, asked, label), await numbersByHand(client, asked, 'total')];
  expect(report.totals).toEqual(total.get('total') ?? EMPTY);
  const expected = report.buckets.map(({ start }) => byHand.get(labelOf(start, label)) ?? EMPTY);
  expect(report.buckets.map(numbersOf)).toEqual(expected);
  expect(report.buckets.map(({ start }) => labelOf(start, label))).toEqual(expect.arrayContaining([...byHand.keys()]));
  return report;
}

describe('the numbers of `stats` equal those of hand-written SQL over `events`', () => {
  const log = readAccessLog();
  test(`on the ${log.origin} log`, async () => {
    const site = await client.createSite({ domain: 'semicomplete.com', timezone: 'America/New_York' });
    await importText(client, site, log.text);
    const days = log.origin === 'real' ? 'from=2015-05-16&to=2015-05-21' : 'from=2026-05-16&to=2026-05-18';
    const report = await expectEqual(site, 'America/New_York', days, 'day');
    expect(report.totals.pageviews).toBeGreaterThan(1_000);
    expect(report.totals.visits).toBeGreaterThan(100);
    await expectEqual(site, 'America/New_York', days, 'hour');
  });

  describe('on generated weeks with clock changes', () => {
    let site = '';
    beforeAll(async () => {
      site = await client.createSite();
      await importText(client, site, generatedLines([SPRING, SANTIAGO_AUTUMN, AUTUMN, BERLIN_AUTUMN], 400));
      await sendEvents(client, site);
    });
    const inZone = (timezone: string) => client.must(200, 'PATCH', `/sites/${site}`, { timezone });

    /** Each test checks the hours of one day, and the nine days around it. The clock changes on this day, except in Kathmandu. */
    test.each([
      ['Europe/Berlin', '2026-03-29', 'two o’clock is not there', 23, 23],
      ['Europe/Berlin', '2026-10-25', 'two o’clock is there twice', 25, 25],
      ['Australia/Lord_Howe', '2026-10-04', 'half past two begins the third hour', 23.5, 24],
      ['Australia/Lord_Howe', '2026-04-05', 'half an hour is there twice', 24.5, 25],
      ['America/Santiago', '2026-09-06', 'midnight is not there', 23, 23],
      ['America/Santiago', '2026-04-04', 'the hour before midnight is there twice', 25, 25],
      ['Asia/Kathmandu', '2026-03-29', 'the offset is 5:45 hours, and the clock does not change', 24, 24],
    ])('%s, %s: %s', async (zone, day, _, hours, buckets) => {
      await inZone(zone);
      const byHour = await expectEqual(site, zone, `from=${day}&to=${day}`, 'hour');
      expect(byHour.buckets).toHaveLength(buckets);
      expect((Date.parse(byHour.to) - Date.parse(byHour.from)) / 3600_000).toBe(hours);
      expect(byHour.totals.pageviews).toBeGreaterThan(0);

      const [first, last] = [-4, 4].map((days) =>
        utc(`${day}T00:00:00Z`.replace(day, shifted(day, days))).slice(0, 10),
      );
      const byDay = await expectEqual(site, zone, `from=${first}&to=${last}`, 'day');
      expect(byDay.buckets).toHaveLength(9);
      const changed = byDay.buckets[4];
      expect(changed?.start).toMatch(day === '2026-09-06' ? /T01:00:00-03:00$/ : /T00:00:00[+-]/);
      expect((Date.parse(changed?.end ?? '') - Date.parse(changed?.start ?? '')) / 3600_000).toBe(hours);
      expect(byDay.buckets.slice(1).map(({ start }) => start)).toEqual(
        byDay.buckets.slice(0, -1).map(({ end }) => end),
      );
    });

    test('months, and weeks from Monday, are cut at the limits of the period', async () => {
      await inZone('Australia/Lord_Howe');
      const byMonth = await expectEqual(site, 'Australia/Lord_Howe', 'from=2026-03-15&to=2026-10-31', 'month');
      expect(byMonth.buckets.map(({ start }) => start.slice(0, 10))).toEqual([
        '2026-03-15',
        '2026-04-01',
        '2026-05-01',
        '2026-06-01',
        '2026-07-01',
        '2026-08-01',
        '2026-09-01',
        '2026-10-01',
      ]);
      const weeks = await stats(site, 'from=2026-03-25&to=2026-04-08&interval=week');
      expect(weeks.buckets.map(({ start }) => start.slice(0, 10))).toEqual(['2026-03-25', '2026-03-30', '2026-04-06']);
      const asked = { site, zone: 'Australia/Lord_Howe', from: utc(weeks.from), to: utc(weeks.to) };
      const byHand = await numbersByHand(client, asked, 'week');
      const mondays = ['2026-03-23', '2026-03-30', '2026-04-06'];
      expect(weeks.buckets.map(numbersOf)).toEqual(mondays.map((monday) => byHand.get(monday) ?? EMPTY));
    });

    test('a period with times: visits that began before it are not counted, but their rows in the period are', async () => {
      await inZone('Europe/Berlin');
      const report = await expectEqual(
        site,
        'Europe/Berlin',
        'from=2026-03-29T00:17:00Z&to=2026-04-02T11:03:30%2B02:00',
        'hour',
      );
      expect(report.buckets[0]?.start).toBe('2026-03-29T01:17:00+01:00');
      expect(report.buckets.at(-1)?.end).toBe('2026-04-02T11:03:30+02:00');
    });
  });
});

describe('an invalid parameter is refused, and the message names it', () => {
  let site = '';
  beforeAll(async () => {
    site = await client.createSite();
  });
  const many = (count: number, text: string) => Array.from({ length: count }, (_, n) => `${text}${n}`).join('&');
  const wrong: readonly (readonly [string, string, RegExp])[] = [
    ['stats', 'from=yesterday', /^from must be a date/],
    ['stats', 'from=2026-02-30', /^from must be a date/],
    ['stats', 'from=1066-10-14', /^from must be a date/],
    ['stats', 'from=2026-03-02&to=2026-03-01', /^to must be later than from/],
    ['stats', 'to=2026-03-01', /^from is required/],
    ['stats', 'period=7d&from=2026-03-01', /^period must not be sent together/],
    ['stats', 'period=8d', /^period must be one of/],
    ['stats', 'interval=minute', /^interval must be one of/],
    ['stats', 'from=2000-01-01&interval=hour', /^interval must give at most 2000 buckets/],
    ['stats', 'compare=never', /^compare must be one of/],
    ['stats', 'bots=maybe', /^bots must be one of/],
    ['stats', 'explain=yes', /^explain must be one of/],
    ['stats', 'limit=3', /^limit is not a known parameter/],
    ['stats', 'period=7d&period=30d', /^period must not be given twice/],
    ['stats', 'filter=', /^filter must begin with a dimension/],
    ['stats', 'filter=planet:is:Mars', /^filter must begin with a dimension/],
    ['stats', 'filter=page', /^filter must be DIMENSION:OPERATOR:VALUE/],
    ['stats', 'filter=page:is', /^filter must be DIMENSION:OPERATOR:VALUE/],
    ['stats', 'filter=page:like:x', /^filter must be DIMENSION:OPERATOR:VALUE/],
    ['stats', 'filter=page:contains:', /^filter must not have an empty value/],
    ['stats', 'filter=page:is:a%00b', /^filter must not contain control characters/],
    ['stats', `filter=property:${'x'.repeat(257)}:is:1`, /^filter must begin with a dimension/],
    ['stats', `filter=page:is:${'x'.repeat(1025)}`, /^filter must have values of at most 1024 chars/],
    ['stats', `filter=page:is:${'x,'.repeat(50)}`, /^filter must have at most 50 values/],
    ['stats', many(21, 'filter=page:is:/'), /^filter may be sent at most 20 times/],
    ['stats', many(1_000, 'filter='), /^filter may be sent at most 20 times/],
    ['stats', `${many(1_100, 'x=')}&filter=os:is:x`, /^x is not a known parameter/],
    ['breakdown', '', /^dimension must be one of/],
    ['breakdown', 'dimension=pathname', /^dimension must be one of/],
    ['breakdown', 'dimension=property:', /^dimension must be one of/],
    ['breakdown', 'dimension=page&order=revenue', /^order must be one of/],
    ['breakdown', 'dimension=page&order=visits:up', /^order must be one of/],
    ['breakdown', 'dimension=page&metrics=revenue', /^metrics must be a list of visitors, /],
    ['breakdown', 'dimension=page&metrics=visits,visits', /^metrics must be a list of visitors, .* each at most once/],
    ['breakdown', 'dimension=page&limit=0', /^limit must be a whole number from 1 to 1000/],
    ['breakdown', 'dimension=page&limit=1001', /^limit must be a whole number from 1 to 1000/],
    ['breakdown', 'dimension=page&page=101', /^page must be a whole number from 1 to 100/],
    ['breakdown', 'dimension=page&interval=day', /^interval is not a known parameter/],
  ];
  test.each(wrong.map(([path, query, message]) => [path, query.slice(0, 60), query, message] as const))(
    '%s?%s',
    async (path, _, query, message) => {
      const { status, json } = await client.admin('GET', `/sites/${site}/${path}?${query}`);
      expect([status, json]).toEqual([
        400,
        { status: 'error', error: { code: 400, message: expect.stringMatching(message) } },
      ]);
    },
  );

  test('the OpenAPI document has all parameters', async () => {
    const { json } = await client.send({ path: '/openapi.json' });
    const { paths } = json as { paths: Record<string, { get: { parameters: { name: string; schema: object }[] } }> };
    const documented = (path: string) => paths[`/api/admin/sites/{site_id}/${path}`]?.get.parameters ?? [];
    const messageOf = async (path: string, query: string) =>
      (await client.admin('GET', `/sites/${site}/${path}?${query}`)).text;
    for (const path of ['stats', 'breakdown']) {
      const names = documented(path).map(({ name }) => name);
      expect(await messageOf(path, 'x=1')).toContain(`known are ${names.join(', ')}`);
    }
    const enumOf = (path: string, wanted: string): string[] =>
      (
        JSON.stringify(documented(path).find(({ name }) => name === wanted)?.schema).match(/"enum":\[([^\]]+)/)?.[1] ??
        ''
      )
        .replaceAll('"', '')
        .split(',');
    expect(await messageOf('breakdown', 'dimension=x')).toContain(
      `one of ${enumOf('breakdown', 'dimension').join(', ')}, property:NAME (`,
    );
    for (const name of ['period', 'interval', 'compare', 'bots', 'explain']) {
      expect(await messageOf('stats', `${name}=x`)).toContain(`one of ${enumOf('stats', name).join(', ')}"`);
    }
  });

  test('an unknown site gets 404, a missing token 401, another method 405', async () => {
    for (const path of ['stats', 'breakdown?dimension=page']) {
      expect(await client.admin('GET', `/sites/unknown/${path}`)).toMatchObject({
        status: 404,
        json: { status: 'error' },
      });
      expect(await client.send({ path: `/api/admin/sites/${site}/${path}` })).toMatchObject({ status: 401 });
      expect(await client.admin('POST', `/sites/${site}/${path}`, {})).toMatchObject({ status: 405 });
    }
  });
});

function shifted(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);
}
