/** A value in an MMDB file (https://maxmind.github.io/MaxMind-DB). Tests write small files of this format with `buildMmdb`. */
export type MmdbValue = string | number | { readonly [key: string]: MmdbValue } | readonly MmdbValue[];

export interface MmdbContent {
  readonly databaseType: string;
  readonly ipVersion: 4 | 6;
  /** The leading bits of a network (`1010…`), and the record of all addresses in this network. */
  readonly networks: readonly { readonly bits: string; readonly record: MmdbValue }[];
  readonly builtAt: Date;
}

type Node = [left: Node | number | undefined, right: Node | number | undefined];

export function buildMmdb({ databaseType, ipVersion, networks, builtAt }: MmdbContent): Buffer {
  const root: Node = [undefined, undefined];
  const nodes: Node[] = [root];
  networks.forEach(({ bits }, record) => {
    let node = root;
    for (const bit of bits.slice(0, -1)) {
      const side = bit === '1' ? 1 : 0;
      const next = node[side];
      if (Array.isArray(next)) node = next;
      else {
        const made: Node = [undefined, undefined];
        node[side] = made;
        nodes.push(made);
        node = made;
      }
    }
    node[bits.at(-1) === '1' ? 1 : 0] = record;
  });

  const data: Buffer[] = [];
  let length = 0;
  const starts = networks.map(({ record }) => {
    const start = length;
    const encoded = encode(record);
    length += encoded.length;
    data.push(encoded);
    return start;
  });
  const numbers = new Map(nodes.map((node, i) => [node, i]));
  const tree = Buffer.alloc(nodes.length * 6);
  const pointer = (side: Node | number | undefined): number => {
    if (side === undefined) return nodes.length;
    return typeof side === 'number' ? nodes.length + 16 + (starts[side] ?? 0) : (numbers.get(side) ?? 0);
  };
  nodes.forEach((node, i) => {
    tree.writeUIntBE(pointer(node[0]), i * 6, 3);
    tree.writeUIntBE(pointer(node[1]), i * 6 + 3, 3);
  });
  const metadata = {
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: Math.floor(builtAt.getTime() / 1000),
    database_type: databaseType,
    description: {},
    ip_version: ipVersion,
    languages: [],
    node_count: nodes.length,
    record_size: 24,
  };
  const marker = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');
  return Buffer.concat([tree, Buffer.alloc(16), ...data, marker, encode(metadata)]);
}

export function bitsOf(address: string, length: number): string {
  const bits = address.split('.').map((part) => Number(part).toString(2).padStart(8, '0'));
  return bits.join('').slice(0, length);
}

/** In a file for both address families, these 96 zero bits stand before the bits of an IPv4 network. */
export const IPV4_IN_IPV6 = '0'.repeat(96);

function encode(value: MmdbValue): Buffer {
  if (typeof value === 'string') {
    const text = Buffer.from(value);
    return Buffer.concat([control(2, text.length), text]);
  }
  if (typeof value === 'number') return Number.isInteger(value) ? encodeWhole(value) : encodeDouble(value);
  if (Array.isArray(value)) return Buffer.concat([control(11, value.length), ...value.map(encode)]);
  const entries = Object.entries(value as { readonly [key: string]: MmdbValue });
  return Buffer.concat([control(7, entries.length), ...entries.flatMap(([key, item]) => [encode(key), encode(item)])]);
}

function encodeWhole(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return Buffer.concat([control(6, 4), bytes]);
}

function encodeDouble(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return Buffer.concat([control(3, 8), bytes]);
}

function control(type: number, size: number): Buffer {
  const length = Math.min(size, 29);
  const first = type <= 7 ? [(type << 5) | length] : [length, type - 7];
  return Buffer.from(size < 29 ? first : [...first, size - 29]);
}
