import { useWeir } from '../use-weir.ts';
import { importText } from './stats-traffic.ts';

const client = useWeir();
const AT = Date.UTC(2026, 2, 10, 12);
const MINUTE_MS = 60_000;

const hit = (visitor: number, minute: number): string =>
  `${JSON.stringify({
    ...{ time: AT + minute * MINUTE_MS, ip: `8.8.8.${visitor}`, url: '/', referrer: '', method: 'GET', status: 200 },
    user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0',
  })}\n`;

test('each late hit that joins two visits changes the next report at once, also after earlier reports of the same period', async () => {
  const site = await client.createSite();
  let questions = 0;
  const visits = async (): Promise<readonly number[]> => {
    // The same question would get the same answer for a second, so each question has another filter.
    const asked = `/sites/${site}/stats?from=2026-03-10&to=2026-03-10&filter=page:is_not:/${questions++}`;
    const { totals } = (await client.must(200, 'GET', asked)) as { totals: Record<'visits' | 'pageviews', number> };
    return [totals.visits, totals.pageviews];
  };
  for (const visitor of [1, 2, 3]) {
    await importText(client, site, hit(visitor, 0) + hit(visitor, 50));
    expect(await visits()).toEqual([visitor + 1, 3 * visitor - 1]);
    await importText(client, site, hit(visitor, 25));
    expect(await visits()).toEqual([visitor, 3 * visitor]);
    expect(await visits()).toEqual([visitor, 3 * visitor]);
  }
});
