import { hash } from 'node:crypto';
import { profileId } from '../people/profile-id.ts';

/**
 * A part of the list of erased IDs of one erasure. With this list, erased records do not come back when the log is read again. It
 * contains salted hashes instead of IDs. The IDs cannot be read from the hashes, but a guessed ID can be tested.
 */
export interface Tombstone {
  readonly siteId: string;
  readonly erasureId: string;
  /** The number of the part, from 0. A large erasure has several parts. */
  readonly part: number;
  /** The time of the erasure (`Erasure.at`) in Unix milliseconds. Records that were received later are not erased. */
  readonly at: number;
  /** All erasures of a site have the same salt, so that the IDs of a record are hashed only once. */
  readonly salt: string;
  /** If true, all records of the site are erased, and `entries` is empty. */
  readonly whole: boolean;
  /**
   * Each entry is `<kind>:<hash>`. For a device that several users shared, the entry is `d:<hash>:<from>-<to>,…`, with the
   * times at which it belonged to the erased user.
   */
  readonly entries: readonly string[];
}

/** Identifies a tombstone: no two tombstones have the same key. */
export function tombstoneKey({ siteId, erasureId, part }: Tombstone): string {
  return `${siteId}/${erasureId}/${part}`;
}

/**
 * Kinds of IDs:
 * - `v`: a visitor. All of its records are erased.
 * - `d`: a device, which is a visitor that was linked to an erased user. Its records are erased unless they name a user.
 * - `u`: a user. All records that name it are erased.
 * - `c`: a payment customer of an erased user. All rows that name it are erased.
 * - `p`: the profile ID of an erased user. Stored rows that contain it are erased.
 */
export type ErasureKind = 'v' | 'd' | 'u' | 'c' | 'p';

/** The fields of a record that decide whether it is erased. An empty text means that the record does not have the field. */
export interface ErasableRecord {
  readonly siteId: string;
  readonly receivedAt: number;
  /** The time of the event. */
  readonly timestamp: number;
  readonly visitorId: string;
  readonly userId: string;
  readonly customerId: string;
}

const HASH_CHARS = 32;
const SALT_BYTES = 16;

export function newErasureSalt(randomBytes: (length: number) => Uint8Array): string {
  return Buffer.from(randomBytes(SALT_BYTES)).toString('hex');
}

/**
 * The hash of an ID. A device is a visitor, so both kinds have the same hash. `erasedHashSql` in services/control computes the same hash in
 * SQL.
 */
export function erasureHash(salt: string, siteId: string, kind: ErasureKind, id: string): string {
  return hash('sha256', `${salt}\0${siteId}\0${kind === 'd' ? 'v' : kind}\0${id}`, 'hex').slice(0, HASH_CHARS);
}

export interface Span {
  /** Both times are Unix milliseconds. `from` is part of the span, `to` is not. */
  readonly from: number;
  readonly to: number;
}

export function entryOf(kind: ErasureKind, idHash: string, spans: readonly Span[] = []): string {
  const times = spans.map(({ from, to }) => `${from}-${to === Number.POSITIVE_INFINITY ? '' : to}`).join(',');
  return times === '' ? `${kind}:${idHash}` : `${kind}:${idHash}:${times}`;
}

/** Returns the entries with which an erasure of these visitors and users begins. */
export function namedEntries(salt: string, siteId: string, visitors: readonly string[], users: readonly string[]) {
  const entry = (kind: ErasureKind, id: string): string => entryOf(kind, erasureHash(salt, siteId, kind, id));
  return [
    ...visitors.map((id) => entry('v', id)),
    ...users.map((id) => entry('u', id)),
    ...users.map((id) => entry('p', profileId(siteId, id))),
  ];
}

export interface ErasureEntry {
  readonly kind: ErasureKind;
  readonly hash: string;
  /** The times at which the ID belonged to the erased person. Empty if it always belonged to that person. */
  readonly spans: readonly Span[];
}

export function readEntry(entry: string): ErasureEntry {
  const [kind = '', idHash = '', times = ''] = entry.split(':');
  const spans = times === '' ? [] : times.split(',').map(readSpan);
  return { kind: kind as ErasureKind, hash: idHash, spans };
}

function readSpan(text: string): Span {
  const cut = text.indexOf('-', 1);
  const to = text.slice(cut + 1);
  return { from: Number(text.slice(0, cut)), to: to === '' ? Number.POSITIVE_INFINITY : Number(to) };
}

/** The pattern of an entry, for checks of stored rows. */
export const ENTRY_PATTERN = /^[vducp]:[0-9a-f]{32}(:-?\d+-\d*(,-?\d+-\d*)*)?$/;
