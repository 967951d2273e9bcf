import { Reader, type Response } from 'maxmind';
import { placeOf } from './mmdb-place.ts';

export type Family = 4 | 6;

/** One MMDB, read into memory. */
export interface MmdbFile {
  readonly families: readonly Family[];
  /** Its type and build date: `city ipv4 2026-06-05`. */
  readonly version: string;
  /** Unix milliseconds. */
  readonly builtAt: number;
  /** What it tells: a city file is better than a country file; 0 is one without places. */
  readonly rank: 0 | 1 | 2;
  get(ip: string): unknown;
}

/**
 * Asked of every file before it is used, spread over the whole tree: what is damaged throws here, and not at a visitor's
 * address. Where a flaw is met all the same, `openGeo` counts it.
 */
const PROBES: Readonly<Record<Family, readonly string[]>> = {
  4: Array.from({ length: 1024 }, (_, i) => `${i >> 2}.${(i & 3) * 64 + 8}.8.8`),
  6: Array.from({ length: 512 }, (_, i) => `${(0x2000 + i * 16).toString(16)}:${(i * 128).toString(16)}::1`),
};

/** Throws for bytes that are no MMDB, or a damaged one. */
export function readMmdb(bytes: Buffer): MmdbFile {
  const reader = new Reader<Response>(bytes);
  const { databaseType, ipVersion, buildEpoch } = reader.metadata;
  const families = familiesOf(ipVersion, databaseType);
  probe(bytes, reader, families);
  return {
    families,
    version: `${databaseType} ${buildEpoch.toISOString().slice(0, 10)}`,
    builtAt: buildEpoch.getTime(),
    rank: rankOf(databaseType),
    get: (ip) => reader.get(ip),
  };
}

const SEPARATOR_BYTES = 16;
/** Files of tests and of one's own office may know no probe; one of the world that knows none is a hole on the disk. */
const LARGE_NODES_MIN = 10_000;

function probe(bytes: Buffer, reader: Reader<Response>, families: readonly Family[]): void {
  const { searchTreeSize, nodeCount } = reader.metadata;
  const separator = bytes.subarray(searchTreeSize, searchTreeSize + SEPARATOR_BYTES);
  if (separator.length < SEPARATOR_BYTES || separator.some((byte) => byte !== 0))
    throw new Error('its tree is damaged');
  let known = 0;
  for (const family of families) {
    for (const ip of PROBES[family]) if (placeOf(reader.get(ip)).country !== '') known += 1;
  }
  if (known === 0 && nodeCount >= LARGE_NODES_MIN && rankOf(reader.metadata.databaseType) > 0) {
    throw new Error('it knows no country of any address that was tried');
  }
}

/** ip-location-db splits its data by family, and asked for the other one its files give wrong answers. */
function familiesOf(ipVersion: number, databaseType: string): readonly Family[] {
  if (ipVersion === 4 || /ipv4/i.test(databaseType)) return [4];
  return /ipv6/i.test(databaseType) ? [6] : [4, 6];
}

function rankOf(databaseType: string): MmdbFile['rank'] {
  if (/\b(?:asn|isp|anonymous|domain|connection)/i.test(databaseType) || /ASN|ISP/.test(databaseType)) return 0;
  return /city|enterprise|precision|location/i.test(databaseType) ? 2 : 1;
}
