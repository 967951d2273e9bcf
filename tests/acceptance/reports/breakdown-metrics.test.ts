import { useWeir } from '../use-weir.ts';
import { generatedLines, importText, SPRING, sendEvents } from './stats-traffic.ts';

const client = useWeir();

interface Breakdown {
  readonly rows: readonly { readonly value: string; readonly before: object }[];
}

interface Explained extends Breakdown {
  readonly explain: { readonly statements: readonly { readonly sql: string; readonly params: object }[] };
}

describe('the parameter `metrics` limits the numbers of each row', () => {
  let site = '';
  beforeAll(async () => {
    site = await client.createSite({ timezone: 'Europe/Berlin' });
    await importText(client, site, generatedLines([SPRING], 150));
    await sendEvents(client, site);
  });

  test.each([['visitors'], ['pageviews,events'], ['visits,visitors']])('%s', async (metrics) => {
    const only = (numbers: object) =>
      Object.fromEntries(Object.entries(numbers).filter(([name]) => metrics.split(',').includes(name)));
    for (const dimension of ['page', 'source', 'exit', 'bot', 'property:plan']) {
      const query = `from=2026-03-29&to=2026-04-08&dimension=${dimension}&bots=include&compare=previous_period`;
      const path = `/sites/${site}/breakdown?${query}`;
      const all = (await client.must(200, 'GET', path)) as Breakdown;
      const { rows } = (await client.must(200, 'GET', `${path}&metrics=${metrics}`)) as Breakdown;
      expect(rows.length).toBeGreaterThan(0);
      expect(rows).toEqual(
        all.rows.map(({ value, before, ...row }) => ({ value, ...only(row), before: only(before) })),
      );
    }
  });

  test('the statement returns only the counts for these numbers and for the order', async () => {
    for (const [dimension, bots] of [
      ['page', 'exclude'],
      ['bot', 'include'],
    ]) {
      const query = `from=2026-03-29&to=2026-04-08&dimension=${dimension}&bots=${bots}&metrics=visit_duration&order=events:desc`;
      const { explain, rows } = (await client.must(
        200,
        'GET',
        `/sites/${site}/breakdown?${query}&explain=1`,
      )) as Explained;
      const [statement] = explain.statements;
      const found = await client.sql(statement?.sql ?? '', statement?.params);
      expect(Object.keys(found[0] ?? {})).toEqual(['name', 'hash', 'visits', 'seconds', 'events']);
      expect(rows.map(({ value }) => value)).toEqual(found.map(({ name }) => name));
    }
  });
});
