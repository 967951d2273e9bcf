import { entryOf, erasureHash, readEntry, type Span, type Tombstone } from '@weir/domain/erasure/tombstone';
import type { Analytics } from '@weir/ports/analytics';
import { personSql } from './person-sql.ts';

interface Device {
  readonly visitor_id: string;
  /**
   * For each change of the device's user, in order of time: since when the device had the new user (Unix milliseconds), and whether this user is
   * erased.
   */
  readonly changes: readonly (readonly [since: number | string, isErased: boolean | number])[];
}

/** The maximum number of periods in one entry. A device with more periods has several entries, so that the rows of the registry stay small. */
const SPANS_PER_ENTRY_MAX = 1_000;

/**
 * Finds further entries for the tombstone (docs/glossary.md) of erased users: their payment customers, and their devices. A device of a user is a
 * visitor that was linked to this user. If other users also used a device, its entry is limited to the times at which the device belonged to an
 * erased user. The column `profile_id_then` of the view `people_events` uses the same rule.
 */
export async function findLinked(analytics: Pick<Analytics, 'select'>, asked: Tombstone): Promise<readonly string[]> {
  if (asked.whole || !asked.entries.some((entry) => readEntry(entry).kind === 'p')) return [];
  const { salt, siteId } = asked;
  const { isProfile } = personSql([asked]);
  const devices = await analytics.select<Device>(
    `SELECT visitor_id, arraySort(groupArray((toUnixTimestamp64Milli(since), is_erased))) AS changes
     FROM (SELECT visitor_id, since, ${isProfile('profile_id')} AS is_erased FROM links_in_time WHERE site_id = {siteId:String})
     GROUP BY visitor_id HAVING max(is_erased)`,
    { siteId },
  );
  const customers = await analytics.select<{ payment_customer_id: string }>(
    `SELECT payment_customer_id FROM payment_customers WHERE site_id = {siteId:String} AND ${isProfile('profile_id')}`,
    { siteId },
  );
  return [
    ...devices.flatMap(({ visitor_id, changes }) =>
      entriesOf(erasureHash(salt, siteId, 'd', visitor_id), spansOf(changes)),
    ),
    ...customers.map((customer) => entryOf('c', erasureHash(salt, siteId, 'c', customer.payment_customer_id))),
  ];
}

function entriesOf(device: string, spans: readonly Span[]): readonly string[] {
  const entries = [entryOf('d', device, spans.slice(0, SPANS_PER_ENTRY_MAX))];
  for (let from = SPANS_PER_ENTRY_MAX; from < spans.length; from += SPANS_PER_ENTRY_MAX) {
    entries.push(entryOf('d', device, spans.slice(from, from + SPANS_PER_ENTRY_MAX)));
  }
  return entries;
}

/** Returns the periods in which the device belonged to an erased user. An empty list stands for all times. */
function spansOf(changes: Device['changes']): readonly Span[] {
  if (changes.every(([, isErased]) => Boolean(isErased))) return [];
  return changes.flatMap(([since, isErased], nth) => {
    const to = Number(changes[nth + 1]?.[0] ?? Number.POSITIVE_INFINITY);
    // All time before the first change belongs to the first user.
    const from = nth === 0 ? Number.MIN_SAFE_INTEGER : Number(since);
    return isErased ? [{ from, to }] : [];
  });
}
