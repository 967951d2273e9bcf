import { useWeir } from '../use-weir.ts';
import { importText } from './stats-traffic.ts';

const client = useWeir();
const PAGES = 200;
/** The length limit of a query parameter in ClickHouse: the default of its setting http_max_field_value_size. */
const PARAMETER_CHARS_MAX = 128 * 1024;

interface Breakdown {
  readonly rows: readonly { readonly before: { readonly pageviews: number } }[];
  readonly explain: { readonly statements: readonly { readonly params: Readonly<Record<string, unknown>> }[] };
}

test('a page of long values can be compared with the days before, with parameters that every ClickHouse server accepts', async () => {
  const site = await client.createSite();
  const line = (day: number, page: number) =>
    `192.0.2.1 - - [${day}/May/2026:10:05:03 +0000] "GET /${page}/${'x'.repeat(4_000)} HTTP/1.1" 200 1 "-" "Mozilla/5.0 (X11; Linux x86_64; rv:125.0) Gecko/20100101 Firefox/125.0"`;
  const lines = Array.from({ length: PAGES }, (_, page) => [line(10, page), line(11, page)]).flat();
  await importText(client, site, lines.join('\n'));
  const query = 'from=2026-05-11&to=2026-05-11&compare=previous_period&dimension=page&limit=1000&explain=1';
  const { rows, explain } = (await client.must(200, 'GET', `/sites/${site}/breakdown?${query}`)) as Breakdown;
  expect(rows).toHaveLength(PAGES);
  expect(rows.filter(({ before }) => before.pageviews !== 1)).toEqual([]);
  const parameters = explain.statements.flatMap(({ params }) => Object.values(params));
  expect(Math.max(...parameters.map((value) => String(value).length))).toBeLessThan(PARAMETER_CHARS_MAX);
});
