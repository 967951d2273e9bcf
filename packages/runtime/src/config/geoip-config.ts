import { closeSync, openSync, readSync, statSync } from 'node:fs';
import type { EnvReader } from './env-reader.ts';

/** The metadata of an MMDB file are in its last 128 KiB, after this marker (https://maxmind.github.io/MaxMind-DB). */
export const MMDB_METADATA_BYTES_MAX = 128 * 1024;
const METADATA_MARKER = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');

/**
 * Reads `GEOIP_DATABASE`: the path of an MMDB file, or of a folder of them. Reports a file without the marker of an MMDB file. The enricher
 * finds other damage, and wrong files in a folder, when it reads the data.
 */
export function readGeoipDatabase(env: EnvReader): string | undefined {
  const path = env.text('GEOIP_DATABASE');
  if (path === undefined) return undefined;
  try {
    const found = statSync(path);
    if (found.isFile() && !hasMarker(path, found.size)) {
      env.problem(`GEOIP_DATABASE: ${path} is not an MMDB file: set it to an MMDB file, or to a folder of MMDB files`);
    }
  } catch (error) {
    env.problem(`GEOIP_DATABASE: ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  return path;
}

function hasMarker(path: string, bytes: number): boolean {
  const file = openSync(path, 'r');
  try {
    const tail = Buffer.alloc(MMDB_METADATA_BYTES_MAX);
    readSync(file, tail, 0, tail.length, Math.max(0, bytes - tail.length));
    return tail.includes(METADATA_MARKER);
  } finally {
    closeSync(file);
  }
}
