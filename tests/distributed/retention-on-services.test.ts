import { eventually } from '@weir/testkit/eventually';
import { FAULTS_ENV } from '../faults/exactly-once.ts';
import { describeDistributed } from './deployment.ts';

const DAY_MS = 86_400_000;
const KEEP_DAYS = 100;
const EVENTS = 400;
const STEP_WITHIN_MS = 180_000;

jest.setTimeout(4 * STEP_WITHIN_MS);

describeDistributed('retention on Kafka, Redis and ClickHouse', FAULTS_ENV, (weir) => {
  const doneAt = async (): Promise<number> => {
    const text = await (await fetch(`${weir().control.url}/metrics`)).text();
    return Number(/^weir_retention_done_timestamp_seconds (\S+)$/m.exec(text)?.[1]);
  };

  test('old rows expire once, also after a kill of control, and the rows of another site stay', async () => {
    const { client, control } = weir();
    const [limited, kept] = [await client.createSite(), await client.createSite()];
    for (const site of [limited, kept]) {
      const { key } = await client.createKey(site);
      const events = Array.from({ length: EVENTS }, (_, nth) => ({
        name: 'seen',
        visitor_id: `visitor-${nth % 20}`,
        timestamp: Date.now() - (nth % 4) * 60 * DAY_MS,
      }));
      await client.sendBatch(key, events);
    }
    await client.settled();
    await eventually('the metric to be set', async () => (await doneAt()) > 0);

    await client.must(200, 'PATCH', `/sites/${limited}`, { keep: { events: `${KEEP_DAYS}d` } });
    await control.kill9();
    await control.restart();
    const restartedAt = Date.now() / 1000;
    const outcomes = (site: string) =>
      client.sql(
        'SELECT outcome, count() AS n FROM records WHERE site_id = {site:String} GROUP BY outcome ORDER BY outcome',
        { site },
      );
    const expected = [
      { outcome: 'expired', n: EVENTS / 2 },
      { outcome: 'row', n: EVENTS / 2 },
    ];
    await eventually(
      'the old rows to be gone',
      async () => {
        expect(await outcomes(limited)).toEqual(expected);
        return true;
      },
      STEP_WITHIN_MS,
    );
    await eventually('the end of the expiry', async () => (await doneAt()) > restartedAt, STEP_WITHIN_MS);
    expect(await outcomes(kept)).toEqual([{ outcome: 'row', n: EVENTS }]);
    await eventually('a balanced audit', async () => {
      expect(await client.must(200, 'GET', '/audit')).toMatchObject({
        balanced: true,
        totals: { expired: EVENTS / 2, erasing: 0, in_flight: 0 },
      });
      return true;
    });
  });
});
