import { type ErasableRecord, erasureHash, readEntry, type Span, type Tombstone } from './tombstone.ts';

/** Decides by the tombstones of one site. */
export interface Erases {
  record(record: ErasableRecord): boolean;
  /** Of a dead letter, by the strings of its payload: whether one of them is the site, and another one an erased ID. */
  letter(texts: readonly string[], receivedAt: number): boolean;
}

interface Held {
  readonly at: number;
  readonly spans: readonly Span[];
}

/** The entries of all tombstones that share a salt, by `<kind>:<hash>`. */
interface SaltedSet {
  readonly salt: string;
  readonly held: ReadonlyMap<string, readonly Held[]>;
}

/**
 * Compiles the tombstones of one site; undefined where there are none. A record that was received after all of them costs one
 * comparison, any other at most three hashes.
 */
export function compileErasures(tombstones: readonly Tombstone[]): Erases | undefined {
  const [{ siteId } = { siteId: '' }] = tombstones;
  if (siteId === '') return undefined;
  const latest = Math.max(...tombstones.map(({ at }) => at));
  const wholeUntil = Math.max(-1, ...tombstones.filter(({ whole }) => whole).map(({ at }) => at));
  const sets = [...new Set(tombstones.map(({ salt }) => salt))].map((salt) => saltedSet(salt, tombstones));
  return {
    record(record) {
      if (record.receivedAt > latest) return false;
      return record.receivedAt <= wholeUntil || sets.some((set) => holds(set, record));
    },
    letter(texts, receivedAt) {
      if (receivedAt > latest || !texts.includes(siteId)) return false;
      return receivedAt <= wholeUntil || sets.some((set) => texts.some((id) => names(set, siteId, id, receivedAt)));
    },
  };
}

/** `compileErasures` for each site, compiled again when its list of tombstones is another one. */
export function createErasures(tombstonesOf: (siteId: string) => readonly Tombstone[]) {
  const compiled = new WeakMap<readonly Tombstone[], Erases>();
  return (siteId: string): Erases | undefined => {
    const tombstones = tombstonesOf(siteId);
    if (tombstones.length === 0) return undefined;
    const known = compiled.get(tombstones) ?? compileErasures(tombstones);
    if (known !== undefined) compiled.set(tombstones, known);
    return known;
  };
}

function saltedSet(salt: string, tombstones: readonly Tombstone[]): SaltedSet {
  const held = new Map<string, Held[]>();
  for (const { salt: own, at, entries } of tombstones) {
    if (own !== salt) continue;
    for (const text of entries) {
      const entry = readEntry(text);
      const key = `${entry.kind}:${entry.hash}`;
      const one = { at, spans: entry.spans };
      const others = held.get(key);
      if (others === undefined) held.set(key, [one]);
      else others.push(one);
    }
  }
  return { salt, held };
}

function holds({ salt, held }: SaltedSet, record: ErasableRecord): boolean {
  const { siteId, receivedAt, timestamp, visitorId, userId, customerId } = record;
  const isHeld = (key: string): boolean =>
    held.get(key)?.some((one) => receivedAt <= one.at && within(one.spans, timestamp)) ?? false;
  if (userId !== '' && isHeld(`u:${erasureHash(salt, siteId, 'u', userId)}`)) return true;
  if (customerId !== '' && isHeld(`c:${erasureHash(salt, siteId, 'c', customerId)}`)) return true;
  if (visitorId === '') return false;
  const visitor = erasureHash(salt, siteId, 'v', visitorId);
  return isHeld(`v:${visitor}`) || (userId === '' && isHeld(`d:${visitor}`));
}

/** A device that several users shared does not tell whose the letter is. */
function names({ salt, held }: SaltedSet, siteId: string, id: string, receivedAt: number): boolean {
  return (['v', 'd', 'u', 'c', 'p'] as const).some((kind) =>
    held
      .get(`${kind}:${erasureHash(salt, siteId, kind, id)}`)
      ?.some((one) => receivedAt <= one.at && one.spans.length === 0),
  );
}

function within(spans: readonly Span[], at: number): boolean {
  return spans.length === 0 || spans.some(({ from, to }) => at >= from && at < to);
}
