import { randomBytes, randomUUID } from 'node:crypto';
import { compressSync } from 'lz4-napi';
import {
  type EntryKey,
  EntryReader,
  encodeHeaders,
  packEntry,
  recordBytes,
  writeRecord,
} from '../../src/lmdb/lmdb-entry.ts';

const keyOf = (count: number): EntryKey => ['events.raw', 2, 100, count, 1_700_000_000_000];
const HEADERS = encodeHeaders({ site: 'demo' });

function entryOf(values: readonly Uint8Array[]): Buffer {
  const entry = Buffer.allocUnsafe(values.reduce((sum, value) => sum + recordBytes(value, HEADERS), 0));
  values.reduce((at, value) => writeRecord(entry, at, value, HEADERS), 0);
  return entry;
}

function readAll(
  stored: Buffer,
  count: number,
  from = 100,
): { offset: number; value: string; site: string | undefined }[] {
  const reader = new EntryReader(keyOf(count), stored);
  reader.skipTo(from);
  const records = [];
  while (!reader.done) {
    const { offset, value, headers } = reader.next();
    records.push({ offset, value: Buffer.from(value).toString('latin1'), site: headers?.site });
  }
  return records;
}

const similar = (count: number): Buffer[] =>
  Array.from({ length: count }, (_, n) =>
    Buffer.from(JSON.stringify({ path: `/page/${n}`, agent: 'Mozilla/5.0 '.repeat(20) })),
  );

test.each([1, 10, 500])('an entry with %i similar records is read back, compressed or not', (count) => {
  const entry = entryOf(similar(count));
  const stored = packEntry(entry);
  expect(readAll(stored, count)).toEqual(readAll(entry, count));
  expect(readAll(stored, count)).toHaveLength(count);
  expect(stored.length < entry.length / 3).toBe(count > 1);
});

test.each([10, 500])('a compressed entry of %i records is read from an offset in the middle', (count) => {
  const values = similar(count);
  const last = 99 + count;
  const records = readAll(packEntry(entryOf(values)), count, last);
  expect(records).toEqual([{ offset: last, value: values.at(-1)?.toString('latin1'), site: 'demo' }]);
});

test('an entry that compression does not make smaller is stored as it is', () => {
  const entry = entryOf([randomBytes(5000), randomBytes(5000)]);
  expect(packEntry(entry)).toBe(entry);
});

test('a larger entry is compressed better', () => {
  const random = (count: number): number => {
    const values = Array.from({ length: count }, () => Buffer.from(`{"event_id":"${randomUUID()}"}`));
    return packEntry(entryOf(values)).length / count;
  };
  // A random UUID has 122 bits. As hexadecimal digits and hyphens, which LZ4 does not make shorter, it needs 36 bytes.
  expect(random(100)).toBeGreaterThan(36);
  expect(random(2000)).toBeLessThan(30);
});

test('an entry that was compressed with LZ4, as all were before Brotli, is read', () => {
  const entry = entryOf(similar(500));
  const stored = Buffer.concat([Buffer.from([0xff, 0xff, 0xff, 0xff]), compressSync(entry)]);
  expect(readAll(stored, 500)).toEqual(readAll(entry, 500));
});

test.each([10, 500])('a damaged compressed entry of %i records is an error, and not another record', (count) => {
  const stored = packEntry(entryOf(similar(count)));
  const wrongLength = Buffer.from(stored);
  wrongLength.writeUInt32LE(0x7fffffff, 4);
  const noLength = Buffer.from(stored);
  noLength.writeUInt32LE(0, 4);
  for (const damaged of [stored.subarray(0, stored.length / 2), wrongLength, noLength]) {
    expect(() => new EntryReader(keyOf(count), damaged)).toThrow(
      expect.objectContaining({ code: 'event_log_damaged' }),
    );
  }
});

test('an entry with another number of records than its key says is an error, compressed or not', () => {
  const entry = entryOf(similar(50));
  const changed = (at: number): Buffer => {
    const copy = Buffer.from(entry);
    copy[at]! += 1;
    return copy;
  };
  const damaged: [count: number, stored: Buffer][] = [
    [10, Buffer.alloc(6_000)],
    [50, changed(0)],
    [50, changed(3)],
    [50, changed(4)],
    [50, changed(entry.indexOf('demo') + 4)],
    [50, packEntry(changed(0))],
    [50, entry.subarray(0, entry.length - 1)],
    [50, Buffer.concat([entry, Buffer.alloc(3)])],
    [49, entry],
    [51, entry],
    [51, packEntry(entry)],
    [0, entry],
  ];
  for (const [count, stored] of damaged) {
    expect(() => readAll(stored, count)).toThrow(expect.objectContaining({ code: 'event_log_damaged' }));
  }
});
