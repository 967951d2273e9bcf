import { type ErasureEntry, type ErasureKind, readEntry, type Tombstone } from '@weir/domain/erasure/tombstone';

/** The place of a raw record in the log. */
export interface RawPlace {
  readonly logId: string;
  readonly partition: number;
  readonly offset: number;
}

/** A set of records as SQL. `erases` (packages/domain) decides the same for one record. */
export interface PersonSql {
  readonly siteId: string;
  readonly whole: boolean;
  /** Unix milliseconds. Records that were received later are not erased, except those in `letters`. */
  readonly at: number;
  /** The condition on a row of `records` that is to be erased. */
  readonly records: string;
  /** The condition on a profile ID. */
  readonly isProfile: (column: string) => string;
}

const HASH_BYTES = 16;

/** The parts of one tombstone, and records that are found in another way: dead letters. */
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
    records: `outcome != 'erased' AND ${anyOf([`(${own})`, byPlace].filter((condition) => condition !== ''))}`,
    isProfile: (column) => holds(hashOf('p', column), ofKind(entries, 'p')) || '0',
  };
}

/** `erasureHash` of packages/domain as SQL; a test compares the two. */
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

/** A row that names a user is that user's. */
function devices(hash: string, entries: readonly ErasureEntry[]): string {
  const always = entries.filter(({ spans }) => spans.length === 0);
  const shared = entries.filter(({ spans }) => spans.length > 0);
  const found = [holds(hash, always), ...shared.map((entry) => `(${holds(hash, [entry])} AND ${within(entry)})`)];
  const any = found.filter((condition) => condition !== '');
  return any.length === 0 ? '' : `(user_id = '' AND ${anyOf(any)})`;
}

function within({ spans }: ErasureEntry): string {
  const at = 'toUnixTimestamp64Milli(timestamp)';
  return anyOf(
    spans.map(({ from, to }) =>
      to === Number.POSITIVE_INFINITY ? `${at} >= ${from}` : `(${at} >= ${from} AND ${at} < ${to})`,
    ),
  );
}

function anyOf(conditions: readonly string[]): string {
  return conditions.length === 0 ? '0' : `(${conditions.join(' OR ')})`;
}
