import { findLinked } from '@weir/control/erasure/find-linked';
import { personSql } from '@weir/control/erasure/person-sql';
import { compileErasures } from '@weir/domain/erasure/erases';
import { entryOf, erasureHash, type Tombstone } from '@weir/domain/erasure/tombstone';
import type { Analytics } from '@weir/ports/analytics';
import { useOpened } from '@weir/testkit/use-opened';
import { openControlHarness } from '../control-harness.ts';

const weir = useOpened(openControlHarness);

const FIRST = Date.UTC(2026, 0);

type Changes = readonly (readonly [since: number, isErased: number])[];
const asked: Tombstone = {
  ...{ siteId: 'shop', erasureId: 'erasure', part: 0, at: Date.UTC(2026, 1), salt: 's', whole: false },
  entries: [entryOf('p', erasureHash('s', 'shop', 'p', 'profile'))],
};

/** The tombstone of a user who shared the device `kiosk`. */
async function tombstoneOf(changes: Changes): Promise<Tombstone> {
  const select = async (query: string) => (query.includes('links_in_time') ? [{ visitor_id: 'kiosk', changes }] : []);
  return { ...asked, entries: await findLinked({ select } as unknown as Analytics, asked) };
}

/** Returns those of the times (milliseconds after `FIRST`) whose records ClickHouse finds for the erasure. */
async function erasedTimes(tombstone: Tombstone, times: readonly number[]): Promise<readonly number[]> {
  const { records } = personSql([tombstone]);
  const time = (ms: string) => `fromUnixTimestamp64Milli(toInt64(${ms}), 'UTC')`;
  const rows = `SELECT 'row' AS outcome, 'shop' AS site_id, '' AS user_id, 'kiosk' AS visitor_id, ${time(`${FIRST}`)} AS received_at,
    arrayJoin([${times.join(', ')}]) AS ms, ${time(`${FIRST} + ms`)} AS timestamp`;
  // Like the longest statements of an erasure, this one has the condition three times.
  const found = await weir.analytics.select<{ ms: number | string }>(
    `SELECT ms FROM (${rows}) WHERE ${records} AND NOT (NOT (${records}))
     AND ms IN (SELECT ms FROM (${rows}) WHERE ${records}) ORDER BY ms`,
  );
  return found.map(({ ms }) => Number(ms));
}

test('ClickHouse finds the records of a device that had 50,000 periods with an erased user', async () => {
  const changes = Array.from({ length: 100_000 }, (_, nth) => [FIRST + 10 * nth, nth % 2] as const);
  const times = [-5, 5, 15, 19_995, 20_005, 20_015, 499_995, 500_005, 999_985, 999_995, 1_000_005];
  expect(await erasedTimes(await tombstoneOf(changes), times)).toEqual([
    15, 19_995, 20_015, 499_995, 999_995, 1_000_005,
  ]);
});

test.each<[string, Changes]>([
  [
    'the erased user was the first user',
    [
      [10, 1],
      [20, 0],
    ],
  ],
  [
    'two erased users follow each other',
    [
      [10, 0],
      [20, 1],
      [30, 1],
      [40, 0],
    ],
  ],
  [
    'the device got two users in the same millisecond',
    [
      [10, 0],
      [20, 0],
      [20, 1],
      [20, 1],
      [30, 0],
      [30, 1],
    ],
  ],
])('SQL and the enricher erase the same records of a shared device: %s', async (_name, relative) => {
  const tombstone = await tombstoneOf(relative.map(([since, isErased]) => [FIRST + since, isErased]));
  const times = [-5, 9, 10, 11, 19, 20, 21, 29, 30, 31, 39, 40, 41];
  const erases = compileErasures([tombstone]);
  const record = { siteId: 'shop', receivedAt: FIRST, visitorId: 'kiosk', userId: '', customerId: '' };
  const expected = times.filter((ms) => erases?.record({ ...record, timestamp: FIRST + ms }));
  expect(expected.length).toBeGreaterThan(0);
  expect(await erasedTimes(tombstone, times)).toEqual(expected);
});
