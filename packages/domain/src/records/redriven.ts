import { isJsonObject, parseJson } from '../json/json.ts';
import { utcDay } from '../people/cookieless.ts';
import { BODY_KEY, recordText } from './body-text.ts';

/**
 * Where a redriven record comes from. Redriving a dead letter appends a second raw record with the same content, to the same partition.
 * `log`, `partition` and `offset` are the position of the first raw record of the dead letter (docs/decisions/0041).
 */
export interface Redriven {
  readonly log: string;
  readonly partition: number;
  readonly offset: number;
  /** 1 for the first redrive of the dead letter. Of two records with the same position and attempt, the second one is a duplicate. */
  readonly attempt: number;
  /** When the record was redriven, in Unix milliseconds. The client IP of the second record is encrypted with the key of this day. */
  readonly at: number;
  /** The visitor ID of a cookieless hit: the salt from which it is computed can be deleted before the redriven record is replayed. */
  readonly visitorId?: string;
}

/**
 * Encodes the redriven record of a raw record. The text of the body is not changed. Returns undefined if the bytes are not a JSON object
 * with an envelope and a body.
 */
export function redrivenRecord(raw: Uint8Array, sealedIp: string, redriven: Redriven): Buffer | undefined {
  const text = recordText(raw);
  const bodyAt = text.indexOf(BODY_KEY);
  if (bodyAt < 0 || parseJson(text) === undefined) return undefined;
  const envelope = parseJson(`${text.slice(0, bodyAt)}}`);
  if (!isJsonObject(envelope)) return undefined;
  const { ip: _, ...kept } = envelope;
  const head = JSON.stringify({ ...kept, sealedIp, redriven });
  return Buffer.from(`${head.slice(0, -1)}${text.slice(bodyAt)}`);
}

/** Whether the field `redriven` of a raw record is valid. */
export function isRedriven(value: unknown): value is Redriven {
  const { log, partition, offset, attempt, at, visitorId = '' } = (value ?? {}) as Partial<Record<string, unknown>>;
  const counts = [partition, offset, attempt, at].every((count) => Number.isSafeInteger(count) && Number(count) >= 0);
  return typeof log === 'string' && /^[\w-]{1,36}$/.test(log) && counts && typeof visitorId === 'string';
}

/** Returns the field `redriven` of a raw record; undefined if the record has no such field, or is damaged. */
export function redrivenOf(raw: Uint8Array): Redriven | undefined {
  const { redriven } = (parseJson(recordText(raw)) ?? {}) as { redriven?: unknown };
  return isRedriven(redriven) ? redriven : undefined;
}

/** The UTC day with whose key the client IP of a record is encrypted. */
export function sealedDay(record: { readonly receivedAt: number; readonly redriven?: Redriven | undefined }): string {
  return utcDay(record.redriven?.at ?? record.receivedAt);
}

// The column `detail` of each outcome of a redriven record ends with the field `redriven`. ClickHouse fills `dead_letter_attempts` from it.
const MARK = /,?"redriven":(\{"log":"[\w-]{1,36}","partition":\d+,"offset":\d+,"attempt":\d+,"at":\d+\})\}$/;

/** Adds `redriven`, without the visitor ID, to the column `detail`. The column contains the JSON text of an object, or an empty text. */
export function withRedriven(detail: string, redriven: Redriven | undefined): string {
  if (redriven === undefined) return detail;
  const { log, partition, offset, attempt, at } = redriven;
  const mark = `"redriven":${JSON.stringify({ log, partition, offset, attempt, at })}}`;
  return detail === '' ? `{${mark}` : `${detail.slice(0, -1)},${mark}`;
}

/** Removes what `withRedriven` has added. */
export function withoutRedriven(detail: string): string {
  const rest = detail.replace(MARK, '}');
  return rest === '{}' ? '' : rest;
}

/** Returns what `withRedriven` has added to a column `detail`; undefined if it has added nothing. */
export function redrivenOfDetail(detail: string): Redriven | undefined {
  const [, mark] = MARK.exec(detail) ?? [];
  return mark === undefined ? undefined : (JSON.parse(mark) as Redriven);
}
