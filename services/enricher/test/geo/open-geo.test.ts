import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGeoColumns } from '../../src/encoding/geo-columns.ts';
import { NO_PLACE } from '../../src/geo/geo-lookup.ts';
import { type Geo, openGeo } from '../../src/geo/open-geo.ts';
import { bitsOf, buildMmdb, IPV4_IN_IPV6, type MmdbContent, type MmdbValue } from './mmdb-builder.ts';

const BUILT = new Date('2026-03-01T00:00:00Z');

function maxmindLayout(city: string): MmdbValue {
  return {
    country: { iso_code: 'DE' },
    subdivisions: [{ iso_code: 'BY', names: { en: 'Bavaria' } }],
    city: { names: { en: city, de: 'München' } },
    location: { latitude: 48.1, longitude: 11.6, time_zone: 'Europe/Berlin' },
  };
}
const flatLayout: MmdbValue = {
  country_code: 'FR',
  state1: 'Île-de-France',
  state2: '',
  city: 'Paris',
  timezone: '',
  latitude: 48.86,
  longitude: 2.35,
};

let folder: string;
let opened: Geo[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-geo-'));
});
afterEach(() => {
  for (const geo of opened) geo.close();
  opened = [];
  rmSync(folder, { recursive: true });
});

function write(name: string, content: Omit<MmdbContent, 'builtAt'>, builtAt = BUILT): string {
  const path = join(folder, name);
  writeFileSync(path, buildMmdb({ ...content, builtAt }));
  return path;
}

async function open(database: string | undefined, said: string[] = []): Promise<Geo> {
  const say = (_: unknown, message?: string) => said.push(message ?? '');
  const geo = await openGeo({ database, logger: { info: say, warn: say } as never });
  opened.push(geo);
  return geo;
}

test('the bundled data: both families, IPv4-mapped addresses unwrapped', async () => {
  const geo = await open(undefined);
  expect(geo.version).toMatch(/^dbip city ipv4 [\d-]+ \+ city ipv6 [\d-]+$/);
  expect(geo.lookup('8.8.8.8')).toEqual({
    country: 'US',
    region: 'US-CA',
    city: 'Mountain View',
    timezone: 'America/Los_Angeles',
  });
  expect(geo.lookup('::ffff:8.8.8.8')).toEqual(geo.lookup('8.8.8.8'));
  expect(geo.lookup('2a00:1450:4001:81b::200e').country).toBe('DE');
  for (const nowhere of ['', 'localhost', '10.0.0.1', '999.1.1.1', '::1'])
    expect(geo.lookup(nowhere)).toEqual(NO_PLACE);
});

test("MaxMind's layout, one file for both families", async () => {
  const bits = IPV4_IN_IPV6 + bitsOf('192.0.2.0', 24);
  const path = write('GeoLite2-City.mmdb', {
    databaseType: 'GeoLite2-City',
    ipVersion: 6,
    networks: [{ bits, record: maxmindLayout('Munich') }],
  });
  const geo = await open(path);
  expect(geo.version).toBe('GeoLite2-City 2026-03-01');
  expect(geo.lookup('192.0.2.9')).toEqual({
    country: 'DE',
    region: 'DE-BY',
    city: 'Munich',
    timezone: 'Europe/Berlin',
  });
  expect(geo.lookup('198.51.100.1')).toEqual(NO_PLACE);
});

test("ip-location-db's flat layout, one file for each address family: each file is used only for its own family", async () => {
  const networks = [{ bits: bitsOf('192.0.2.0', 24), record: flatLayout }];
  write('city-ipv4.mmdb', { databaseType: 'city ipv4', ipVersion: 4, networks });
  write('city-ipv6.mmdb', {
    databaseType: 'city ipv6',
    ipVersion: 6,
    // If the lookup used this file for an IPv4 address, it would find this wrong location.
    networks: [{ bits: IPV4_IN_IPV6, record: maxmindLayout('Wrong') }],
  });
  write('asn.mmdb', { databaseType: 'GeoLite2-ASN', ipVersion: 4, networks });
  const geo = await open(folder);
  expect(geo.lookup('192.0.2.9')).toEqual({ country: 'FR', region: 'FR-IDF', city: 'Paris', timezone: 'Europe/Paris' });
  expect(geo.lookup('203.0.113.1')).toEqual(NO_PLACE);
});

test('a changed file is read, probed and used; caches are cleared', async () => {
  const bits = bitsOf('192.0.2.0', 24);
  const content = { databaseType: 'X-City', ipVersion: 4 } as const;
  const path = write('x.mmdb', { ...content, networks: [{ bits, record: maxmindLayout('Old') }] });
  const said: string[] = [];
  const geo = await open(path, said);
  const placeOf = createGeoColumns(geo);
  expect(placeOf('192.0.2.1').json).toContain('Old');
  write('x.mmdb', { ...content, networks: [{ bits, record: maxmindLayout('Newer') }] }, new Date('2026-04-01'));
  await geo.check();
  expect(placeOf('192.0.2.1').json).toContain('Newer');
  expect([geo.version, ...said]).toEqual(['X-City 2026-04-01', 'geo data reloaded']);
});

test('a bad file leaves the old data in use, with a warning', async () => {
  const path = write('x.mmdb', {
    databaseType: 'X-City',
    ipVersion: 4,
    networks: [{ bits: bitsOf('192.0.2.0', 24), record: maxmindLayout('Old') }],
  });
  const said: string[] = [];
  const geo = await open(path, said);
  writeFileSync(path, 'not a database');
  await geo.check();
  rmSync(path);
  await geo.check();
  expect(geo.lookup('192.0.2.1').city).toBe('Old');
  expect(said).toEqual(Array(2).fill('new geo data cannot be read: the old data stays in use'));
});

test('a bad file at the start is a configuration error', async () => {
  const path = join(folder, 'bad.mmdb');
  writeFileSync(path, 'not a database');
  await expect(openGeo({ database: path })).rejects.toThrow(/GEOIP_DATABASE/);
  await expect(openGeo({ database: join(folder, 'none') })).rejects.toThrow(/GEOIP_DATABASE/);
});
