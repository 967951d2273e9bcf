import type { Condition } from '../audit/rows-above.ts';
import { formatTime } from '../format-time.ts';
import type { ReadableTables } from '../steady-tables.ts';
import { hideSecrets } from './hide-secrets.ts';
import { type LetterPlace, letterId } from './letter-filter.ts';

/** A dead letter, as the tables have it. */
export interface StoredLetter extends LetterPlace {
  readonly siteId: string;
  readonly topic: string;
  readonly stage: string;
  readonly reason: string;
  readonly error: string;
  /** Unix milliseconds. */
  readonly failedAt: number;
  readonly redrivenAt: number | undefined;
  /** How often the dead letter was redriven (docs/glossary.md). */
  readonly attempts: number;
}

interface LetterRow {
  readonly log_id: string;
  readonly raw_partition: number | string;
  readonly raw_offset: number | string;
  readonly site_id: string;
  readonly topic: string;
  readonly stage: string;
  readonly reason: string;
  readonly error: string;
  readonly failed: number | string;
  readonly redriven: number | string | null;
  readonly attempts: number | string;
}

const COLUMNS = `log_id, raw_partition, raw_offset, site_id, topic, stage, reason, error, attempts,
  toUnixTimestamp64Milli(failed_at) AS failed, toUnixTimestamp64Milli(redriven_at) AS redriven`;
const PLACE = '(log_id, raw_partition, raw_offset)';

/** Reads a page of dead letters, ordered by their positions, after the position `after`. */
export async function readLetters(
  { select }: Pick<ReadableTables, 'select'>,
  { sql, params }: Condition,
  { after, limit }: { readonly after: LetterPlace | undefined; readonly limit: number },
): Promise<readonly StoredLetter[]> {
  const { log = '', partition = 0, offset = 0 } = after ?? {};
  const later = after === undefined ? '1' : `${PLACE} > ({log:String}, {partition:UInt32}, {offset:UInt64})`;
  const rows = await select<LetterRow>(
    `SELECT ${COLUMNS} FROM dead_letters WHERE ${sql} AND ${later} ORDER BY log_id, raw_partition, raw_offset LIMIT {limit:UInt32}`,
    { ...params, log, partition, offset, limit },
  );
  return rows.map((row) => ({
    log: row.log_id,
    partition: Number(row.raw_partition),
    offset: Number(row.raw_offset),
    siteId: row.site_id,
    topic: row.topic,
    stage: row.stage,
    reason: row.reason,
    error: row.error,
    failedAt: Number(row.failed),
    redrivenAt: row.redriven === null ? undefined : Number(row.redriven),
    attempts: Number(row.attempts),
  }));
}

export async function countLetters(
  { select }: Pick<ReadableTables, 'select'>,
  { sql, params }: Condition,
): Promise<number> {
  const [row] = await select<{ letters: number | string }>(
    `SELECT count() AS letters FROM dead_letters WHERE ${sql}`,
    params,
  );
  return Number(row?.letters ?? 0);
}

export async function readPayload(
  { select }: Pick<ReadableTables, 'select'>,
  { sql, params }: Condition,
): Promise<string> {
  const [row] = await select<{ payload: string }>(`SELECT payload FROM dead_letters WHERE ${sql}`, params);
  return row?.payload ?? '';
}

/** The outcome of one attempt to redrive a dead letter. */
export interface AttemptOutcome {
  readonly outcome: string;
  readonly reason: string;
  readonly error: string;
}

/** Reads the outcomes of attempts. The key of the map is the ID of the dead letter. The map has no entry for an attempt without an outcome. */
export async function readOutcomes(
  { select }: Pick<ReadableTables, 'select'>,
  attempts: readonly (LetterPlace & { readonly attempt: number })[],
): Promise<ReadonlyMap<string, AttemptOutcome>> {
  if (attempts.length === 0) return new Map();
  const tuples = attempts.map(
    ({ log, partition, offset, attempt }) => `('${log}', ${partition}, ${offset}, ${attempt})`,
  );
  const rows = await select<Omit<LetterRow, 'outcome'> & { readonly first: readonly [string, string, string] }>(
    `SELECT log_id, raw_partition, raw_offset, argMin((toString(outcome), toString(reason), error), by_offset) AS first
     FROM dead_letter_attempts WHERE (log_id, raw_partition, raw_offset, attempt) IN (${tuples.join(', ')})
     GROUP BY log_id, raw_partition, raw_offset`,
  );
  return new Map(
    rows.map(({ log_id: log, raw_partition, raw_offset, first: [outcome, reason, error] }) => [
      letterId({ log, partition: Number(raw_partition), offset: Number(raw_offset) }),
      { outcome, reason, error },
    ]),
  );
}

export function letterView(letter: StoredLetter) {
  return {
    letter_id: letterId(letter),
    site_id: letter.siteId,
    stage: letter.stage,
    reason: letter.reason,
    error: hideSecrets(letter.error),
    failed_at: formatTime(letter.failedAt),
    attempts: letter.attempts,
    log_id: letter.log,
    partition: letter.partition,
    offset: letter.offset,
    redriven_at: letter.redrivenAt === undefined ? null : formatTime(letter.redrivenAt),
  };
}
