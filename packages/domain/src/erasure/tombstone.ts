import { hash } from 'node:crypto';

/**
 * A part of the set of an erasure. It keeps what was erased from coming back out of the log or a backup. It holds no IDs but
 * their salted hashes, so it cannot list who was erased; who has it can test a guessed ID.
 */
export interface Tombstone {
  readonly siteId: string;
  readonly erasureId: string;
  /** From 0: a large set has several parts. */
  readonly part: number;
  /** Unix milliseconds: records that were received later are not erased. */
  readonly at: number;
  /** All erasures of a site share it, so that a record is hashed once for all of them. */
  readonly salt: string;
  /** The whole site; `entries` is then empty. */
  readonly whole: boolean;
  /** `<kind>:<hash>`; of a device that several users shared, `d:<hash>:<from>-<to>,…`: while it was the erased user's. */
  readonly entries: readonly string[];
}

/**
 * Kinds of IDs:
 * - `v`: a visitor. All of its records are erased.
 * - `d`: a device, which is a visitor that was linked to an erased user. Its records are erased unless they name a user.
 * - `u`: a user. All records that name it are erased.
 * - `c`: a payment customer of an erased user. All rows that name it are erased.
 * - `p`: the profile ID of an erased user. No record names it directly.
 */
export type ErasureKind = 'v' | 'd' | 'u' | 'c' | 'p';

/** What decides whether a record is erased. Empty text: the record does not have it. */
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

/** Devices and visitors have the same hash. `erasedHashSql` in services/control computes the same. */
export function erasureHash(salt: string, siteId: string, kind: ErasureKind, id: string): string {
  return hash('sha256', `${salt}\0${siteId}\0${kind === 'd' ? 'v' : kind}\0${id}`, 'hex').slice(0, HASH_CHARS);
}

export interface Span {
  /** Unix milliseconds; `from` belongs to the span, `to` does not. */
  readonly from: number;
  readonly to: number;
}

export function entryOf(kind: ErasureKind, idHash: string, spans: readonly Span[] = []): string {
  const times = spans.map(({ from, to }) => `${from}-${to === Number.POSITIVE_INFINITY ? '' : to}`).join(',');
  return times === '' ? `${kind}:${idHash}` : `${kind}:${idHash}:${times}`;
}

export interface ErasureEntry {
  readonly kind: ErasureKind;
  readonly hash: string;
  /** Empty: at all times. */
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
