import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openObjectStore } from '@weir/adapters/object-store/open-object-store';
import type { Tombstone } from '@weir/domain/erasure/tombstone';
import type { ObjectStore } from '@weir/ports/object-store';
import { readErasedList, writeErasedList } from '../src/erased-list.ts';

let root: string;
let objects: ObjectStore;

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'weir-erased-list-'));
  const s3 = { endpoint: undefined, region: 'us-east-1', pathStyle: false };
  objects = await openObjectStore({ url: pathToFileURL(root).href, s3 });
});
afterEach(() => rmSync(root, { recursive: true }));

function tombstone(erasureId: string, part = 0): Tombstone {
  return { siteId: 'shop', erasureId, part, at: 5, salt: 'salt', whole: false, entries: [`v:${'ab'.repeat(16)}`] };
}

const write = (at: number, ...tombstones: readonly Tombstone[]) =>
  writeErasedList(objects, { version: 1, at, tombstones });

test('the list of another installation keeps the tombstones and the time of the older list', async () => {
  await write(10, tombstone('a'));
  await write(20);
  expect(await readErasedList(objects)).toEqual({ version: 1, at: 10, tombstones: [tombstone('a')] });
  // The next list has all tombstones of the stored list, so the stored list gets the time of the next list.
  await write(30, tombstone('a'), tombstone('a', 1), tombstone('b'));
  expect(await readErasedList(objects)).toEqual({
    version: 1,
    at: 30,
    tombstones: [tombstone('a'), tombstone('a', 1), tombstone('b')],
  });
});

test('lists that are written at the same moment are all kept', async () => {
  await Promise.all([1, 2, 3, 4, 5].map((at) => write(at, tombstone(`erasure-${at}`))));
  const list = await readErasedList(objects);
  expect(list?.tombstones.map(({ erasureId }) => erasureId).toSorted()).toEqual(
    [1, 2, 3, 4, 5].map((at) => `erasure-${at}`),
  );
});

test('an object that is not a list is refused and not replaced', async () => {
  await objects.put('erased.json', Buffer.from('{"version": 1'));
  await expect(write(10, tombstone('a'))).rejects.toMatchObject({ code: 'object_store_damaged' });
  await expect(readErasedList(objects)).rejects.toThrow('erased.json is not a list of erasures');
});
