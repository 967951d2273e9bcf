import { type ErasureEntry, type ErasureKind, readEntry, type Tombstone } from '@weir/domain/erasure/tombstone';

/** The place of a raw record in the log. */
export interface RawPlace {
  readonly logId: string;
  readonly partition: number;
  readonly offset: number;
}

/** SQL conditions that select the records of an erasure. packages/domain/src/erasure/erases.ts has the same conditions for a single record. */
export interface PersonSql {
  readonly siteId: string;
  readonly whole: boolean;
  /** Unix milliseconds. Records that were received later are not erased, except those in the parameter `letters` of `personSql`. */
  readonly at: number;
  /** The condition on a row of `records` that is to be erased. */
  readonly records: string;
  /** A condition that is true if the column contains the profile ID of an erased user. Never true if `whole`: the tombstone then names no user. */
  readonly isProfile: (column: string) => string;
  /**
   * Conditions for tables that keep rows for longer than `records`. `isVisitor` is true for a row of an erased visitor (`seenAt` is the row's
   * time), and `isUser` for a row of an erased user.
   */
  readonly isVisitor: (column: string, seenAt: string) => string;
  readonly isUser: (column: string) => string;
}

const HASH_BYTES = 16;
const BEFORE_ALL_SPANS = Number.MIN_SAFE_INTEGER - 1;

/** Makes the conditions from the parts of one tombstone (docs/glossary.md). `letters`: the positions of dead letters that are erased too. */
export function personSql(parts: readonly Tombstone[], letters: readonly RawPlace[] = []): PersonSql {
  const [first] = parts;
  if (first === undefined) throw new Error('an erasure has no tombstone');
  const { siteId, whole, at, salt } = first;
  const entries = parts.flatMap((part) => part.entries.map(readEntry));
  const hashOf = (kind: ErasureKind, column: string): string => erasedHashSql(salt, siteId, kind, column);
  const found = [
    holds(hashOf('u', 'user_id'), ofKind(entries, 'u')),
    holds(hashOf('v', 'visitor_id'), ofKind(entries, 'v')),
    devices(hashOf('v', 'visitor_id'), ofKind(entries, 'd')),
    holds(hashOf('c', "ifNull(toString(properties.payment_customer_id), '')"), ofKind(entries, 'c')),
  ].filter((condition) => condition !== '');
  const own = `site_id = '${siteId}' AND received_at <= fromUnixTimestamp64Milli(${at}, 'UTC') AND ${whole ? '1' : anyOf(found)}`;
  const places = letters.map(({ logId, partition, offset }) => `('${logId}', ${partition}, ${offset})`);
  const byPlace = places.length === 0 ? '' : `(log_id, raw_partition, raw_offset) IN (${places.join(', ')})`;
  return {
    siteId,
    whole,
    at,
    records: `outcome NOT IN ('erased', 'expired') AND ${anyOf([`(${own})`, byPlace].filter((condition) => condition !== ''))}`,
    isProfile: (column) => holds(hashOf('p', column), ofKind(entries, 'p')) || '0',
    isVisitor: (column, seenAt) => {
      const hash = hashOf('v', column);
      const own = [holds(hash, ofKind(entries, 'v')), ...deviceConditions(hash, ofKind(entries, 'd'), seenAt)];
      return whole ? '1' : anyOf(own.filter((condition) => condition !== ''));
    },
    isUser: (column) => (whole ? '1' : holds(hashOf('u', column), ofKind(entries, 'u')) || '0'),
  };
}

/** Returns an SQL expression that computes the same hash as `erasureHash` of packages/domain. A test compares the two. */
export function erasedHashSql(salt: string, siteId: string, kind: ErasureKind, column: string): string {
  const text = `concat('${salt}\\0${siteId}\\0${kind}\\0', ${column})`;
  return `lower(hex(substring(SHA256(${text}), 1, ${HASH_BYTES})))`;
}

function ofKind(entries: readonly ErasureEntry[], kind: ErasureKind): readonly ErasureEntry[] {
  return entries.filter((entry) => entry.kind === kind);
}

function holds(hash: string, entries: readonly ErasureEntry[]): string {
  if (entries.length === 0) return '';
  return `${hash} IN (${entries.map((entry) => `'${entry.hash}'`).join(', ')})`;
}

/**
 * Returns a condition for the rows of erased devices. It does not match rows with a user ID: such a row belongs to this user and not to the device.
 */
function devices(hash: string, entries: readonly ErasureEntry[]): string {
  const any = deviceConditions(hash, entries, 'timestamp');
  return any.length === 0 ? '' : `(user_id = '' AND ${anyOf(any)})`;
}

function deviceConditions(hash: string, entries: readonly ErasureEntry[], seenAt: string): readonly string[] {
  const always = entries.filter(({ spans }) => spans.length === 0);
  const shared = entries.filter(({ spans }) => spans.length > 0);
  const found = [
    holds(hash, always),
    ...shared.map((entry) => `(${holds(hash, [entry])} AND ${within(entry, seenAt)})`),
  ];
  return found.filter((condition) => condition !== '');
}

/**
 * Returns a condition for the times within the spans, which are in order and do not overlap. A time is within a span if the last bound at or before
 * it is the start of a span. The condition is two lists of numbers and not two comparisons for each span, because the parser of ClickHouse refuses
 * a statement with tens of thousands of comparisons.
 */
function within({ spans }: ErasureEntry, seenAt: string): string {
  const real = spans.filter(({ from, to }) => from < to);
  if (real.length === 0) return '0';
  const ends = new Set(real.flatMap(({ from, to }) => (to === Number.POSITIVE_INFINITY ? [from] : [from, to])));
  // For a time before all bounds, `roundDown` returns the first element. So the first element must not be the start of a span.
  const bounds = [BEFORE_ALL_SPANS, ...ends].join(', ');
  return `roundDown(toUnixTimestamp64Milli(${seenAt}), [${bounds}]) IN (${real.map(({ from }) => from).join(', ')})`;
}

function anyOf(conditions: readonly string[]): string {
  return conditions.length === 0 ? '0' : `(${conditions.join(' OR ')})`;
}
