import type { IncomingMessage, ServerResponse } from 'node:http';

/** A route's handler. A rejection is a bug: Express hands it to the last middleware. */
export type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

const JSON_CONTENT = /^application\/json[ \t]*(;|$)/i;
export const CONTENT_TYPE_MESSAGE = 'Content-Type must be application/json';

export function isJsonContent(request: IncomingMessage): boolean {
  const type = request.headers['content-type'];
  return type === 'application/json' || (type !== undefined && JSON_CONTENT.test(type));
}
