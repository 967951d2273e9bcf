import { createHash } from 'node:crypto';
import { DependencyError } from '@weir/domain/errors';

/**
 * A range of raw offsets (offsets in `events.raw`) that is about to be inserted. It is stored as metadata of an offset commit. The next owner of the
 * partition first repeats this insert, byte for byte and with the same token: `records` drops the rows that it already has, and each materialized
 * view receives the rows that it lacks. See docs/exactly-once.md.
 */
export interface Plan {
  /** The first and last raw offset. Every raw offset in this range has exactly one row. */
  readonly from: number;
  readonly to: number;
  /** The version of the column list. */
  readonly version: number;
  /**
   * The number of the set of tables (docs/exactly-once.md) for which the plan was made. Tables of another generation do not have the token of this
   * insert.
   */
  readonly generation: number;
  /** The checksum of the inserted lines. A repeated insert must have the same checksum. */
  readonly checksum: string;
  /**
   * ClickHouse's error message. If it is set, ClickHouse refused the only row of this plan, and the plan inserts its dead
   * letter instead.
   */
  readonly dead?: string;
  /** The latest block of `records` (`Analytics.latestBlock`) at most 5 s before the first attempt, if it is known. */
  readonly block?: number | undefined;
}

/**
 * The metadata that the writer stores with the committed offset. `next` is the next raw offset to insert. With a plan, it is the first offset of the
 * plan.
 */
export interface Progress {
  readonly next: number;
  readonly plan?: Plan;
  /**
   * Set if the log has lost records: the raw partition once ended at this offset, although the table had rows of higher offsets. Records that were
   * appended at these offsets since then are not the records from which these rows were made.
   */
  readonly truncatedAt?: number;
  /** The number of the swap (an exchange of all tables) or backup for which the partition is paused. Nothing is inserted until the pause is over. */
  readonly paused?: number;
}

/**
 * Returns ClickHouse's error as it is stored in a plan: at most 300 ASCII characters. With them, the metadata stays below its limit of 2,000 bytes,
 * and every log stores ASCII unchanged.
 */
export function refusalText(error: string): string {
  return error.replace(/[^\x20-\x7e]/g, '?').slice(0, 300);
}

export function encodeProgress({ next, plan, truncatedAt, paused }: Progress): string {
  const truncated = truncatedAt === undefined ? {} : { x: truncatedAt };
  const waiting = paused === undefined ? {} : { p: paused };
  if (plan === undefined) return JSON.stringify({ n: next, ...truncated, ...waiting });
  const { from, to, version, generation, checksum, dead, block } = plan;
  return JSON.stringify({
    f: from,
    t: to,
    c: to - from + 1,
    v: version,
    g: generation,
    s: checksum,
    ...(dead === undefined ? {} : { d: dead }),
    ...(block === undefined ? {} : { b: block }),
    ...truncated,
  });
}

/**
 * Returns `undefined` if nothing was committed yet. A plan without a generation gets generation 0. Throws `TypeError` or `SyntaxError` for
 * text that `encodeProgress` did not write.
 */
export function decodeProgress(metadata: string): Progress | undefined {
  if (metadata === '') return undefined;
  const { n, f, t, c, v, g = 0, s, d, b, x, p } = JSON.parse(metadata) as Record<string, unknown>;
  const truncated = isOffset(x) ? { truncatedAt: x } : {};
  if (isOffset(n)) return { next: n, ...truncated, ...(isOffset(p) ? { paused: p } : {}) };
  const sound = isOffset(f) && isOffset(t) && c === t - f + 1 && isOffset(v) && isOffset(g) && typeof s === 'string';
  if (!sound || (d !== undefined && (typeof d !== 'string' || f !== t))) {
    throw new TypeError(`the writer's commit can't be read: ${metadata.slice(0, 200)}`);
  }
  const optional = { ...(d === undefined ? {} : { dead: d }), ...(isOffset(b) ? { block: b } : {}) };
  return { next: f, plan: { from: f, to: t, version: v, generation: g, checksum: s, ...optional }, ...truncated };
}

/**
 * The deduplication token of an insert (docs/exactly-once.md). It depends only on the raw records and the column list, not on the inserted bytes. So
 * ClickHouse drops a second insert of these records even if one of the two inserts has a dead letter instead of a refused row. A repeat with other
 * bytes is found by its checksum (`assertAsPlanned`). An insert for another generation has the same token, but ClickHouse refuses it because of the
 * fence column (docs/glossary.md).
 */
export function planToken(logId: string, partition: number, { from, to, version }: Plan): string {
  return `records:${logId}:${partition}:${from}-${to}:${version}`;
}

/** Throws `event_log_damaged` if the rows of a repeated plan differ from the rows of its first attempt. */
export function assertAsPlanned(redo: Plan | undefined, plan: Plan, partition: number): void {
  if (redo === undefined || redo.from !== plan.from || samePlan(redo, plan)) return;
  throw new DependencyError(
    'event_log_damaged',
    `partition ${partition}: planned ${JSON.stringify(redo)}, but the log now gives ${JSON.stringify(plan)}`,
  );
}

function samePlan(a: Plan, b: Plan): boolean {
  return a.to === b.to && a.version === b.version && a.checksum === b.checksum && a.dead === b.dead;
}

export function linesChecksum(lines: readonly Uint8Array[]): string {
  const hash = createHash('sha256');
  for (const line of lines) hash.update(line);
  return hash.digest('hex').slice(0, 32);
}

function isOffset(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
