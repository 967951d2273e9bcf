/** A network that belongs to a country. */
export interface Block {
  readonly family: 4 | 6;
  readonly code: string;
  readonly bits: string;
  readonly first: bigint;
  readonly last: bigint;
  /** True if the addresses directly before this network are not assigned to a country. */
  readonly gapBefore: boolean;
}

export interface BlockOptions {
  readonly family: 4 | 6;
  readonly first: bigint;
  /** The shortest and the longest prefix length. */
  readonly prefixes: readonly [number, number];
}

/**
 * Returns networks in ascending order, one for each country code. Their prefix lengths vary over the whole range. At least every third network
 * has a gap before it.
 */
export function blocksOf(codes: readonly string[], { family, first, prefixes }: BlockOptions): readonly Block[] {
  const width = family === 4 ? 32 : 128;
  const [shortest, longest] = prefixes;
  let next = first;
  return codes.map((code, i) => {
    const prefix = shortest + ((i * 7) % (longest - shortest + 1));
    const size = 1n << BigInt(width - prefix);
    const from = i % 3 === 0 ? next + 1n : next;
    const start = ((from + size - 1n) / size) * size;
    const block = {
      family,
      code,
      bits: start.toString(2).padStart(width, '0').slice(0, prefix),
      first: start,
      last: start + size - 1n,
      gapBefore: start > next,
    };
    next = start + size;
    return block;
  });
}

export function addressText(family: 4 | 6, address: bigint): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (address >> shift) & 255n).join('.');
  return Array.from({ length: 8 }, (_, i) => ((address >> BigInt(112 - i * 16)) & 0xffffn).toString(16)).join(':');
}
