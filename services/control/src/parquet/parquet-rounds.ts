import { text } from 'node:stream/consumers';
import { DependencyError } from '@weir/domain/errors';
import type { ObjectStore } from '@weir/ports/object-store';

/** For a log and partition, the highest raw offset that the tables had at the start of a round, plus 1. */
export interface ParquetEnd {
  readonly logId: string;
  readonly partition: number;
  readonly end: number;
  /**
   * The last exported day of this log and partition, if this is not the last day of the round (`ParquetRound.through`). Such a day exists if the
   * tables had no row of the log and partition when the round began. The round then exports none of their rows, and keeps the limits of the round
   * before. If a restore brings such rows back, a later round exports the rest.
   */
  readonly through?: string;
  /**
   * When the record with the raw offset `end` - 1 was received (Unix milliseconds). If the tables have another time there, a restore of an older
   * backup has replaced records of the log, so the files of the round can have rows that the tables do not have. Absent in rounds of versions before
   * this field, and if the tables did not have the record.
   */
  readonly lastAt?: number;
}

/**
 * The state of one round of the export, which is an object in the archive. A part is the file of one site, day and round. When a round is done, it
 * and the earlier rounds have exported all rows with a day up to `through` and a raw offset (docs/glossary.md) below the end of their log and
 * partition. A round exports only rows that no earlier round has exported, so no row is in two files. Rows without a site are in no file.
 */
export interface ParquetRound {
  readonly round: number;
  /** The last day that the round exports (UTC, YYYY-MM-DD). */
  readonly through: string;
  readonly ends: readonly ParquetEnd[];
  /** The name of the last stored part. Empty if no part is stored yet. */
  readonly after: string;
  readonly done: boolean;
}

/** The round before the first one: it has exported no row. */
const NOTHING: ParquetRound = { round: 0, through: '1970-01-01', ends: [], after: '', done: true };

export interface ParquetPart {
  readonly site: string;
  readonly day: string;
  readonly round: number;
}

const ROUNDS = 'parquet-rounds/';
export const PARTS = 'parquet/';
const ROUND_DIGITS = 8;
const PART = /^parquet\/site=([A-Za-z0-9_-]{1,64})\/day=(\d{4}-\d\d-\d\d)\/(\d{8})\.parquet$/;

const digits = (round: number): string => String(round).padStart(ROUND_DIGITS, '0');

export function partName({ site, day, round }: ParquetPart): string {
  return `${PARTS}site=${site}/day=${day}/${digits(round)}.parquet`;
}

/** Parses the name of a part. Undefined if it is the name of another object. */
export function parsePartName(name: string): ParquetPart | undefined {
  const [, site = '', day = '', round] = PART.exec(name) ?? [];
  return round === undefined ? undefined : { site, day, round: Number(round) };
}

/** Returns the logs and partitions of which a round exports rows: those whose limits are not the same as in the round before. */
export function grownIn(before: ParquetRound, round: ParquetRound): readonly ParquetEnd[] {
  const limitOf = (of: ParquetRound, end: ParquetEnd): string => `${end.end} ${end.through ?? of.through}`;
  const former = new Map(before.ends.map((end) => [endKey(end), limitOf(before, end)]));
  return round.ends.filter((end) => former.get(endKey(end)) !== limitOf(round, end));
}

/** Returns the logs of which a round exports rows. */
export function logsOfRound(before: ParquetRound, round: ParquetRound): readonly string[] {
  return [...new Set(grownIn(before, round).map(({ logId }) => logId))];
}

export const endKey = ({ logId, partition }: Pick<ParquetEnd, 'logId' | 'partition'>): string =>
  `${logId} ${partition}`;

export function putRound(store: ObjectStore, round: ParquetRound): Promise<void> {
  return store.put(`${ROUNDS}${digits(round.round)}.json`, Buffer.from(`${JSON.stringify(round)}\n`));
}

/** Returns the number of the last round. 0 if there is no round yet. */
export async function lastRound(store: ObjectStore): Promise<number> {
  let last = 0;
  for await (const { name } of store.list(ROUNDS)) last = Number(name.slice(ROUNDS.length).replace('.json', ''));
  return last;
}

export async function readRound(store: ObjectStore, round: number): Promise<ParquetRound> {
  if (round === 0) return NOTHING;
  const name = `${ROUNDS}${digits(round)}.json`;
  const found = await store.get(name);
  if (found === undefined) throw new DependencyError('object_store_damaged', `the archive does not have ${name}`);
  const content = await text(found);
  try {
    return JSON.parse(content) as ParquetRound;
  } catch (cause) {
    throw new DependencyError('object_store_damaged', `${name} of the archive cannot be read`, { cause });
  }
}
