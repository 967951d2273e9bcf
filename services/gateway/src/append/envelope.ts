import type { IncomingMessage } from 'node:http';
import { cutChars } from '@weir/domain/ingest/context';
import type { RawRecordHead, RecordKind } from '@weir/domain/records/raw-record';

const USER_AGENT_CHARS_MAX = 1024;
const HEADER_CHARS_MAX = 255;
const CLIENT_HINTS = [
  'sec-ch-ua',
  'sec-ch-ua-mobile',
  'sec-ch-ua-platform',
  'sec-ch-ua-platform-version',
  'sec-ch-ua-model',
  'sec-ch-ua-full-version-list',
  'sec-ch-ua-form-factors',
] as const;

/** Builds the envelope of a raw record: the fields that the gateway adds to the body of the request. */
export function buildEnvelope(
  request: IncomingMessage,
  known: {
    readonly eventId: string;
    readonly kind: RecordKind;
    readonly siteId: string;
    readonly receivedAt: number;
    readonly sealedIp: string;
    /** The value of the header `Idempotency-Key`; empty if not sent. */
    readonly idempotencyKey?: string;
  },
): RawRecordHead {
  const { headers } = request;
  const head: RawRecordHead = {
    eventId: known.eventId,
    kind: known.kind,
    siteId: known.siteId,
    receivedAt: known.receivedAt,
    sealedIp: known.sealedIp,
    userAgent: cutChars(headers['user-agent'] ?? '', USER_AGENT_CHARS_MAX),
    acceptLanguage: cutChars(headers['accept-language'] ?? '', HEADER_CHARS_MAX),
  };
  const clientHints = hintsOf(headers);
  if (clientHints === undefined && !known.idempotencyKey) return head;
  return {
    ...head,
    ...(clientHints === undefined ? {} : { clientHints }),
    ...(known.idempotencyKey ? { idempotencyKey: known.idempotencyKey } : {}),
  };
}

function hintsOf(headers: IncomingMessage['headers']): Record<string, string> | undefined {
  let hints: Record<string, string> | undefined;
  for (const name of CLIENT_HINTS) {
    const value = headers[name];
    if (typeof value !== 'string') continue;
    hints ??= {};
    hints[name] = cutChars(value, HEADER_CHARS_MAX);
  }
  return hints;
}
