import { isUtf8 } from 'node:buffer';
import type { Request, RequestHandler, Router } from 'express';
import express from 'express';
import type { Reply } from './reply.ts';
import { replyOfError, sendError, sendReply } from './send.ts';

export type Method = 'get' | 'post' | 'patch' | 'delete';
export type Handler = (request: Request) => Promise<Reply> | Reply;

const BODY_BYTES_MAX = 1024 * 1024;

/** A path with a handler for each method; any other method is 405 with `Allow` (decisions.md). */
export function defineRoute(
  router: Router,
  path: string,
  handlers: Partial<Record<Method, Handler>>,
  bodyBytesMax = BODY_BYTES_MAX,
): void {
  const route = router.route(path);
  const methods = Object.keys(handlers) as Method[];
  for (const method of methods) {
    const handler = handlers[method];
    if (handler === undefined) continue;
    if (method === 'post' || method === 'patch') route[method](readJsonObject(bodyBytesMax), answer(handler));
    else route[method](answer(handler));
  }
  route.all(only(methods));
}

/** A path that exists, asked with another method. */
export function only(methods: readonly Method[]): RequestHandler {
  const allow = methods.map((method) => method.toUpperCase()).join(', ');
  return (request, response) => {
    response.set('Allow', methods.includes('get') ? `${allow}, HEAD` : allow);
    sendError(response, 405, `${request.method} is not allowed here; allowed: ${allow}`);
  };
}

function answer(handler: Handler): RequestHandler {
  return async (request, response) => {
    try {
      sendReply(response, await handler(request));
    } catch (error) {
      const reply = replyOfError(error);
      if (reply === undefined) throw error;
      sendReply(response, reply);
    }
  };
}

/** Any Content-Type: signing in by header alone keeps other origins out. */
function readJsonObject(bodyBytesMax: number): RequestHandler[] {
  return [
    express.json({ limit: bodyBytesMax, type: () => true, verify: requireUtf8 }),
    (request, response, next) => {
      const body: unknown = request.body ?? {};
      if (typeof body !== 'object' || body === null || Array.isArray(body)) {
        sendError(response, 400, 'the body must be a JSON object');
        return;
      }
      request.body = body;
      next();
    },
  ];
}

/** Otherwise a byte that is none is replaced without a word. */
function requireUtf8(_request: unknown, _response: unknown, body: Buffer): void {
  if (!isUtf8(body)) throw Object.assign(new Error('invalid UTF-8'), { status: 400 });
}

/** A path parameter of a route that has it. */
export function param(request: Request, name: string): string {
  const value = request.params[name];
  return typeof value === 'string' ? value : '';
}
