import { Readable } from 'node:stream';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { StoredRecord } from '@weir/ports/event-log';
import type { ObjectStore } from '@weir/ports/object-store';
import { readSegment } from '../src/archive/read-segment.ts';
import { createSegmentEncoder } from '../src/archive/segment-encoder.ts';
import { parseSegmentName, type SegmentRange, segmentName } from '../src/archive/segment-name.ts';

const RANGE: SegmentRange = { topic: 'events.raw', logId: 'log-1', partition: 3, from: 40, to: 2_541 };

const records: readonly StoredRecord[] = Array.from({ length: RANGE.to - RANGE.from + 1 }, (_, at) => ({
  offset: RANGE.from + at,
  appendedAt: 1_790_000_000_000 + at,
  headers: { raw: String(at), name: 'é "quoted"' },
  value:
    at % 100 === 7
      ? Buffer.from([0xff, 0x00, 0x0a, at % 256])
      : Buffer.from(`{"n":${at},"text":"line\\nü ${'x'.repeat(at)}"}`),
}));

async function encode(): Promise<Buffer> {
  const encoder = createSegmentEncoder();
  for (const record of records) await encoder.add(record);
  expect(encoder.records()).toBe(records.length);
  return Buffer.concat(await encoder.finish(RANGE));
}

/** Returns a store whose `get` returns the same bytes for every name. */
const storeOf = (bytes: Buffer | undefined): ObjectStore =>
  ({ get: async () => (bytes === undefined ? undefined : Readable.from([bytes])) }) as unknown as ObjectStore;

async function read(bytes: Buffer | undefined, range = RANGE): Promise<readonly StoredRecord[]> {
  const found: StoredRecord[] = [];
  for await (const batch of readSegment(storeOf(bytes), range)) found.push(...batch);
  return found;
}

test('reading a segment returns every record that was added', async () => {
  const found = await read(await encode());
  expect(found).toHaveLength(records.length);
  for (const [at, record] of records.entries()) {
    expect({ ...found[at], value: Buffer.from(found[at]!.value).toString('hex') }).toEqual({
      ...record,
      value: Buffer.from(record.value).toString('hex'),
    });
  }
});

test('the same records always produce the same bytes', async () => {
  expect((await encode()).equals(await encode())).toBe(true);
});

test.each<[string, (lines: string[]) => string[], RegExp]>([
  ['a record is missing', (lines) => lines.filter((_, at) => at !== 9), /has offset 49 where 48 must be/],
  ['the end is missing', (lines) => [...lines.slice(0, -2), ''], /ends before offset 2541/],
  [
    'a value was changed',
    (lines) => lines.map((line, at) => (at === 3 ? line.replace('"n"', '"m"').replace('\\"n', '\\"m') : line)),
    /wrong checksum/,
  ],
  [
    'the header contains another range',
    (lines) => lines.map((line, at) => (at === 0 ? line.replace('"from":40', '"from":41') : line)),
    /another range/,
  ],
  [
    'the version is newer than this code',
    (lines) => lines.map((line, at) => (at === 0 ? line.replace('"weirSegment":1', '"weirSegment":2') : line)),
    /version 2/,
  ],
  ['lines follow after the last line', (lines) => [...lines.slice(0, -1), '{"offset":1}', ''], /after its end/],
  ['a line is not JSON', (lines) => [...lines.slice(0, 5), 'x', ...lines.slice(5)], /cannot be read/],
])('reading a damaged segment fails: %s', async (_, damage, message) => {
  const lines = gunzipSync(await encode())
    .toString()
    .split('\n');
  await expect(read(gzipSync(damage(lines).join('\n')))).rejects.toMatchObject({
    code: 'object_store_damaged',
    message: expect.stringMatching(message),
  });
});

test('reading a truncated, damaged or missing object fails', async () => {
  const whole = await encode();
  for (const bytes of [whole.subarray(0, whole.length - 9), whole.subarray(0, 5), Buffer.from('not gzip'), undefined]) {
    await expect(read(bytes)).rejects.toMatchObject({ code: 'object_store_damaged' });
  }
});

test('the message about a damaged segment says what to do, and what the archive lacks without it', async () => {
  const named = "the archive's segment events.raw/log-1/0003/0000000000000040-0000000000002541.jsonl.gz";
  const copy =
    'Put a good copy of this object in its place, and check it with weir archive verify. A copy from before an erasure contains the erased persons: then repeat weir forget for them';
  await expect(read(undefined)).rejects.toThrow(new Error(`${named} does not exist. ${copy}`));
  await expect(read(gzipSync('{"offset":40}\n'))).rejects.toThrow(
    new Error(
      `${named} has no header. ${copy}. Without a copy, move the object away: the archive then lacks the offsets 40 to 2541, but the rows in the tables stay`,
    ),
  );
});

test('a segment name contains the range, and other names are not parsed', () => {
  expect(segmentName(RANGE)).toBe('events.raw/log-1/0003/0000000000000040-0000000000002541.jsonl.gz');
  expect(parseSegmentName(segmentName(RANGE))).toEqual(RANGE);
  for (const name of ['', 'manifest.json', `${segmentName(RANGE)}x`, 'events.raw/log/1/1-2.jsonl.gz']) {
    expect(parseSegmentName(name)).toBeUndefined();
  }
});
