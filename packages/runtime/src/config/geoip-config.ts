import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { EnvReader } from './env-reader.ts';

/** The metadata of an MMDB file are in its last 128 KiB, after this marker (https://maxmind.github.io/MaxMind-DB). */
export const MMDB_METADATA_BYTES_MAX = 128 * 1024;
const ADVICE = 'set it to an MMDB file, or to a folder of MMDB files';
const METADATA_MARKER = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');

/**
 * Reads `GEOIP_DATABASE`: the path of an MMDB file, or of a folder of them. Reports a path that cannot be read, a folder without MMDB files, and a
 * file without the marker of an MMDB file. The enricher finds other damage when it reads the data.
 */
export function readGeoipDatabase(env: EnvReader): string | undefined {
  const path = env.text('GEOIP_DATABASE');
  if (path === undefined) return undefined;
  try {
    const isFolder = statSync(path).isDirectory();
    const files = isFolder ? readdirSync(path).filter((name) => name.endsWith('.mmdb')) : [''];
    if (files.length === 0) env.problem(`GEOIP_DATABASE: the folder ${path} has no file *.mmdb: ${ADVICE}`);
    for (const name of files) {
      const file = join(path, name);
      if (!hasMarker(file)) env.problem(`GEOIP_DATABASE: ${file} is not an MMDB file: ${ADVICE}`);
    }
  } catch (error) {
    env.problem(
      `GEOIP_DATABASE: ${path} cannot be read (${(error as NodeJS.ErrnoException).code}): ${ADVICE} that Weir can read`,
    );
  }
  return path;
}

function hasMarker(path: string): boolean {
  const { size } = statSync(path);
  const file = openSync(path, 'r');
  try {
    const tail = Buffer.alloc(MMDB_METADATA_BYTES_MAX);
    readSync(file, tail, 0, tail.length, Math.max(0, size - tail.length));
    return tail.includes(METADATA_MARKER);
  } finally {
    closeSync(file);
  }
}
