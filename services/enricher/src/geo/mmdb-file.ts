import { Reader, type Response } from 'maxmind';

export type Family = 4 | 6;

/** One MMDB, read into memory. */
export interface MmdbFile {
  readonly families: readonly Family[];
  /** Its type and build date: `city ipv4 2026-06-05`. */
  readonly version: string;
  /** What it tells: a city file is better than a country file; 0 is one without places. */
  readonly rank: 0 | 1 | 2;
  get(ip: string): unknown;
}

/** Asked of every file before it is used: what is damaged throws here, and not at a visitor's address. */
const PROBES: Readonly<Record<Family, readonly string[]>> = {
  4: ['1.1.1.1', '8.8.8.8', '81.2.69.142', '133.1.1.1', '200.1.1.1', '255.255.255.255'],
  6: ['2001:4860:4860::8888', '2a00:1450:4001:81b::200e', '2400:cb00::1', 'ffff::1'],
};

/** Throws for bytes that are no MMDB, or a damaged one. */
export function readMmdb(bytes: Buffer): MmdbFile {
  const reader = new Reader<Response>(bytes);
  const { databaseType, ipVersion, buildEpoch } = reader.metadata;
  const families = familiesOf(ipVersion, databaseType);
  for (const family of families) for (const ip of PROBES[family]) reader.get(ip);
  return {
    families,
    version: `${databaseType} ${buildEpoch.toISOString().slice(0, 10)}`,
    rank: rankOf(databaseType),
    get: (ip) => reader.get(ip),
  };
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
