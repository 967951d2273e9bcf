import { type ErasableRecord, erasureHash, readEntry, type Span, type Tombstone } from './tombstone.ts';

/** Decides whether records of one site are erased, by the tombstones (docs/glossary.md) of the site. */
export interface Erases {
  record(record: ErasableRecord): boolean;
  /**
   * Whether a dead letter is erased. `texts` are the strings of its payload. One of them must be the ID of the site. In addition, the whole
   * site must be erased, or one of the strings must be an erased ID.
   */
  letter(texts: readonly string[], receivedAt: number): boolean;
}

interface Held {
  readonly at: number;
  readonly spans: readonly Span[];
}

/** The entries of all tombstones with the same salt. The key of the map is `<kind>:<hash>`. */
interface SaltedSet {
  readonly salt: string;
  readonly held: ReadonlyMap<string, readonly Held[]>;
}

/**
 * Compiles the tombstones of one site. Returns undefined if there are no tombstones. Checking a record that was received after
 * all erasures costs one comparison. Checking an older record costs at most three hashes.
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

/** Returns a function that gives the compiled tombstones of a site. They are compiled again only if the list of tombstones has changed. */
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

/**
 * Whether `id`, a text of a dead letter, is an erased ID. Entries with time spans (devices that several users shared) do not count,
 * because the event time of an unreadable record is not known.
 */
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
