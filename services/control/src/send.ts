import { isDependencyError } from '@weir/domain/errors';
import type { Response } from 'express';
import { invalid, type Reply, unavailable } from './reply.ts';

const MESSAGE_CHARS_MAX = 500;

export function sendReply(response: Response, reply: Reply): void {
  if ('data' in reply) {
    response.status(reply.status).json({ status: 'success', data: reply.data });
    return;
  }
  if (reply.retryAfterSeconds !== undefined) response.set('Retry-After', String(reply.retryAfterSeconds));
  sendError(response, reply.status, reply.message);
}

export function sendError(response: Response, code: number, message: string): void {
  response.status(code).json({ status: 'error', error: { code, message } });
}

/** A broken dependency as an answer; `undefined` for anything that is a bug of ours. */
export function replyOfError(error: unknown): Reply | undefined {
  if (isDependencyError(error, 'analytics_refused')) return invalid(shorten(error.message));
  if (isDependencyError(error)) return unavailable(shorten(error.message));
  return undefined;
}

/** ClickHouse's messages end in its version and may repeat the whole query. */
function shorten(message: string): string {
  const text = message.replace(/\s*\(version [^)]*(?:\([^)]*\))?\)\s*$/, '').replace(/\s+/g, ' ');
  return text.length <= MESSAGE_CHARS_MAX ? text : `${text.slice(0, MESSAGE_CHARS_MAX)}…`;
}
