import { createHash } from 'node:crypto';

/**
 * A range of raw offsets that is about to be inserted, in the metadata of an offset commit (design: exactly once, 2).
 * Whoever takes the partition makes the same insert again, byte for byte and with the same token, before anything else:
 * `records` drops what it has, and views catch up on what they lack.
 */
export interface Plan {
  /** First and last raw offset. Every raw offset between has one line. */
  readonly from: number;
  readonly to: number;
  /** Of the column list. */
  readonly version: number;
  /** `linesChecksum` of the lines as inserted. */
  readonly checksum: string;
  /** ClickHouse's error: the one row of the plan was refused, and its dead letter is inserted in its place. */
  readonly dead?: string;
}

/** What the writer keeps with the group's offset. `next`: the raw offset that must come next, the plan's own first included. */
export interface Progress {
  readonly next: number;
  readonly plan?: Plan;
  /** Where the raw partition was found to end although the table had more: what it holds from there on is not what was inserted. */
  readonly cutAt?: number;
}

/** Cut so that the metadata stays below its 2,000 bytes, whatever is in it. */
export const DEAD_ERROR_CHARS_MAX = 300;

export function encodeProgress({ next, plan, cutAt }: Progress): string {
  const cut = cutAt === undefined ? {} : { x: cutAt };
  if (plan === undefined) return JSON.stringify({ n: next, ...cut });
  const { from, to, version, checksum, dead } = plan;
  return JSON.stringify({
    f: from,
    t: to,
    c: to - from + 1,
    v: version,
    s: checksum,
    ...(dead === undefined ? {} : { d: dead }),
    ...cut,
  });
}

/** `undefined` where nothing was ever committed. Throws on what `encodeProgress` did not write. */
export function decodeProgress(metadata: string): Progress | undefined {
  if (metadata === '') return undefined;
  const { n, f, t, c, v, s, d, x } = JSON.parse(metadata) as Record<string, unknown>;
  const cut = isOffset(x) ? { cutAt: x } : {};
  if (isOffset(n)) return { next: n, ...cut };
  const sound = isOffset(f) && isOffset(t) && c === t - f + 1 && isOffset(v) && typeof s === 'string';
  if (!sound || (d !== undefined && (typeof d !== 'string' || f !== t))) {
    throw new TypeError(`the writer's commit can't be read: ${metadata.slice(0, 200)}`);
  }
  const dead = d === undefined ? {} : { dead: d };
  return { next: f, plan: { from: f, to: t, version: v, checksum: s, ...dead }, ...cut };
}

export function planToken(logId: string, partition: number, { from, to, version }: Plan): string {
  return `records:${logId}:${partition}:${from}-${to}:${version}`;
}

export function linesChecksum(lines: readonly Uint8Array[]): string {
  const hash = createHash('sha256');
  for (const line of lines) hash.update(line);
  return hash.digest('hex').slice(0, 32);
}

function isOffset(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
