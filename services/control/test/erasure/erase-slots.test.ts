import { buildDays } from '@weir/control/visit-slots/build-days';
import { batch, useClickhouse } from '../../../../packages/adapters/test/clickhouse/clickhouse-harness.ts';
import { buildContextOf } from '../visit-slots/slot-builds-harness.ts';
import { eraseVisitor } from './erase-visitor.ts';

const DAY_MS = 24 * 3600_000;
const T0 = Date.UTC(2026, 4, 4);
const SITE = 'shop';
const opened = useClickhouse();

test('an erasure also removes the slots and builds of a build that ends while the erasure waits for inserts', async () => {
  const { analytics } = opened;
  const at = T0 + 3600_000;
  const hit = { site_id: SITE, outcome: 'row', session_id: '', pathname: '/', received_at: at, timestamp: at } as const;
  const visitors = ['zoe-v', 'max-v'];
  const hits = visitors.map((id) => ({ ...hit, visitor_id: id, session_id: `${id}-s` }));
  await analytics.insertRecords(batch(0, hits));
  const build = () => buildDays(buildContextOf(analytics), { siteId: SITE, fromMs: T0, toMs: T0 + DAY_MS, rows: 1 });
  const count = async (from: string) =>
    (await analytics.select<{ n: number }>(`SELECT toUInt32(count()) AS n FROM ${from}`))[0]?.n;
  const slotsOf = (visitor: string) => count(`visit_slots WHERE visitor_key = sipHash64('${visitor}')`);

  let built = 0;
  await eraseVisitor(analytics, SITE, 'zoe-v', {
    async onWait(nth) {
      if (nth === 2) built = (await build()).days;
    },
  });
  expect(built).toBe(1);
  expect(await Promise.all([slotsOf('zoe-v'), slotsOf('max-v'), count('visit_days')])).toEqual([0, 1, 0]);
});

test('an erasure removes a payment that becomes visible later than its record', async () => {
  const { analytics } = opened;
  const received = T0 + 7200_000;
  const event = { site_id: SITE, outcome: 'row', source: 'server', type: 'event', event_name: 'Paid' } as const;
  const paid = {
    ...event,
    visitor_id: 'kim-v',
    value: 5,
    properties: { currency: 'EUR' },
    received_at: received,
    timestamp: received,
  };
  await analytics.insertRecords(batch(5, [paid]));
  const payments = async () =>
    (
      await analytics.select<{ n: number }>(
        "SELECT toUInt32(count()) AS n FROM payments_log WHERE visitor_id = 'kim-v'",
      )
    )[0]?.n;
  expect(await payments()).toBe(1);
  // Simulates a running insert whose row in `payments_log` is not visible yet.
  await analytics.change('CREATE TABLE invisible ENGINE = Memory AS SELECT * FROM payments_log');
  await analytics.change("ALTER TABLE payments_log DELETE WHERE visitor_id = 'kim-v'");
  await eraseVisitor(analytics, SITE, 'kim-v', {
    async onWait(nth) {
      if (nth === 1) await analytics.change('INSERT INTO payments_log SELECT * FROM invisible');
    },
  });
  expect(await payments()).toBe(0);
});
