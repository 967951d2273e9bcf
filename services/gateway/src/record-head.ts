import type { IncomingMessage } from 'node:http';
import { cutChars } from '@weir/domain/context';
import type { RawRecordHead, RecordKind } from '@weir/domain/raw-record';

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

/** What only the gateway knows of a record. */
export function recordHead(
  request: IncomingMessage,
  known: {
    readonly eventId: string;
    readonly kind: RecordKind;
    readonly siteId: string;
    readonly receivedAt: number;
    readonly ip: string;
  },
): RawRecordHead {
  const { headers } = request;
  const head: RawRecordHead = {
    eventId: known.eventId,
    kind: known.kind,
    siteId: known.siteId,
    receivedAt: known.receivedAt,
    ip: known.ip,
    userAgent: cutChars(headers['user-agent'] ?? '', USER_AGENT_CHARS_MAX),
    acceptLanguage: cutChars(headers['accept-language'] ?? '', HEADER_CHARS_MAX),
  };
  const clientHints = hintsOf(headers);
  return clientHints === undefined ? head : { ...head, clientHints };
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
