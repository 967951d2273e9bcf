import { isJsonObject } from '../../domain/src/json/json.ts';
import { TOPIC_RAW as TOPIC } from '../../domain/src/records/topics.ts';
import { parseValue, RecordError } from './record-error.ts';

/** The endpoint that accepted the record. `import`: an access log. `unlink`: the admin API. `dumped`: a row of a dump. */
const KINDS = ['collect', 'event', 'identify', 'import', 'unlink', 'dumped'] as const;
export type RawKind = (typeof KINDS)[number];

/** A record of `events.raw` without the client's address. */
export interface RawEvent {
  /** The event ID, a UUID. */
  readonly eventId: string;
  readonly kind: RawKind;
  readonly siteId: string;
  /** Unix milliseconds. */
  readonly receivedAt: number;
  readonly userAgent?: string;
  readonly acceptLanguage?: string;
  /** The headers `Sec-CH-UA*` that were sent, by lower-case name. */
  readonly clientHints?: Readonly<Record<string, string>>;
  /** The header `Idempotency-Key`, if it was sent. */
  readonly idempotencyKey?: string;
  readonly identityProof?: string;
  /** The body as the caller sent it: field names can be aliases. Whole numbers above 2^53 are rounded, as by JSON.parse. */
  readonly body: Readonly<Record<string, unknown>>;
}

// Only known fields are copied. A later version of Weir may add a field that contains an address; this code does not return it.
const TEXTS = ['userAgent', 'acceptLanguage', 'idempotencyKey', 'identityProof'] as const;

/**
 * Decodes a record of `events.raw`, or throws a `RecordError`. The result never contains the client's address. In a record, the envelope contains
 * the address encrypted. A record of an early version of Weir contains it in plain text: in `ip` of the envelope, or in `ip` or `context.ip` of
 * the body.
 */
export function decodeRaw(value: Uint8Array | null): RawEvent {
  const record = parseValue(TOPIC, value);
  if (!isJsonObject(record)) throw new RecordError('damaged', `${TOPIC}: the value is not an object`);
  const { eventId, kind, siteId, receivedAt, clientHints, body } = record;
  if (typeof eventId !== 'string') throw missing('eventId');
  if (typeof siteId !== 'string') throw missing('siteId');
  if (typeof receivedAt !== 'number') throw missing('receivedAt');
  if (typeof kind !== 'string') throw missing('kind');
  if (!isJsonObject(body)) throw missing('body');
  if (!isKnownKind(kind)) {
    throw new RecordError(
      'unknown_version',
      `${TOPIC}: this version of @weir/records does not have the record's kind: install a newer version`,
    );
  }
  const texts = TEXTS.flatMap((name) => (typeof record[name] === 'string' ? [[name, record[name]]] : []));
  return {
    ...{ eventId, kind, siteId, receivedAt },
    ...Object.fromEntries(texts),
    ...(isJsonObject(clientHints) ? { clientHints: clientHints as Readonly<Record<string, string>> } : {}),
    body: withoutAddress(body),
  };
}

function withoutAddress({ ip: _, ...body }: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (!isJsonObject(body.context)) return body;
  const { ip: __, ...context } = body.context;
  return { ...body, context };
}

function isKnownKind(kind: string): kind is RawKind {
  return (KINDS as readonly string[]).includes(kind);
}

function missing(field: string): RecordError {
  return new RecordError('damaged', `${TOPIC}: ${field} is missing or has a wrong type`);
}
