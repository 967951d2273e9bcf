import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { objectStoreUrlProblem } from '@weir/domain/net/object-store-url';
import type { ObjectStore } from '@weir/ports/object-store';
import { verifySegment } from '@weir/runtime/archive/read-segment';
import { segmentName } from '@weir/runtime/archive/segment-name';
import { objectStoreContract } from '../../../ports/contract/object-store.contract.ts';
import { openObjectStore } from '../../src/object-store/open-object-store.ts';

const folders: string[] = [];
const s3 = { endpoint: undefined, region: 'us-east-1', pathStyle: false };
const open = (folder: string): Promise<ObjectStore> => openObjectStore({ url: pathToFileURL(folder).href, s3 });

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'weir-objects-'));
  folders.push(folder);
  return folder;
}

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

describe('the object store in a folder', () => {
  objectStoreContract(() => open(join(makeFolder(), 'made', 'with the first object')));

  it('creates folders with the given mode, and leaves the mode of existing folders', async () => {
    const folder = makeFolder();
    chmodSync(folder, 0o755);
    const url = pathToFileURL(join(folder, 'backups')).href;
    await (await openObjectStore({ url, s3, folderMode: 0o700 })).put('chunks/a', Buffer.from('1'));
    const modes = ['', 'backups', 'backups/chunks'].map((name) => statSync(join(folder, name)).mode & 0o777);
    expect(modes).toEqual([0o755, 0o700, 0o700]);
  });

  it('two processes that replace the same version at the same moment: one of them does', async () => {
    const folder = makeFolder();
    const stores = await Promise.all([1, 2, 3, 4].map(() => open(folder)));
    await stores[0]?.put('a/b', Buffer.from('first'));
    const version = String(await stores[0]?.version('a/b'));
    const replaced = await Promise.all(stores.map((one, nth) => one.replace('a/b', version, Buffer.from(String(nth)))));
    expect(replaced.filter(Boolean)).toHaveLength(1);
    const content = (await stores[0]?.get('a/b')) as Readable;
    expect((await buffer(content)).toString()).toBe(String(replaced.indexOf(true)));
  });

  it('the error message names the reason and what to check if a file exists where a folder is needed', async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'a'), '');
    const store = await open(folder);
    await expect(store.put('a/b', Buffer.from('1'))).rejects.toMatchObject({
      name: 'DependencyError',
      message: expect.stringMatching(
        new RegExp(`^cannot store a/b in ${folder}: EEXIST.*: check the folder and its permissions`),
      ),
    });
    chmodSync(folder, 0o755);
  });
});

test('leftovers of interrupted uploads are removed if they are old enough', async () => {
  const folder = makeFolder();
  const store = await open(folder);
  await store.put('a/b/object', Buffer.from('1'));
  const [old, young] = [join(folder, 'a/b/.part-1'), join(folder, 'a/b/.part-2')];
  for (const path of [old, young]) writeFileSync(path, 'x');
  utimesSync(old, 1000, 1000);
  utimesSync(join(folder, 'a/b/object'), 1000, 1000);
  await store.removeLeftovers(1_001_000);
  expect(readdirSync(join(folder, 'a/b')).sort()).toEqual(['.part-2', 'object']);
  await (await open(join(folder, 'none'))).removeLeftovers(1_001_000);
});

/** Reading the first byte of this file fails with an input/output error (EIO). */
const UNREADABLE = '/proc/self/mem';
const onLinux = existsSync(UNREADABLE) ? test : test.skip;
onLinux('errors of the disk while an object is read or listed are object_store_unavailable, not damage', async () => {
  const folder = makeFolder();
  const store = await open(folder);
  const range = { topic: 'events.raw', logId: 'log', partition: 0, from: 0, to: 9 } as const;
  mkdirSync(dirname(join(folder, segmentName(range))), { recursive: true });
  symlinkSync(UNREADABLE, join(folder, segmentName(range)));
  await expect(verifySegment(store, range)).rejects.toMatchObject({ code: 'object_store_unavailable' });
  symlinkSync('loop', join(folder, 'loop'));
  const loop = await open(join(folder, 'loop'));
  await expect(loop.list('')[Symbol.asyncIterator]().next()).rejects.toMatchObject({
    code: 'object_store_unavailable',
  });
});

test.each([
  ['file:///srv/archive', undefined],
  ['s3://bucket', undefined],
  ['s3://bucket/a/b', undefined],
  ['file://host/share', /must be file/],
  ['file:archive', /must be file/],
  ['s3://B', /must be/],
  ['s3://b/c', /not "s3:\/\/b\/c" \(the name of a bucket has 3 to 63 chars/],
  ['s3://bc', /3 to 63 chars/],
  ['s3://abc', undefined],
  ['s3://bucket-', /ends with a letter or digit/],
  ['https://bucket', /must be/],
  ['s3://bucket/ä', /must be/],
  ['/srv/archive', /must be/],
])('the URL %s', (url, problem) => {
  const found = objectStoreUrlProblem(url);
  if (problem === undefined) expect(found).toBeUndefined();
  else expect(found).toMatch(problem);
});
