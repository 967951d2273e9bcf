import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openObjectStore } from '@weir/adapters/object-store/open-object-store';
import type { ObjectStore } from '@weir/ports/object-store';
import { lockDataFolder } from '@weir/runtime/data-folder';
import { CHUNK_BYTES } from '../src/chunk-repository.ts';
import { type BackupProgress, type BackupSource, createBackup } from '../src/create-backup.ts';
import { restoreBackup, verifyBackup } from '../src/restore-backup.ts';
import { listSnapshots, readSnapshot } from '../src/snapshot.ts';

const UUID = 'store/661/661344b8-9b92-4985-aaa3-51b9e35dcb55';
const S3 = { endpoint: undefined, region: 'us-east-1', pathStyle: false };
let root: string;
let objects: ObjectStore;
/** The simulated data folder has this log, and these parts of a table. */
let log: Buffer;
let parts: Map<string, Buffer>;
let warnings: string[];
let now = Date.UTC(2026, 10, 22);

beforeEach(async () => {
  warnings = [];
  root = mkdtempSync(join(tmpdir(), 'weir-backup-'));
  objects = await openObjectStore({ url: pathToFileURL(join(root, 'target')).href, s3: S3 });
  log = randomBytes(3 * CHUNK_BYTES + 17);
  parts = new Map([
    ['all_1_1_0', randomBytes(1_000)],
    ['all_2_2_0', randomBytes(CHUNK_BYTES + 5)],
  ]);
});
afterEach(() => rmSync(root, { recursive: true }));

function write(path: string, content: Buffer | string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

const source = (): BackupSource => ({
  logId: 'log-1',
  dataDir: join(root, 'data'),
  copyLog: async (folder) => write(join(folder, 'data.mdb'), log),
  async freezeTables() {
    const partsDir = join(root, 'frozen');
    for (const [name, content] of parts) {
      write(join(partsDir, UUID, name, 'data.bin'), content);
      write(join(partsDir, UUID, name, 'p.proj/data.bin'), `projection of ${name}`);
      write(join(partsDir, UUID, name, 'checksums.txt'), content.subarray(0, 32));
    }
    return {
      partsDir,
      definitions: [
        { name: 'metadata/weir.sql', content: Buffer.from('ATTACH DATABASE') },
        { name: `${UUID}/format_version.txt`, content: Buffer.from('1') },
      ],
      release: async () => rmSync(partsDir, { recursive: true }),
    };
  },
});

async function create(keep?: number): ReturnType<typeof createBackup> {
  now += 60_000;
  const progress: BackupProgress[] = [];
  const result = await createBackup({
    objects,
    source: source(),
    clock: () => now,
    keep,
    signal: new AbortController().signal,
    onProgress: (step) => progress.push(step),
    onWarning: (message) => warnings.push(message),
  });
  expect(progress.at(-1)).toEqual({ phase: 'upload', bytesDone: result.bytes, bytesTotal: result.bytes });
  return result;
}

function filesOf(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [relative(folder, path), readFileSync(path).toString('base64')];
    }),
  );
}

function expected(): Record<string, string> {
  const files: Record<string, string | Buffer> = {
    'log/data.mdb': log,
    'clickhouse/metadata/weir.sql': 'ATTACH DATABASE',
    [`clickhouse/${UUID}/format_version.txt`]: '1',
  };
  for (const [name, content] of parts) {
    files[`clickhouse/${UUID}/${name}/data.bin`] = content;
    files[`clickhouse/${UUID}/${name}/p.proj/data.bin`] = `projection of ${name}`;
    files[`clickhouse/${UUID}/${name}/checksums.txt`] = content.subarray(0, 32);
  }
  return Object.fromEntries(
    Object.entries(files).map(([path, content]) => [path, Buffer.from(content).toString('base64')]),
  );
}

const ignored = { onProgress: () => undefined, onWarning: () => undefined };
const finish = async (): Promise<void> => undefined;
let restored = 0;
async function restore(id?: string): Promise<Record<string, string>> {
  const into = join(root, `restored-${restored++}`);
  const { finished } = await restoreBackup({ objects, id, into, ...ignored, finish: async (part) => filesOf(part) });
  expect(finished).toEqual(filesOf(into));
  return filesOf(into);
}

test('a restored folder has the same files, and only its owner can enter it', async () => {
  await create();
  expect(await restore()).toEqual(expected());
  expect(statSync(join(root, `restored-${restored - 1}`)).mode & 0o777).toBe(0o700);
  expect(readdirSync(join(root, 'data/'))).toEqual([]);
});

test('a backup in the folder `backup` of the data folder stays there', async () => {
  objects = await openObjectStore({ url: pathToFileURL(join(root, 'data/backup')).href, s3: S3 });
  const first = await create();
  await create();
  expect(await restore(first.id)).toEqual(expected());
});

test('the second backup stores only what has changed, and both can be restored', async () => {
  const first = await create();
  const before = expected();
  const nothing = await create();
  expect(nothing).toMatchObject({ bytes: first.bytes, bytesSent: 0 });
  log = Buffer.concat([log, Buffer.alloc(100, 'new')]);
  parts.delete('all_1_1_0');
  parts.set('all_3_3_0', randomBytes(2_000));
  const third = await create();
  // Only one changed chunk at the end of the log and the new part were sent.
  expect(third.bytesSent).toBeLessThan(CHUNK_BYTES);
  expect(await restore(first.id)).toEqual(before);
  expect(await restore(third.id)).toEqual(expected());
});

test('old backups are deleted with the chunks that only they have', async () => {
  await create();
  log = randomBytes(CHUNK_BYTES);
  const second = await create();
  log = randomBytes(CHUNK_BYTES);
  const third = await create(2);
  expect(await listSnapshots(objects)).toEqual([second.id, third.id]);
  expect(await storedChunks()).toEqual(await chunksOf(second.id, third.id));
  await verifyBackup({ objects, id: second.id, onProgress: () => undefined });
  const last = await create(1);
  expect(await listSnapshots(objects)).toEqual([last.id]);
  expect(await storedChunks()).toEqual(await chunksOf(last.id));
  expect(await restore()).toEqual(expected());
});

async function chunkFiles(): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { name } of objects.list('chunks/')) found.push(name);
  return found;
}

const storedChunks = async (): Promise<ReadonlySet<string>> =>
  new Set((await chunkFiles()).map((name) => basename(name)));

/** The chunks that these backups need. */
async function chunksOf(...ids: readonly string[]): Promise<ReadonlySet<string>> {
  const snapshots = await Promise.all(ids.map((id) => readSnapshot(objects, id)));
  return new Set(snapshots.flatMap(({ items }) => items.flatMap(({ chunks }) => chunks)));
}

test.each<[string, (name: string) => Promise<void>]>([
  ['a missing chunk', (name) => objects.delete(name)],
  ['a damaged chunk', (name) => objects.put(name, Buffer.from('damaged'))],
  [
    'a chunk with other bytes',
    async (name) =>
      objects.put(
        name,
        readFileSync(join(root, 'target', (await chunkFiles()).find((other) => other !== name) as string)),
      ),
  ],
])('verify and restore find %s', async (_, damage) => {
  await create();
  await damage((await chunkFiles())[2] as string);
  const damaged = { code: 'object_store_damaged' };
  await expect(verifyBackup({ objects, id: undefined, onProgress: () => undefined })).rejects.toMatchObject(damaged);
  await expect(restore()).rejects.toMatchObject(damaged);
});

test('a folder that is not empty, an unknown backup, and an empty target are refused', async () => {
  const onProgress = (): void => undefined;
  await expect(verifyBackup({ objects, id: undefined, onProgress })).rejects.toThrow('there is no backup here');
  await create();
  write(join(root, 'full/file'), 'x');
  await expect(restoreBackup({ objects, id: undefined, into: join(root, 'full'), onProgress, finish })).rejects.toThrow(
    'is not empty',
  );
  await expect(verifyBackup({ objects, id: '20200101T000000Z', onProgress })).rejects.toThrow(
    'there is no backup 20200101T000000Z',
  );
});

test.each(['../outside', 'log/../../outside'])('a snapshot cannot write outside of the folder: %s', async (name) => {
  await create();
  const [id = ''] = await listSnapshots(objects);
  const path = join(root, 'target/snapshots', `${id}.json`);
  const snapshot = JSON.parse(readFileSync(path, 'utf8')) as {
    items: { folder: string; files: { name: string }[] }[];
  };
  const [first] = snapshot.items;
  if (first?.files[0] === undefined) throw new Error('the snapshot has no file');
  first.folder = '';
  first.files[0].name = name;
  writeFileSync(path, JSON.stringify(snapshot));
  const into = join(root, 'new/folder');
  await expect(
    restoreBackup({ objects, id: undefined, into, onProgress: () => undefined, finish }),
  ).rejects.toMatchObject({
    code: 'object_store_damaged',
  });
  expect(readdirSync(join(root, 'new'))).toEqual(['folder']);
});

test('a backup that fails leaves no snapshot, and the frozen tables are released', async () => {
  const broken = { ...source(), copyLog: () => Promise.reject(new Error('no space')) };
  const options = { objects, clock: () => now, keep: undefined, signal: new AbortController().signal };
  await expect(createBackup({ ...options, source: broken, ...ignored })).rejects.toThrow('no space');
  expect(await listSnapshots(objects)).toEqual([]);
  expect(readdirSync(root)).not.toContain('frozen');
});

test('a restore onto a full disk names the folder and says what to do', async () => {
  await create();
  const into = join(root, 'full');
  const full = () =>
    Promise.reject(Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' }));
  await expect(restoreBackup({ objects, id: undefined, into, ...ignored, finish: full })).rejects.toMatchObject({
    code: 'data_folder_unusable',
    message: `ENOSPC: no space left on device, write: the disk of ${into} is full. The backup is unchanged: free some space, delete the content of this folder, and run the command again`,
  });
});

test('a chunk that is lost is stored again by the next backup', async () => {
  await create();
  const [, part] = (await readSnapshot(objects, (await listSnapshots(objects))[0] as string)).items.slice(2);
  const [lost = ''] = part?.chunks ?? [];
  await objects.delete((await chunkFiles()).find((name) => basename(name) === lost) as string);
  const { bytesSent } = await create();
  expect(bytesSent).toBeGreaterThan(0);
  expect(await restore()).toEqual(expected());
});

test('a former backup that cannot be read does not stop the next one, and no chunk is deleted', async () => {
  const { id } = await create();
  const chunks = await storedChunks();
  await objects.put(`snapshots/${id}.json`, Buffer.from('damaged'));
  const { bytes } = await create();
  expect(bytes).toBeGreaterThan(0);
  expect(warnings).toEqual([expect.stringContaining(`snapshots/${id}.json`)]);
  const first = await create();
  parts.delete('all_1_1_0');
  await create(3);
  expect(await storedChunks()).toEqual(chunks);
  expect(await restore(first.id)).not.toEqual(expected());
  expect(await restore()).toEqual(expected());
});

test('a backup that was just made is kept, although others have IDs in the future', async () => {
  const today = now;
  now += 365 * 24 * 3_600_000;
  const future = await create();
  now = today;
  const present = await create(1);
  expect(await listSnapshots(objects)).toEqual([present.id]);
  now = today + 3_600_000;
  await create(2);
  expect((await listSnapshots(objects)).length).toBe(2);
  expect(await listSnapshots(objects)).not.toContain(future.id);
});

test('Weir does not start on a folder whose restore was interrupted', async () => {
  await create();
  const into = join(root, 'interrupted');
  const restoring = restoreBackup({
    objects,
    id: undefined,
    into,
    onProgress: () => undefined,
    finish: () => Promise.reject(new Error('interrupted')),
  });
  await expect(restoring).rejects.toThrow('interrupted');
  expect(readdirSync(into)).toEqual(['restore.part']);
  await expect(lockDataFolder(into)).rejects.toMatchObject({ code: 'data_folder_unusable' });
  const complete = join(root, `restored-${restored}`);
  await restore();
  await (await lockDataFolder(complete)).close();
});
