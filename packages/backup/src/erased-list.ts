import { json } from 'node:stream/consumers';
import { ENTRY_PATTERN, type Tombstone } from '@weir/domain/erasure/tombstone';
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

/** Writes the list of tombstones into a place of backups, and replaces an older list. */
export async function writeErasedList(objects: ObjectStore, list: ErasedList): Promise<void> {
  await objects.put(NAME, Buffer.from(JSON.stringify(list)));
}

/**
 * Reads the list of tombstones in a place of backups. Resolves with undefined if there is no list, because an older version of
 * Weir made these backups.
 */
export async function readErasedList(objects: ObjectStore): Promise<ErasedList | undefined> {
  const stream = await objects.get(NAME);
  return stream === undefined ? undefined : checkErasedList(await json(stream), NAME);
}

/** Throws `object_store_damaged` if a parsed file is not a list; the message contains the name of the file. */
export function checkErasedList(parsed: unknown, file: string): ErasedList {
  const list = (parsed ?? {}) as Partial<ErasedList>;
  const isList = list.version === 1 && Number.isSafeInteger(list.at) && Array.isArray(list.tombstones);
  if (isList && list.tombstones.every(isTombstone)) return list as ErasedList;
  throw new DependencyError('object_store_damaged', `${file} is not a list of erasures (weir forget --list --json)`);
}

function isTombstone(value: Partial<Tombstone> | null): boolean {
  const { siteId, erasureId, part, at, salt, whole, entries } = value ?? {};
  const texts = [siteId, erasureId, salt].every((text) => typeof text === 'string' && text !== '');
  const numbers = [part, at].every((number) => Number.isSafeInteger(number));
  const isSet = typeof whole === 'boolean' && Array.isArray(entries);
  return texts && numbers && isSet && entries.every((entry) => ENTRY_PATTERN.test(String(entry)));
}
