import type { Json } from '../json/json.ts';

/**
 * A value as it was sent. Fields can be sent under several names (docs/api.md: the first name that was sent counts, and
 * `null` and an empty string mean "not sent"). The names are in the schemas, as `x-aliases`.
 */
type Sent = Json | undefined;

export function isSent(value: Sent): boolean {
  return value !== undefined && value !== null && value !== '';
}

export function sent(first: Sent, second?: Sent, third?: Sent): Sent {
  if (isSent(first)) return first;
  if (isSent(second)) return second;
  return isSent(third) ? third : undefined;
}

/** The value of a name or an ID. A value that consists only of white space counts as not sent (docs/api.md, All ingestion endpoints). */
export function sentId(first: Sent, second?: Sent, third?: Sent): Sent {
  return sent(
    isBlank(first) ? undefined : first,
    isBlank(second) ? undefined : second,
    isBlank(third) ? undefined : third,
  );
}

export function isBlank(value: Sent): boolean {
  return typeof value === 'string' && /^\s+$/.test(value);
}

/**
 * Returns the first value that is not null or undefined, for fields in which an empty string counts as sent. For a field whose type is
 * not string, the check of the type then refuses the empty string.
 */
export function sentValue(first: Sent, second?: Sent, third?: Sent, fourth?: Sent): Sent {
  return first ?? second ?? third ?? fourth ?? undefined;
}

/** The fields that `sentId` reads. */
const SKIPS_BLANK: ReadonlySet<string> = new Set(['name', 'visitor_id', 'user_id']);

/** The name under which the value of a field was sent, for error messages. */
export function nameAsSent(body: Readonly<Record<string, Sent>>, name: string, aliases: readonly string[]): string {
  const names = [name, ...aliases];
  // If no name has a value, the field was sent as an empty string (a wrong type for this field), or was not sent.
  return (
    names.find((candidate) => isSent(body[candidate]) && !(SKIPS_BLANK.has(name) && isBlank(body[candidate]))) ??
    names.find((candidate) => body[candidate] === '') ??
    name
  );
}
