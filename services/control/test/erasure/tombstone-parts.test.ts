import { findLinked } from '@weir/control/erasure/find-linked';
import { tombstoneParts } from '@weir/control/erasure/tombstone-parts';
import { compileErasures } from '@weir/domain/erasure/erases';
import { entryOf, erasureHash, type Tombstone } from '@weir/domain/erasure/tombstone';
import type { Analytics } from '@weir/ports/analytics';

const HEAD = { siteId: 'shop', erasureId: 'erasure', part: 0, at: Date.UTC(2026, 1), salt: 's', whole: false };
/** The limit of the test. It is below the 983,040 bytes above which Weir refuses rows of the registry on Kafka. */
const ROW_CHARS_MAX = 500_000;

test('a device that had 50,000 periods with an erased user has several entries, and the rows stay small', async () => {
  const first = Date.UTC(2026, 0);
  const since = (nth: number): number => first + 10 * nth;
  const changes = Array.from({ length: 100_000 }, (_, nth) => [since(nth), nth % 2] as const);
  const select = async (query: string) => (query.includes('links_in_time') ? [{ visitor_id: 'kiosk', changes }] : []);
  const asked: Tombstone = { ...HEAD, entries: [entryOf('p', erasureHash('s', 'shop', 'p', 'profile'))] };
  const parts = tombstoneParts({ ...HEAD, part: 1 }, await findLinked({ select } as unknown as Analytics, asked));
  expect(Math.max(...parts.map((part) => JSON.stringify(part).length))).toBeLessThan(ROW_CHARS_MAX);
  expect(parts.map(({ part }) => part)).toEqual(parts.map((_, nth) => nth + 1));

  const erases = compileErasures(parts);
  const isErased = (nth: number) =>
    erases?.record({
      ...{ siteId: 'shop', receivedAt: first, timestamp: since(nth) + 5 },
      ...{ visitorId: 'kiosk', userId: '', customerId: '' },
    });
  for (const nth of [0, 1, 1_999, 2_000, 2_001, 49_999, 50_000, 99_998, 99_999])
    expect([nth, isErased(nth)]).toEqual([nth, nth % 2 === 1]);
});

test('a part has at most 2,000 entries', () => {
  const entries = Array.from({ length: 4_001 }, (_, nth) => entryOf('v', erasureHash('s', 'shop', 'v', String(nth))));
  const parts = tombstoneParts(HEAD, entries);
  expect(parts.map(({ part, entries }) => [part, entries.length])).toEqual([
    [0, 2_000],
    [1, 2_000],
    [2, 1],
  ]);
  expect(parts.flatMap((part) => part.entries)).toEqual(entries);
});
