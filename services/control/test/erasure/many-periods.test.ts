import { findLinked } from '@weir/control/erasure/find-linked';
import { personSql } from '@weir/control/erasure/person-sql';
import { entryOf, erasureHash, type Tombstone } from '@weir/domain/erasure/tombstone';
import type { Analytics } from '@weir/ports/analytics';
import { type ControlHarness, openControlHarness } from '../control-harness.ts';

let weir: ControlHarness;
beforeAll(async () => {
  weir = await openControlHarness();
});
afterAll(() => weir.close());

const FIRST = Date.UTC(2026, 0);

test('ClickHouse finds the records of a device that had 50,000 periods with an erased user', async () => {
  const changes = Array.from({ length: 100_000 }, (_, nth) => [FIRST + 10 * nth, nth % 2] as const);
  const select = async (query: string) => (query.includes('links_in_time') ? [{ visitor_id: 'kiosk', changes }] : []);
  const asked: Tombstone = {
    ...{ siteId: 'shop', erasureId: 'erasure', part: 0, at: Date.UTC(2026, 1), salt: 's', whole: false },
    entries: [entryOf('p', erasureHash('s', 'shop', 'p', 'profile'))],
  };
  const entries = await findLinked({ select } as unknown as Analytics, asked);
  const { records } = personSql([{ ...asked, entries }]);
  const nths = [-1, 0, 1, 1_999, 2_000, 2_001, 49_999, 50_000, 99_998, 99_999, 100_000];
  const time = (ms: string) => `fromUnixTimestamp64Milli(toInt64(${ms}), 'UTC')`;
  const rows = `SELECT 'row' AS outcome, 'shop' AS site_id, '' AS user_id, 'kiosk' AS visitor_id, ${time(`${FIRST}`)} AS received_at,
    arrayJoin([${nths.join(', ')}]) AS nth, ${time(`${FIRST} + 10 * nth + 5`)} AS timestamp`;
  // Statements that fill a table again have the condition up to three times.
  const found = await weir.analytics.select<{ nth: number | string }>(
    `SELECT nth FROM (${rows}) WHERE ${records} AND NOT (NOT (${records}))
     AND nth IN (SELECT nth FROM (${rows}) WHERE ${records}) ORDER BY nth`,
  );
  expect(found.map(({ nth }) => Number(nth))).toEqual([1, 1_999, 2_001, 49_999, 99_999, 100_000]);
});
