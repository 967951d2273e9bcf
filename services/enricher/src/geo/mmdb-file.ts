import { Reader, type Response } from 'maxmind';
import { placeOf } from './mmdb-place.ts';

export type Family = 4 | 6;

/** A file of geo data in MaxMind's format (MMDB). */
export interface MmdbFile {
  readonly families: readonly Family[];
  /** The type and the build date, for example `city ipv4 2026-06-05`. */
  readonly version: string;
  /** The build date in Unix milliseconds. */
  readonly builtAt: number;
  /** How detailed the file is: 2 for cities, 1 for countries, 0 for no locations. */
  readonly rank: 0 | 1 | 2;
  get(ip: string): unknown;
}

/**
 * Addresses that are looked up in every new file before the file is used. They are spread over the whole tree, so that most damage
 * is found before a visitor's address is looked up. `openGeo` (open-geo.ts) counts damaged entries that are found later.
 */
const PROBES: Readonly<Record<Family, readonly string[]>> = {
  4: Array.from({ length: 1024 }, (_, i) => `${i >> 2}.${(i & 3) * 64 + 8}.8.8`),
  6: Array.from({ length: 512 }, (_, i) => `${(0x2000 + i * 16).toString(16)}:${(i * 128).toString(16)}::1`),
};

/** Opens the bytes of an MMDB file. Throws if they are not an MMDB file, or if the probes find damage. */
export function readMmdb(bytes: Buffer): MmdbFile {
  return mmdbOf(openReader(bytes), bytes);
}

/** Limits the cache to about 1 MB. */
const TEXTS_MAX = 10_000;

/** Opens the bytes of an MMDB file. Throws if they have no metadata. */
export function openReader(bytes: Buffer): Reader<Response> {
  return new Reader<Response>(bytes, { cache: textCache() });
}

/**
 * A cache of decoded texts for a reader. Most texts of an entry are stored once for many entries: the names of fields, countries, regions and cities.
 * Whole entries are not kept here. The enricher keeps their columns by address (geo-columns.ts).
 */
function textCache() {
  const texts = new Map<number | string, { readonly value: unknown }>();
  return {
    get: (offset: number | string) => texts.get(offset),
    set(offset: number | string, decoded: { readonly value: unknown }) {
      if (typeof decoded.value !== 'string') return;
      if (texts.size >= TEXTS_MAX) texts.clear();
      texts.set(offset, decoded);
    },
  };
}

/** Probes a file whose reader uses these bytes. Throws if the probes find damage. */
export function mmdbOf(reader: Reader<Response>, bytes: Buffer): MmdbFile {
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
/**
 * A file of locations with at least this many nodes is damaged if none of the probed addresses has a country. In a smaller file, for example of a
 * test or of one company's network, this is normal.
 */
const LARGE_NODES_MIN = 10_000;

function probe(bytes: Buffer, reader: Reader<Response>, families: readonly Family[]): void {
  const { searchTreeSize, nodeCount } = reader.metadata;
  const separator = bytes.subarray(searchTreeSize, searchTreeSize + SEPARATOR_BYTES);
  if (separator.length < SEPARATOR_BYTES || separator.some((byte) => byte !== 0))
    throw new Error('the search tree of the file is damaged');
  let known = 0;
  for (const family of families) {
    for (const ip of PROBES[family]) if (placeOf(reader.get(ip)).country !== '') known += 1;
  }
  if (known === 0 && nodeCount >= LARGE_NODES_MIN && rankOf(reader.metadata.databaseType) > 0) {
    throw new Error('the file has a country for none of the probed addresses');
  }
}

/**
 * The address families of a file. The package ip-location-db has one file for each family. Such a file gives wrong answers for addresses of the
 * other family, so it is used only for its own.
 */
export function familiesOf(ipVersion: number, databaseType: string): readonly Family[] {
  if (ipVersion === 4 || /ipv4/i.test(databaseType)) return [4];
  return /ipv6/i.test(databaseType) ? [6] : [4, 6];
}

function rankOf(databaseType: string): MmdbFile['rank'] {
  if (/\b(?:asn|isp|anonymous|domain|connection)/i.test(databaseType) || /ASN|ISP/.test(databaseType)) return 0;
  return /city|enterprise|precision|location/i.test(databaseType) ? 2 : 1;
}
