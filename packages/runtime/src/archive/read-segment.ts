import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { DependencyError } from '@weir/domain/errors';
import type { StoredRecord } from '@weir/ports/event-log';
import type { ObjectStore } from '@weir/ports/object-store';
import { SEGMENT_VERSION, type SegmentHeader, type SegmentLine, type SegmentTrailer } from './segment-encoder.ts';
import { type SegmentRange, segmentName } from './segment-name.ts';

/** A record is at most about 1 MB. Its line is longer, because JSON escapes some characters. */
const LINE_BYTES_MAX = 8 * 1024 * 1024;
const RECORDS_PER_BATCH = 1_000;

/**
 * Reads the records of a segment (a file of the archive) in batches, ordered by offset. The checksum is compared only after the last line. So a
 * caller that must not use records of a damaged segment must read all batches first, or call `verifySegment` before.
 * Throws `object_store_damaged` if the segment is missing, truncated or damaged, or if it does not contain each offset of `range` once.
 */
export async function* readSegment(store: ObjectStore, range: SegmentRange): AsyncIterable<readonly StoredRecord[]> {
  const name = segmentName(range);
  const damaged = (reason: string, cause?: unknown): DependencyError =>
    new DependencyError('object_store_damaged', `the archive's segment ${name} ${reason}. ${repairOf(range)}`, {
      cause,
    });
  const source = await store.get(name);
  if (source === undefined) {
    throw new DependencyError('object_store_damaged', `the archive's segment ${name} does not exist. ${PUT_COPY}`);
  }

  const hash = createHash('sha256');
  let next = range.from;
  let header: SegmentHeader | undefined;
  let trailer: SegmentTrailer | undefined;
  let batch: StoredRecord[] = [];
  try {
    for await (const line of linesOf(source)) {
      if (trailer !== undefined) throw damaged('has lines after its end');
      const parsed = JSON.parse(line.toString()) as SegmentHeader | SegmentLine | SegmentTrailer;
      if (header === undefined) {
        header = parsed as SegmentHeader;
        if (typeof header.weirSegment !== 'number') throw damaged('has no header');
        if (header.weirSegment !== SEGMENT_VERSION) throw otherVersion(name, header.weirSegment);
        if (segmentName(header) !== name) throw damaged(`names another range: ${segmentName(header)}`);
      } else if ('offset' in parsed) {
        if (parsed.offset !== next) throw damaged(`has offset ${parsed.offset} where ${next} must be`);
        hash.update(line).update('\n');
        next++;
        batch.push(recordOf(parsed));
        if (batch.length >= RECORDS_PER_BATCH) {
          yield batch;
          batch = [];
        }
      } else trailer = parsed as SegmentTrailer;
    }
  } catch (error) {
    if (error instanceof DependencyError) throw error;
    throw damaged(`cannot be read: ${(error as Error).message}`, error);
  } finally {
    source.destroy();
  }
  if (trailer === undefined || next !== range.to + 1) throw damaged(`ends before offset ${range.to}`);
  if (trailer.sha256 !== hash.digest('hex')) throw damaged('has a wrong checksum');
  if (batch.length > 0) yield batch;
}

/** Reads the whole segment and throws the same errors as `readSegment`. */
export async function verifySegment(store: ObjectStore, range: SegmentRange): Promise<void> {
  for await (const batch of readSegment(store, range)) void batch;
}

const PUT_COPY =
  'Put a good copy of this object in its place, and check it with weir archive verify. A copy from before an erasure contains the erased persons: then repeat weir forget for them';

/** What to do about a damaged segment, and what the archive lacks without it. */
function repairOf({ from, to }: SegmentRange): string {
  return `${PUT_COPY}. Without a copy, move the object away: the archive then lacks the offsets ${from} to ${to}, but the rows in the tables stay`;
}

function otherVersion(name: string, version: number): DependencyError {
  return new DependencyError(
    'object_store_damaged',
    `the archive's segment ${name} has version ${version}, not ${SEGMENT_VERSION}: use the version of Weir that stored it`,
  );
}

function recordOf({ offset, appendedAt, headers, value, base64 }: SegmentLine): StoredRecord {
  return {
    offset,
    appendedAt,
    headers,
    value: base64 === undefined ? Buffer.from(value ?? '') : Buffer.from(base64, 'base64'),
  };
}

/** Yields the lines of a gzip file, without the line feed at their end. */
async function* linesOf(source: Readable): AsyncIterable<Buffer> {
  const plain = createGunzip();
  const piping = pipeline(source, plain);
  // If the pipeline fails, the loop below throws the same error. Without this line, Node would report an unhandled rejection as well.
  piping.catch(() => undefined);
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of plain as AsyncIterable<Buffer>) {
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      yield rest.length === 0 ? chunk.subarray(from, at) : Buffer.concat([rest, chunk.subarray(from, at)]);
      rest = Buffer.alloc(0);
      from = at + 1;
    }
    rest = Buffer.concat([rest, chunk.subarray(from)]);
    if (rest.length > LINE_BYTES_MAX) throw new RangeError(`a line is longer than ${LINE_BYTES_MAX} bytes`);
  }
  await piping;
  if (rest.length > 0) throw new SyntaxError('the last line is not complete');
}
