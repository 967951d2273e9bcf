import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Family, type MmdbFile, readMmdb } from './mmdb-file.ts';

/** The files that answer together. */
export interface GeoFiles {
  readonly version: string;
  /** Unix milliseconds: when the older of them was built. */
  readonly builtAt: number;
  get(ip: string, family: Family): unknown;
}

/** The MMDB files at a path, a file or a folder of them. */
export async function geoPaths(path: string): Promise<readonly string[]> {
  if (!(await stat(path)).isDirectory()) return [path];
  const names = (await readdir(path)).filter((name) => name.endsWith('.mmdb')).sort();
  return names.map((name) => join(path, name));
}

/** Changes when one of the files does. */
export async function geoSignature(path: string): Promise<string> {
  const parts: string[] = [];
  for (const file of await geoPaths(path)) {
    const { ino, size, mtimeMs } = await stat(file);
    parts.push(`${file}:${ino}:${size}:${mtimeMs}`);
  }
  return parts.join('|');
}

/** Reads them, and takes for each family the one that tells most. Throws where one is damaged or none has places. */
export async function readGeoFiles(path: string): Promise<GeoFiles> {
  const paths = await geoPaths(path);
  const files: MmdbFile[] = [];
  for (const file of paths) files.push(readMmdb(await readFile(file)));
  const best = (family: Family): MmdbFile | undefined =>
    files
      .filter((file) => file.rank > 0 && file.families.includes(family))
      .sort((a, b) => b.rank - a.rank || a.families.length - b.families.length)[0];
  const ipv4 = best(4);
  const ipv6 = best(6);
  if (ipv4 === undefined && ipv6 === undefined) throw new Error('no MMDB file with places in it');
  const used = [...new Set([ipv4, ipv6])].filter((file) => file !== undefined);
  return {
    version: used.map(({ version }) => version).join(' + '),
    builtAt: Math.min(...used.map(({ builtAt }) => builtAt)),
    get: (ip, family) => (family === 4 ? ipv4 : ipv6)?.get(ip),
  };
}
