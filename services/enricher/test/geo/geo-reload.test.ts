import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import promises from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMetrics } from '@weir/runtime/prometheus-metrics';
import { createGeoColumns } from '../../src/encoding/geo-columns.ts';
import { type Geo, openGeo } from '../../src/geo/open-geo.ts';
import { bitsOf, buildMmdb } from './mmdb-builder.ts';

/** An address whose city shows which geo data is in use. */
const IP = '192.0.2.1';
const OLD = city('Old', '2026-03-01');
const NEW = city('New', '2026-04-01');

function city(name: string, built: string, bits = bitsOf('192.0.2.0', 24)): Buffer {
  const record = { country: { iso_code: 'DE' }, city: { names: { en: name } } };
  const networks = [{ bits, record }];
  return buildMmdb({ databaseType: 'X-City', ipVersion: 4, networks, builtAt: new Date(built) });
}

let folder: string;
let path: string;
let geo: Geo;
let said: string[];
const metrics = () => opened;
let opened = createMetrics();
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'weir-geo-'));
  path = join(folder, 'x.mmdb');
  writeFileSync(path, OLD);
  said = [];
  opened = createMetrics();
  const say = (_: unknown, message?: string) => said.push(message ?? '');
  geo = await openGeo({ database: path, metrics: opened, logger: { info: say, warn: say } as never });
});
afterEach(() => {
  geo.close();
  rmSync(folder, { recursive: true });
});

const cityNow = () => geo.lookup(IP).city;
const metric = async (name: string) => (await metrics().getSingleMetricAsString(name)).split('\n').slice(2);

test.each([
  ['empty', Buffer.alloc(0)],
  ['cut short', NEW.subarray(0, NEW.length - 20)],
  ['cut at its first byte', NEW.subarray(0, 1)],
  ['without its tree', NEW.subarray(60)],
  ['a page of HTML', Buffer.from('<html>Licence key invalid</html>')],
  [
    'zeros where data was',
    Buffer.concat([Buffer.alloc(40), NEW.subarray(NEW.indexOf('\xab\xcd\xefMaxMind', 0, 'latin1'))]),
  ],
  ['without places', buildMmdb({ databaseType: 'GeoLite2-ASN', ipVersion: 4, networks: [], builtAt: new Date(0) })],
])(
  'a file that is %s is refused with an alarm; the old data stays in use until a good file appears',
  async (_name, bad) => {
    writeFileSync(path, bad);
    await geo.check();
    await geo.check();
    expect([cityNow(), said]).toEqual(['Old', ['new geo data cannot be read: the old data stays in use']]);
    expect(geo.problem).not.toBe('');
    expect(await metric('weir_geo_stale')).toEqual(['weir_geo_stale 1']);
    expect(await metric('weir_geo_reloads_total')).toEqual(['weir_geo_reloads_total{result="refused"} 1']);

    writeFileSync(path, NEW);
    await geo.check();
    expect([cityNow(), geo.problem, geo.version]).toEqual(['New', '', 'X-City 2026-04-01']);
    expect(await metric('weir_geo_stale')).toEqual(['weir_geo_stale 0']);
    expect(await metric('weir_geo_built_timestamp_seconds')).toEqual([
      `weir_geo_built_timestamp_seconds ${Date.UTC(2026, 3, 1) / 1000}`,
    ]);
  },
);

test('a large file whose search tree is all zeros is refused, although it can be read without an error', async () => {
  const networks = Array.from({ length: 12_000 }, (_, i) => ({
    bits: bitsOf(`10.${i >> 8}.${i & 255}.0`, 24),
    record: i % 2 === 0 ? { country: { iso_code: 'DE' } } : { country: { iso_code: 'FR' } },
  }));
  const large = buildMmdb({ databaseType: 'X-City', ipVersion: 4, networks, builtAt: new Date('2026-04-01') });
  writeFileSync(path, Buffer.from(large).fill(0, 0, large.indexOf('country') - 20));
  await geo.check();
  expect([cityNow(), geo.problem]).toEqual(['Old', 'the file has a country for none of the probed addresses']);
});

test('putting the old file back clears the problem', async () => {
  const kept = join(folder, 'kept');
  renameSync(path, kept);
  await geo.check();
  expect(geo.problem).toMatch(/ENOENT/);
  renameSync(kept, path);
  await geo.check();
  expect([geo.problem, cityNow()]).toEqual(['', 'Old']);
});

test('a bad file that is put in place a second time is a problem again', async () => {
  const [kept, bad] = [join(folder, 'kept'), join(folder, 'bad')];
  writeFileSync(bad, 'no database');
  renameSync(path, kept);
  renameSync(bad, path);
  await geo.check();
  const { problem } = geo;
  expect(problem).not.toBe('');
  renameSync(path, bad);
  renameSync(kept, path);
  await geo.check();
  expect(geo.problem).toBe('');
  renameSync(path, kept);
  renameSync(bad, path);
  await geo.check();
  expect(geo.problem).toBe(problem);
});

test('a file that could not be read once is read again, although it has not changed', async () => {
  // The length differs, so that the change is also detected on a file system with coarse timestamps.
  writeFileSync(path, city('Newest', '2026-04-01'));
  const failure = Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE', syscall: 'open' });
  jest.spyOn(promises, 'readFile').mockRejectedValueOnce(failure);
  await geo.check();
  expect([cityNow(), geo.problem]).toEqual(['Old', failure.message]);
  await geo.check();
  expect([cityNow(), geo.problem]).toEqual(['Newest', '']);
});

test('after a reload of data with the same build date, addresses in the cache are looked up again', async () => {
  const cityOf = createGeoColumns(geo);
  expect(cityOf(IP).json).toContain('"Old"');
  writeFileSync(path, city('Corrected', '2026-03-01'));
  await geo.check();
  expect(cityOf(IP).json).toContain('"Corrected"');
});

test('a file that is written in pieces is used when it is complete', async () => {
  writeFileSync(path, '');
  for (let at = 0; at < NEW.length; at += 16) {
    appendFileSync(path, NEW.subarray(at, at + 16));
    await geo.check();
    expect(cityNow()).toBe(at + 16 < NEW.length ? 'Old' : 'New');
  }
});

test('a damaged entry that no probe found gives an unknown location and is counted', async () => {
  const record = { country: { iso_code: 'DE' }, city: { names: { en: 'Here' } } };
  const networks = [
    { bits: bitsOf('192.0.2.0', 24), record },
    { bits: bitsOf('198.51.100.0', 24), record },
  ];
  const bytes = buildMmdb({ databaseType: 'X-City', ipVersion: 4, networks, builtAt: new Date('2026-05-01') });
  // The second record becomes a pointer far beyond the end of the file.
  const second = bytes.lastIndexOf('country') - 2;
  bytes.writeUInt8(0x38, second);
  bytes.writeUInt32BE(0x7fffffff, second + 1);
  writeFileSync(path, bytes);
  await geo.check();
  expect(cityNow()).toBe('Here');
  expect(geo.lookup('198.51.100.1').country).toBe('');
  expect(await metric('weir_geo_damaged_entries_total')).toEqual(['weir_geo_damaged_entries_total 1']);
});

test('a folder: a better file that is added is used, and one bad file makes Weir refuse all changes', async () => {
  const files = join(folder, 'many');
  mkdirSync(files);
  writeFileSync(join(files, 'country.mmdb'), countries('FR'));
  writeFileSync(join(files, 'notes.txt'), 'no database');
  const many = await openGeo({ database: files });
  expect(many.lookup(IP)).toMatchObject({ country: 'FR', city: '' });
  writeFileSync(join(files, 'city.mmdb'), readFileSync(path));
  await many.check();
  expect(many.lookup(IP)).toMatchObject({ country: 'DE', city: 'Old' });
  writeFileSync(join(files, 'third.mmdb'), NEW.subarray(0, 50));
  await many.check();
  expect([many.lookup(IP).city, many.problem !== '']).toEqual(['Old', true]);
  rmSync(join(files, 'third.mmdb'));
  await many.check();
  expect([many.lookup(IP).city, many.problem]).toEqual(['Old', '']);
  many.close();
});

function countries(code: string): Buffer {
  const networks = [{ bits: bitsOf('192.0.2.0', 24), record: { country: { iso_code: code } } }];
  return buildMmdb({ databaseType: 'X-Country', ipVersion: 4, networks, builtAt: new Date('2026-02-01') });
}
