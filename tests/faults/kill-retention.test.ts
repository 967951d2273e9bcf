import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { eventually } from '@weir/testkit/eventually';
import { startLoad } from '@weir/testkit/load';
import { startWeir, type WeirProcess } from '@weir/testkit/weir-process';
import { FAULTS_ENV, faultRandom } from './exactly-once.ts';

const KILLS = Number(process.env.WEIR_RETENTION_KILLS ?? 4);
const BATCHES = 12;
const DAY_MS = 86_400_000;
const KEEP_DAYS = 100;
const CLOCK = pathToFileURL(join(__dirname, 'shift-clock.mjs')).href;
const STEP_WITHIN_MS = 300_000;

/** Sends events with times in the 400 days before `now`. Every fifth event is a payment. */
async function putHistory(weir: WeirProcess, key: string, now: number, random: () => number): Promise<void> {
  for (let batch = 0; batch < BATCHES; batch++) {
    const events = Array.from({ length: 500 }, (_, nth) => ({
      name: nth % 5 === 0 ? 'paid' : 'seen',
      visitor_id: `visitor-${Math.floor(random() * 200)}`,
      timestamp: now - Math.floor(random() * 400 * DAY_MS),
      ...(nth % 5 === 0 ? { value: '1.50', properties: { currency: 'EUR' } } : {}),
    }));
    await weir.client.sendBatch(key, events);
  }
}

test(`kill -9 at ${KILLS} moments while rows expire under load: each expired record is counted once, and no other one changes`, async () => {
  const random = faultRandom('kill-retention');
  // Weir's clock begins at noon, so that it does not pass midnight during the test: the rows of one more day would then expire.
  const noon = (Math.floor(Date.now() / DAY_MS) + 0.5) * DAY_MS;
  const clock = { NODE_OPTIONS: `--import ${CLOCK}`, CLOCK_SHIFT_MS: String(noon - Date.now()) };
  const weir = await startWeir({ env: { ...FAULTS_ENV, ...clock } });
  try {
    const { client } = weir;
    const [limited, kept, busy] = [await client.createSite(), await client.createSite(), await client.createSite()];
    for (const site of [limited, kept]) {
      const { key } = await client.createKey(site);
      await client.keyKnown(key);
      await putHistory(weir, key, noon, random);
    }
    await client.settled();
    const before = Math.floor(noon / DAY_MS - KEEP_DAYS) * DAY_MS;
    const digest = async (table: string, condition: string) => {
      const rows = "count() AS n, sum(cityHash64(formatRow('JSONEachRow', *))) AS checksum";
      return client.sql(`SELECT ${rows} FROM ${table} WHERE ${condition}`);
    };
    const young = `site_id = '${limited}' AND timestamp >= fromUnixTimestamp64Milli(${before})`;
    const others = async () => [
      ...(await digest('records', `site_id = '${kept}'`)),
      ...(await digest('payments_log', `site_id = '${kept}'`)),
      ...(await digest('records', `${young} AND outcome = 'row'`)),
      ...(await digest('payments_log', young)),
    ];
    const unchanged = await others();
    const old = await client.number(`SELECT count() FROM events WHERE site_id = '${limited}' AND NOT (${young})`);
    expect(old).toBeGreaterThan(1_000);

    const { key } = await client.createKey(busy);
    const load = startLoad({ url: weir.url, site: busy, key, clients: 2 });
    await client.must(200, 'PATCH', `/sites/${limited}`, { keep: { events: `${KEEP_DAYS}d` } });
    for (let kill = 0; kill < KILLS; kill++) {
      await pause(random() * 1_200); // the kill must happen at a random moment, so the pause is part of the test
      await weir.kill9();
      await weir.restart();
    }
    const counted = "SELECT count() FROM records WHERE site_id = {site:String} AND outcome = 'expired'";
    const oldPayments = `SELECT count() FROM payments_log WHERE site_id = '${limited}' AND NOT (${young})`;
    // The payments are removed after the records.
    await eventually(
      'the old rows to be gone',
      async () =>
        (await client.number(`SELECT count() FROM records WHERE site_id = '${limited}' AND outcome = 'row'`)) ===
          Number(unchanged[2]?.n) &&
        (await client.number(counted, { site: limited })) === old &&
        (await client.number(oldPayments)) === 0,
      STEP_WITHIN_MS,
    );
    await load.stop();
    await client.settled();
    expect(await others()).toEqual(unchanged);
    expect(await client.number(oldPayments)).toBe(0);
    const audit = await client.must(200, 'GET', '/audit');
    expect(audit).toMatchObject({ balanced: true, totals: { expired: old, erasing: 0, in_flight: 0 } });
    const books =
      'SELECT outcome, sum(records) AS n FROM books WHERE site_id = {site:String} GROUP BY outcome HAVING n != 0 ORDER BY outcome';
    expect(await client.sql(books, { site: limited })).toEqual([
      { outcome: 'expired', n: old },
      { outcome: 'row', n: Number(unchanged[2]?.n) },
    ]);
  } finally {
    await weir.stop();
  }
}, 600_000);
