import { isDependencyError } from '@weir/domain/errors';
import type { Response } from 'express';

/** The answer of a route. It is sent in the response envelope that docs/api.md (Admin API) describes. */
export type Reply =
  | { readonly status: 200 | 201 | 202; readonly data: unknown; readonly headers?: ReplyHeaders }
  | {
      readonly status: 400 | 401 | 403 | 404 | 409 | 429 | 503;
      readonly message: string;
      readonly retryAfterSeconds?: number;
    };

type ReplyHeaders = Readonly<Record<string, string | readonly string[]>>;

export const ok = (data: unknown): Reply => ({ status: 200, data });
export const created = (data: unknown): Reply => ({ status: 201, data });
/** Status 202: the work continues after the answer. */
export const accepted = (data: unknown): Reply => ({ status: 202, data });
export const invalid = (message: string): Reply => ({ status: 400, message });
export const forbidden = (message: string): Reply => ({ status: 403, message });
export const notFound = (what: string): Reply => ({ status: 404, message: `${what} not found` });
export const conflict = (message: string): Reply => ({ status: 409, message });
/** Status 409 because the site already has the maximum number of `things`. */
export const fullSite = (max: number, things: string): Reply =>
  conflict(`the site has ${max} ${things}, the most there can be`);
/** Status 409 for a conflict that ends by itself. The answer has the header Retry-After, because the caller should try again. */
export const busy = (message: string): Reply => ({ status: 409, message, retryAfterSeconds: 1 });
export const unavailable = (message: string, retryAfterSeconds = 1): Reply => ({
  status: 503,
  message,
  retryAfterSeconds,
});

export function isReply(value: object): value is Reply {
  return 'status' in value && ('data' in value || 'message' in value);
}

export function sendReply(response: Response, reply: Reply): void {
  if ('data' in reply) {
    for (const [name, value] of Object.entries(reply.headers ?? {})) response.setHeader(name, value);
    response.status(reply.status).json({ status: 'success', data: reply.data });
    return;
  }
  if (reply.retryAfterSeconds !== undefined) response.set('Retry-After', String(reply.retryAfterSeconds));
  sendError(response, reply.status, reply.message);
}

export function sendError(response: Response, code: number, message: string): void {
  response.status(code).json({ status: 'error', error: { code, message } });
}

/** Returns the reply for the error of a dependency. Returns undefined for any other error, which is a bug. */
export function replyOfError(error: unknown): Reply | undefined {
  if (isDependencyError(error, 'analytics_refused')) return invalid(shorten(error.message));
  if (isDependencyError(error)) return unavailable(shorten(error.message));
  return undefined;
}

const MESSAGE_CHARS_MAX = 500;

const VERSION = /^\(version [^)]*(?:\([^)]*\))?\)\s*$/;
const VERSION_CHARS_MAX = 100;

/**
 * The regular expression gets only the end of the message: its time grows with the square of the length, and a message can quote a long query.
 */
function withoutVersion(message: string): string {
  const at = message.lastIndexOf('(version ');
  const isVersion = at >= 0 && message.length - at <= VERSION_CHARS_MAX && VERSION.test(message.slice(at));
  return isVersion ? message.slice(0, at) : message;
}

/** Removes the server version from ClickHouse's messages. Cuts long ones, which can contain the whole query. */
function shorten(message: string): string {
  const text = withoutVersion(message).replace(/\s+/g, ' ').trimEnd();
  return text.length <= MESSAGE_CHARS_MAX ? text : `${text.slice(0, MESSAGE_CHARS_MAX)}…`;
}
