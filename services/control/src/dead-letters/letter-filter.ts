import type { Condition } from '../audit/rows-above.ts';
import type { Checked } from '../http/compile-body.ts';
import { readRecentTime } from '../http/recent-time.ts';

/** Selects the dead letters that match all fields that are set. */
export interface LetterFilter {
  readonly site?: string;
  readonly stage?: string;
  readonly reason?: string;
  /** A text that the error contains, in any letter case. */
  readonly error?: string;
  /** A duration before now (`2h`) or an ISO 8601 time. */
  readonly since?: string;
  readonly until?: string;
}

export const LETTER_FILTERS = ['site', 'stage', 'reason', 'error', 'since', 'until'] as const;

/** The position in `events.raw` of the record that became a dead letter. It stays the same when the letter is redriven (docs/glossary.md). */
export interface LetterPlace {
  readonly log: string;
  readonly partition: number;
  readonly offset: number;
}

export const LETTER_ID_PATTERN = '^[A-Za-z0-9_-]{1,36}\\.[0-9]{1,5}\\.[0-9]{1,15}$';
const LETTER_ID = new RegExp(LETTER_ID_PATTERN);

export function letterId({ log, partition, offset }: LetterPlace): string {
  return `${log}.${partition}.${offset}`;
}

export function readLetterId(text: string): LetterPlace | undefined {
  if (!LETTER_ID.test(text)) return undefined;
  const [log = '', partition, offset] = text.split('.');
  return { log, partition: Number(partition), offset: Number(offset) };
}

/** Selects the dead letters that were not redriven, or whose redriven record became a dead letter again. */
export const OPEN_LETTER = 'redriven_at IS NULL';

/** Selects the rows `dead` of `dead_letter_attempts` whose record was redriven. `letters` can begin with a database. */
export function redrivenAttempt(letters = 'dead_letters'): string {
  return `outcome = 'dead' AND (log_id, raw_partition, by_offset) NOT IN (
    SELECT log_id, raw_partition, failed_offset FROM ${letters} WHERE ${OPEN_LETTER})`;
}

/** Returns a condition on rows of the view `dead_letters`. */
export function letterCondition(filter: LetterFilter, nowMs: number): Checked<Condition> {
  const { site, stage, reason, error, since, until } = filter;
  const sinceMs = since === undefined ? { value: 0 } : readRecentTime('since', since, nowMs);
  if ('problem' in sinceMs) return sinceMs;
  const untilMs = until === undefined ? { value: 0 } : readRecentTime('until', until, nowMs);
  if ('problem' in untilMs) return untilMs;
  const conditions = [
    OPEN_LETTER,
    ...(site === undefined ? [] : ['site_id = {site:String}']),
    ...(stage === undefined ? [] : ['stage = {stage:String}']),
    ...(reason === undefined ? [] : ['reason = {reason:String}']),
    ...(error === undefined ? [] : ['positionCaseInsensitiveUTF8(error, {error:String}) > 0']),
    ...(since === undefined ? [] : ['failed_at >= fromUnixTimestamp64Milli({since:Int64})']),
    ...(until === undefined ? [] : ['failed_at < fromUnixTimestamp64Milli({until:Int64})']),
  ];
  const given = { site, stage, reason, error, since: sinceMs.value, until: untilMs.value };
  const params = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  return { value: { sql: conditions.join(' AND '), params } };
}

export function placesCondition(places: readonly LetterPlace[]): Condition {
  const tuples = places.map(({ log, partition, offset }) => `('${log}', ${partition}, ${offset})`);
  return { sql: `(log_id, raw_partition, raw_offset) IN (${tuples.join(', ')})`, params: {} };
}
