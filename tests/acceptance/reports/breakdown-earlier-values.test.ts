import { useWeir } from '../use-weir.ts';
import { importText } from './stats-traffic.ts';

const client = useWeir();

interface Breakdown {
  readonly rows: readonly {
    readonly value: string;
    readonly visitors: number;
    readonly before: { visitors: number };
  }[];
  readonly explain: { readonly statements: readonly { readonly params: Readonly<Record<string, unknown>> }[] };
}

/** More than `EARLIER_VALUES_MAX`: a second statement for the earlier period then selects its values by hash. */
const VALUES = 1_050;

test.each([
  [VALUES, true],
  [50, false],
])('a comparison with an earlier period that has %i values', async (values, isLimited) => {
  const site = await client.createSite();
  const line = (day: number, nth: number) =>
    `192.0.${Math.floor(nth / 250)}.${nth % 250} - - [${day}/May/2026:10:05:03 +0000] "GET /?utm_content=${nameOf(nth)} HTTP/1.1" 200 1 "-" "Mozilla/5.0 (X11; Linux x86_64; rv:125.0) Gecko/20100101 Firefox/125.0"`;
  const nameOf = (nth: number) => `c${String(nth).padStart(4, '0')}`;
  const earlier = Array.from({ length: values }, (_, nth) => line(10, nth));
  // The requested period has two values: the last value of the earlier period, and one that the earlier period does not have. With 1,050 values, the
  // first of the two is not among the first 1,001 values by name.
  const present = [values - 1, values].map((nth) => line(11, nth));
  await importText(client, site, [...earlier, ...present].join('\n'));
  const query = 'from=2026-05-11&to=2026-05-11&compare=previous_period&dimension=utm_content&explain=1';
  const { rows, explain } = (await client.must(200, 'GET', `/sites/${site}/breakdown?${query}`)) as Breakdown;
  expect(rows.map(({ value, visitors, before }) => [value, visitors, before.visitors])).toEqual([
    [nameOf(values - 1), 1, 1],
    [nameOf(values), 1, 0],
  ]);
  expect(explain.statements).toHaveLength(2);
  expect('hashes' in (explain.statements[1]?.params ?? {})).toBe(isLimited);
});
