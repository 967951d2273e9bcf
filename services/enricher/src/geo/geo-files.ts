import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Family, type MmdbFile, readMmdb } from './mmdb-file.ts';

/** The geo data in use: one MMDB file for both address families, or one file for each. */
export interface GeoFiles {
  readonly version: string;
  /** The build date of the older file, in Unix milliseconds. */
  readonly builtAt: number;
  get(ip: string, family: Family): unknown;
  /** Closes the files on disk. `get` must not be called after it. */
  close(): void;
}

/** Returns the paths of the MMDB files at a path, which is a file or a folder. */
async function geoPaths(path: string): Promise<readonly string[]> {
  if (!(await stat(path)).isDirectory()) return [path];
  const names = (await readdir(path)).filter((name) => name.endsWith('.mmdb')).sort();
  return names.map((name) => join(path, name));
}

/** Returns a text that changes when one of the files changes. */
export async function geoSignature(path: string): Promise<string> {
  const parts: string[] = [];
  for (const file of await geoPaths(path)) {
    const { ino, size, mtimeMs } = await stat(file);
    parts.push(`${file}:${ino}:${size}:${mtimeMs}`);
  }
  return parts.join('|');
}

/** Reads the files, and selects the most detailed file for each address family. Rejects if a file is damaged, or if no file has locations. */
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
  if (ipv4 === undefined && ipv6 === undefined) throw new Error('no MMDB file with locations');
  const used = [...new Set([ipv4, ipv6])].filter((file) => file !== undefined);
  return {
    version: used.map(({ version }) => version).join(' + '),
    builtAt: Math.min(...used.map(({ builtAt }) => builtAt)),
    get: (ip, family) => (family === 4 ? ipv4 : ipv6)?.get(ip),
    // The files are in memory.
    close: () => undefined,
  };
}
