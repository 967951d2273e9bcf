/** A segment of the archive: the records of one partition from one offset to another, both included. */
export interface SegmentRange {
  readonly topic: string;
  readonly logId: string;
  readonly partition: number;
  readonly from: number;
  readonly to: number;
}

/** 2^53 has 16 digits. All offsets have the same number of digits, so names sort in the order of their offsets. */
const OFFSET_DIGITS = 16;
const PARTITION_DIGITS = 4;
const NAME = /^([A-Za-z0-9._-]+)\/([A-Za-z0-9-]{1,36})\/(\d{4,})\/(\d{16})-(\d{16})\.jsonl\.gz$/;

const digits = (value: number, length: number): string => String(value).padStart(length, '0');

/** Returns an offset with the number of digits that it has in names. */
export function offsetDigits(offset: number): string {
  return digits(offset, OFFSET_DIGITS);
}

/** Returns the folder that contains the segments of one partition, with a slash at the end. */
export function segmentFolder(range: Pick<SegmentRange, 'topic' | 'logId' | 'partition'>): string {
  return `${range.topic}/${range.logId}/${digits(range.partition, PARTITION_DIGITS)}/`;
}

/**
 * Returns `<topic>/<log>/<partition>/<from>-<to>.jsonl.gz`. The same range always has the same name, so the archive cannot contain a segment
 * twice.
 */
export function segmentName(range: SegmentRange): string {
  return `${segmentFolder(range)}${offsetDigits(range.from)}-${offsetDigits(range.to)}.jsonl.gz`;
}

/** Returns undefined if `name` is not the name of a segment. */
export function parseSegmentName(name: string): SegmentRange | undefined {
  const [, topic = '', logId = '', partition, from, to] = NAME.exec(name) ?? [];
  if (from === undefined) return undefined;
  return { topic, logId, partition: Number(partition), from: Number(from), to: Number(to) };
}
