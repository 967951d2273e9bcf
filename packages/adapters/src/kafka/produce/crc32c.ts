/** CRC-32C (Castagnoli), eight bytes at a time. Node's zlib only has the CRC-32 polynomial. */
export function crc32c(bytes: Uint8Array): number {
  const [t0, t1, t2, t3, t4, t5, t6, t7] = TABLES;
  let crc = -1;
  let at = 0;
  for (const end = bytes.length - 7; at < end; at += 8) {
    const low = crc ^ (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24));
    crc =
      t7[low & 255]! ^
      t6[(low >>> 8) & 255]! ^
      t5[(low >>> 16) & 255]! ^
      t4[low >>> 24]! ^
      t3[bytes[at + 4]!]! ^
      t2[bytes[at + 5]!]! ^
      t1[bytes[at + 6]!]! ^
      t0[bytes[at + 7]!]!;
  }
  for (; at < bytes.length; at++) crc = t0[(crc ^ bytes[at]!) & 255]! ^ (crc >>> 8);
  return (crc ^ -1) >>> 0;
}

type Table = Int32Array;
const POLYNOMIAL = 0x82f63b78;
const TABLES = makeTables();

function makeTables(): readonly [Table, Table, Table, Table, Table, Table, Table, Table] {
  const make = (of: (byte: number) => number): Table => Int32Array.from({ length: 256 }, (_, byte) => of(byte));
  const first = make((byte) => {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    return crc;
  });
  const after = (table: Table): Table => make((byte) => first[table[byte]! & 255]! ^ (table[byte]! >>> 8));
  const t1 = after(first);
  const t2 = after(t1);
  const t3 = after(t2);
  const t4 = after(t3);
  const t5 = after(t4);
  const t6 = after(t5);
  return [first, t1, t2, t3, t4, t5, t6, after(t6)];
}
