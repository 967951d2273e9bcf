import type { ServerResponse } from 'node:http';
import type { RateLimit } from '@weir/ports/rate-limiter';

export type Endpoint = 'events' | 'identify' | 'collect' | 'other';

/** How many answers of each status an endpoint gave: counted here, because every answer goes through here. */
export type CountReply = (status: number) => void;

/** An endpoint's way of answering: its error bodies and the headers that every answer carries (api.md 7). */
export interface Replies {
  /** A limit that was exceeded, by a part of the request, says when that part can be sent again. */
  json(response: ServerResponse, status: number, body: string, limit?: RateLimit): void;
  empty(response: ServerResponse, status: number, headers?: readonly string[]): void;
  error(response: ServerResponse, status: number, message: string, headers?: readonly string[]): void;
  /** 429: no body on any endpoint (api.md 7.3). */
  limited(response: ServerResponse, limit: RateLimit): void;
  /** 503: the event log can't take the record now. */
  unavailable(response: ServerResponse): void;
}

const RETRY_AFTER_SECONDS = 1;
const JSON_TYPE = 'application/json; charset=utf-8';
export const CORS_HEADERS: readonly string[] = ['Access-Control-Allow-Origin', '*'];

export function createReplies(endpoint: Endpoint, count: CountReply): Replies {
  const common: readonly string[] = endpoint === 'collect' ? CORS_HEADERS : [];

  /** Scripts of other origins may read it only when told so. */
  const retryAfter = (seconds: number): string[] =>
    endpoint === 'collect'
      ? ['Retry-After', String(seconds), 'Access-Control-Expose-Headers', 'Retry-After']
      : ['Retry-After', String(seconds)];

  // The server answers a request whose body breaks off while its route is still at work.
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
    response.end(body);
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
      const wait = limit === undefined || limit.allowed ? [] : retryAfter(limit.resetSeconds);
      json(response, status, body, limit === undefined ? [] : [...limitHeaders(limit), ...wait]);
    },
    empty,
    error,
    limited(response, limit) {
      const headers = retryAfter(limit.resetSeconds);
      empty(response, 429, endpoint === 'collect' ? headers : [...headers, ...limitHeaders(limit)]);
    },
    unavailable(response) {
      error(response, 503, 'the event log cannot take the record now; send it again', retryAfter(RETRY_AFTER_SECONDS));
    },
  };
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
