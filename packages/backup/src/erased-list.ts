import { text } from 'node:stream/consumers';
import { ENTRY_PATTERN, type Tombstone, tombstoneKey } from '@weir/domain/erasure/tombstone';
import { DependencyError } from '@weir/domain/errors';
import type { ObjectStore } from '@weir/ports/object-store';

/**
 * All tombstones (docs/glossary.md) of an installation at one time (`at`). A restore of an older backup needs them, because the backup does
 * not have all of them.
 */
export interface ErasedList {
  readonly version: 1;
  /** Unix milliseconds. */
  readonly at: number;
  readonly tombstones: readonly Tombstone[];
}

const NAME = 'erased.json';

/**
 * Adds the tombstones of this installation to the list in a place of backups. The list can contain tombstones that this installation does not have:
 * another installation wrote them, and this installation was restored from an older backup of the other one. Such tombstones stay in the list. The
 * list then keeps the older of the two values of `at`, because later erasures of the other installation may be missing in the list.
 */
export async function writeErasedList(objects: ObjectStore, list: ErasedList): Promise<void> {
  for (;;) {
    // The version is read before the content. If another process changes the list after that, `replace` fails, and the list is read again.
    const version = await objects.version(NAME);
    const older = version === undefined ? undefined : await readErasedList(objects);
    const body = Buffer.from(JSON.stringify(older === undefined ? list : union(older, list)));
    if (version === undefined ? await objects.create(NAME, body) : await objects.replace(NAME, version, body)) return;
  }
}

function union(older: ErasedList, list: ErasedList): ErasedList {
  const own = new Set(list.tombstones.map(tombstoneKey));
  const others = older.tombstones.filter((tombstone) => !own.has(tombstoneKey(tombstone)));
  const at = others.length === 0 ? list.at : Math.min(older.at, list.at);
  return { version: 1, at, tombstones: [...others, ...list.tombstones] };
}

/**
 * Reads the list of tombstones in a place of backups. Resolves with undefined if there is no list, because an older version of
 * Weir made these backups. Throws `object_store_damaged` if the object is not a list.
 */
export async function readErasedList(objects: ObjectStore): Promise<ErasedList | undefined> {
  const stream = await objects.get(NAME);
  return stream === undefined ? undefined : checkErasedList(parse(await text(stream)), NAME);
}

/** Returns undefined for a text that is not JSON. */
function parse(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}

/** Throws `object_store_damaged` if a parsed file is not a list; the message contains the name of the file. */
export function checkErasedList(parsed: unknown, file: string): ErasedList {
  const list = (parsed ?? {}) as Partial<ErasedList>;
  const isList = list.version === 1 && Number.isSafeInteger(list.at) && Array.isArray(list.tombstones);
  if (isList && list.tombstones.every(isTombstone)) return list as ErasedList;
  throw new DependencyError(
    'object_store_damaged',
    `${file} is not a list of erasures: replace it with the output of weir forget --list --json`,
  );
}

function isTombstone(value: Partial<Tombstone> | null): boolean {
  const { siteId, erasureId, part, at, salt, whole, entries } = value ?? {};
  const texts = [siteId, erasureId, salt].every((text) => typeof text === 'string' && text !== '');
  const numbers = [part, at].every((number) => Number.isSafeInteger(number));
  const isSet = typeof whole === 'boolean' && Array.isArray(entries);
  return texts && numbers && isSet && entries.every((entry) => ENTRY_PATTERN.test(String(entry)));
}
