import type { ServerResponse } from 'node:http';
import type { DiskSpace } from '@weir/ports/disk-space';
import type { RateLimit } from '@weir/ports/rate-limiter';
import { ALLOW_ORIGIN, EXPOSE_RETRY_AFTER, rawHeaders } from './cors.ts';

export type Endpoint = 'events' | 'identify' | 'collect' | 'other';

export type CountReply = (status: number) => void;

/** Sends the answers of one endpoint, with the shape of its error bodies and with its headers (docs/api.md, Answers). */
export interface Replies {
  json(response: ServerResponse, status: number, body: string, limit?: RateLimit): void;
  empty(response: ServerResponse, status: number, headers?: readonly string[]): void;
  error(response: ServerResponse, status: number, message: string, headers?: readonly string[]): void;
  /** Answers 429 without a body, on every endpoint (docs/api.md, Answers). */
  limited(response: ServerResponse, limit: RateLimit): void;
  /** Answers 503, because the event log cannot accept the record now. */
  unavailable(response: ServerResponse): void;
}

const RETRY_AFTER_SECONDS = 1;
const JSON_TYPE = 'application/json; charset=utf-8';

const DISK_FULL = 'the disk is nearly full and takes no record now; send it again';
export const UNAVAILABLE = 'the event log cannot take the record now; send it again';

/** If `disk` reports a shortage of space, the text of `unavailable` says that the disk is nearly full. */
export function createReplies(endpoint: Endpoint, count: CountReply, disk?: DiskSpace): Replies {
  const common: readonly string[] = endpoint === 'collect' ? rawHeaders(ALLOW_ORIGIN) : [];

  const exposed: readonly string[] = endpoint === 'collect' ? rawHeaders(EXPOSE_RETRY_AFTER) : [];
  const retryAfter = (seconds: number): string[] => ['Retry-After', String(seconds), ...exposed];

  // `headersSent` is true if the client has ended the connection before the end of the body: refused-requests.ts has then answered already,
  // although the route is still working.
  const json = (response: ServerResponse, status: number, body: string, headers: readonly string[]): void => {
    if (response.headersSent) return;
    count(status);
    response.writeHead(status, [
      'Content-Type',
      JSON_TYPE,
      'Content-Length',
      String(Buffer.byteLength(body)),
      ...headers,
    ]);
    sendWhole(response, body);
  };

  const empty = (response: ServerResponse, status: number, headers: readonly string[] = []): void => {
    if (response.headersSent) return;
    count(status);
    const length = status === 204 ? [] : ['Content-Length', '0'];
    response.writeHead(status, [...length, ...common, ...headers]);
    response.end();
  };

  const error = (response: ServerResponse, status: number, message: string, headers: readonly string[] = []): void => {
    if (endpoint === 'collect') {
      empty(response, status, headers);
      return;
    }
    const body = endpoint === 'identify' ? { error: message } : { status: 'error', error: { code: status, message } };
    json(response, status, JSON.stringify(body), headers);
  };

  return {
    json(response, status, body, limit) {
      json(response, status, body, limit === undefined ? [] : limitHeaders(limit));
    },
    empty,
    error,
    limited(response, limit) {
      const headers = retryAfter(limit.resetSeconds);
      empty(response, 429, endpoint === 'collect' ? headers : [...headers, ...limitHeaders(limit)]);
    },
    unavailable(response) {
      error(response, 503, disk?.shortage() === undefined ? UNAVAILABLE : DISK_FULL, retryAfter(RETRY_AFTER_SECONDS));
    },
  };
}

/**
 * Sends the head and the body in one write. `response.end(body)` would add an empty chunk, and two chunks need `writev`, which costs more
 * than `write`.
 */
function sendWhole(response: ServerResponse, body: string): void {
  const { socket } = response;
  // The response to a pipelined request has no socket until all earlier requests are answered. Node then collects the chunks itself.
  if (socket === null || socket.writableCorked > 0) {
    response.end(body);
    return;
  }
  socket.cork();
  response.write(body);
  socket.uncork();
  response.end();
}

function limitHeaders(limit: RateLimit): string[] {
  return [
    'RateLimit-Limit',
    String(limit.limit),
    'RateLimit-Remaining',
    String(limit.remaining),
    'RateLimit-Reset',
    String(limit.resetSeconds),
  ];
}
