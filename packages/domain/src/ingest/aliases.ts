import type { Json } from '../json/json.ts';

/**
 * Fields that may be sent under several names (docs/api.md: the first name that was sent wins, and
 * `null` and an empty string mean "not sent"). The names themselves stand in the schemas as `x-aliases`.
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

/** Of an ID: one of only white space is missing (docs/api.md, All ingestion endpoints). */
export function sentId(first: Sent, second?: Sent): Sent {
  return sent(isBlank(first) ? undefined : first, isBlank(second) ? undefined : second);
}

export function isBlank(value: Sent): boolean {
  return typeof value === 'string' && /^\s+$/.test(value);
}

/** Of an optional field that isn't a string, whose empty string is a wrong type and not an absence. */
export function sentValue(first: Sent, second?: Sent, third?: Sent, fourth?: Sent): Sent {
  return first ?? second ?? third ?? fourth ?? undefined;
}

/** The name under which the winning value of a field was sent: for messages. */
export function nameAsSent(body: Readonly<Record<string, Sent>>, name: string, aliases: readonly string[]): string {
  const names = [name, ...aliases];
  // An empty string was sent only where nothing else was: as the wrong type of an object.
  return (
    names.find((candidate) => isSent(body[candidate])) ?? names.find((candidate) => body[candidate] === '') ?? name
  );
}
