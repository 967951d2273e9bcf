import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { isDependencyError } from '@weir/domain/errors';
import { isJsonObject } from '@weir/domain/json/json';
import { isDeeper } from '@weir/domain/json/nesting';
import type { Site } from '@weir/domain/registry/site';
import { SUPPORTED_ENCODINGS, UNSUPPORTED_ENCODING } from '@weir/runtime/http/content-encodings';
import type { Schema } from '@weir/runtime/http/openapi';
import { allowedMethods, expressPath, routesByPath, type TableRoute } from '@weir/runtime/http/route-table';
import express, { type Request, type RequestHandler, type Router } from 'express';
import type { AdminDeps } from '../control-deps.ts';
import type { AdminOperation } from '../openapi/admin-operations.ts';
import type { Answered } from '../reports/report-queue.ts';
import { type Caller, isAllowed, type Role } from '../sign-in/caller.ts';
import { notFound, type Reply, replyOfError, sendError, sendReply } from './admin-reply.ts';
import { type Checked, compileBody } from './compile-body.ts';
import { newTiming, type RequestContext, serverTimingText, signalOf } from './request-context.ts';
import { type StreamReply, sendStream } from './send-stream.ts';

/** A request of the admin API, after authentication. */
export interface AdminRequest<Body = object> {
  /** The parameters of the path. */
  readonly params: Readonly<Record<string, string>>;
  /** The validated body, or the reason why it is invalid. An empty object if the route has no body. */
  readonly body: Checked<Body>;
  readonly http: Request;
  /** Who sent the request. On a route with the role `anyone`, the caller has neither a viewer nor a session. */
  readonly caller: Caller;
  readonly context: RequestContext;
}

/** A request whose path has `{site_id}`. Its handler is called only if this site exists. Otherwise, the answer is 404. */
export interface SiteRequest<Body = object> extends AdminRequest<Body> {
  readonly site: Site;
}

/** A row of the route table. `path` is relative to /api/admin. */
export interface AdminRoute extends TableRoute {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly role: Role;
  readonly operation: AdminOperation;
  /** The schema of the body. Absent if the route has no body. */
  readonly body?: Schema;
  readonly bodyBytesMax?: number;
  /** Set if the route only queries ClickHouse for a report. `AdminDeps.reportQueue` then runs its handler. */
  readonly isReport?: true;
  /** For how long equal requests for this report get the same answer, in milliseconds. Default: `SHARED_MS` in report-queue.ts. */
  readonly sharedMs?: number;
  // A method instead of a function property, so that TypeScript lets each handler name the type of its own body, which the schema validates at run
  // time, and lets the handlers of paths with `{site_id}` expect a `SiteRequest`.
  handler(deps: AdminDeps, request: AdminRequest): Promise<Reply | StreamReply> | Reply | StreamReply;
}

export const ADMIN_BODY_BYTES_MAX = 1024 * 1024;
/**
 * A body with more levels of nesting than this does not use the report queue. The queue compares requests by their JSON text, and JSON.stringify
 * overflows the stack for a very deep body.
 */
const SHARED_LEVELS_MAX = 32;

/**
 * Mounts the routes. A path of the table gets 405 with `Allow` for all other methods, and an unknown path 404. Both answers need valid credentials.
 * Without credentials, every path gets 401, so the answers do not show which paths exist. The routes with the role `anyone` are the exception.
 */
export function mountAdminRoutes(router: Router, routes: readonly AdminRoute[], deps: AdminDeps): void {
  for (const [path, ofPath] of routesByPath(routes)) {
    const mounted = router.route(expressPath(path));
    for (const route of ofPath) {
      const readBody = route.method === 'POST' || route.method === 'PATCH' ? readJsonObject(route) : [];
      mounted[METHODS[route.method]](requireRole(route.role, deps), ...readBody, answer(route, deps));
    }
    mounted.all(requireRole('viewer', deps), methodNotAllowed(allowedMethods(ofPath)));
  }
  router.use(requireRole('viewer', deps), (_request, response) => sendError(response, 404, 'no such path'));
}

const METHODS = { GET: 'get', POST: 'post', PATCH: 'patch', DELETE: 'delete' } as const;

const ANONYMOUS: Caller = { viewer: undefined, session: undefined };
/** The callers of the requests that `requireRole` has accepted. */
const callers = new WeakMap<Request, Caller>();

/** Answers 401 without valid credentials, and 403 if the caller's role is not enough. This happens before the body is read. */
function requireRole(role: Role, { signIn }: AdminDeps): RequestHandler {
  return (request, response, next) => {
    if (role === 'anyone') return next();
    const caller = signIn.callerOf(request);
    if ('status' in caller) {
      if (caller.status === 401) response.set('WWW-Authenticate', 'Bearer');
      return sendError(response, caller.status, caller.message);
    }
    const { site_id: siteId } = request.params as Readonly<Record<string, string>>;
    if (!isAllowed(caller, role, siteId)) return sendError(response, 403, 'this token cannot be used for this call');
    callers.set(request, caller);
    return next();
  };
}

export function methodNotAllowed(allow: string): RequestHandler {
  return (request, response) => {
    response.set('Allow', allow);
    sendError(response, 405, `${request.method} is not allowed here; allowed: ${allow}`);
  };
}

function answer(route: AdminRoute, deps: AdminDeps): RequestHandler {
  const check = route.body === undefined ? (): Checked<object> => ({ value: {} }) : compileBody<object>(route.body);
  return async (http, response) => {
    const params = http.params as Readonly<Record<string, string>>;
    const caller = callers.get(http) ?? ANONYMOUS;
    const startedAt = performance.now();
    const signal = signalOf(response);
    const handle = async (context: RequestContext): Promise<Reply | StreamReply> => {
      const request: AdminRequest = { params, body: check(http.body ?? {}), http, caller, context };
      if (params.site_id === undefined) return route.handler(deps, request);
      const site = deps.registry.site(params.site_id);
      if (site === undefined) return notFound('site');
      const ofSite: SiteRequest = { ...request, site };
      return route.handler(deps, ofSite);
    };
    try {
      const {
        answer: reply,
        timing,
        isShared,
      } = await (route.isReport && !isDeeper(http.body ?? {}, SHARED_LEVELS_MAX)
        ? deps.reportQueue.ask(
            {
              text: [http.originalUrl, registryText(deps, params.site_id), JSON.stringify(http.body ?? '')].join('\n'),
              siteId: params.site_id ?? '',
              signal,
              sharedMs: route.sharedMs,
            },
            handle,
          )
        : handleAtOnce(handle, signal));
      response.set('Server-Timing', serverTimingText(timing, performance.now() - startedAt, isShared));
      if ('stream' in reply) await sendStream(response, reply, deps.logger);
      else sendReply(response, reply);
    } catch (error) {
      // The client has disconnected, so no answer is needed.
      if (signal.aborted && (error === signal.reason || isDependencyError(error) || isClosed(error))) return;
      const reply = replyOfError(error);
      // After the headers were sent, no error status can be sent: closing the connection shows the caller that the answer is incomplete.
      if (reply === undefined || response.headersSent) throw error;
      sendReply(response, reply);
    }
  };
}

/**
 * What a report reads from the registry. Requests share an answer only if these values are equal too. So the first request after a change, for
 * example after a goal was added, gets an answer that knows the change.
 */
function registryText({ registry }: AdminDeps, siteId: string | undefined): string {
  if (siteId === undefined) {
    const sites = registry.sites().map((site) => [site.siteId, site.createdAt, site.name, site.domain, site.timezone]);
    // The text of thousands of sites is long, and the queue keeps it with each answer.
    return createHash('sha256').update(JSON.stringify(sites)).digest('hex');
  }
  const site = registry.site(siteId);
  const goals = registry.goals(siteId).map(({ goalId }) => goalId);
  const funnels = registry.funnels(siteId).map(({ funnelId }) => funnelId);
  return [site?.createdAt, site?.timezone, ...goals, ...funnels].join(' ');
}

/** Whether the connection was closed before the whole answer was sent. */
function isClosed(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ERR_STREAM_UNABLE_TO_PIPE';
}

async function handleAtOnce<T>(
  handle: (context: RequestContext) => Promise<T>,
  signal: AbortSignal,
): Promise<Answered<T>> {
  const timing = newTiming();
  return { answer: await handle({ signal, timing }), timing, isShared: false };
}

/**
 * Accepts any Content-Type. This does not allow forged requests from pages of other origins. Such a page needs a CORS preflight to send the
 * Authorization header, and Weir's answers do not allow this. If its request has a session cookie, `SignIn.callerOf` refuses it.
 */
function readJsonObject({ role, bodyBytesMax = ADMIN_BODY_BYTES_MAX }: AdminRoute): RequestHandler[] {
  return [
    // A Brotli body of 51 bytes can need 46 ms of a thread that the event log also uses. Callers without credentials must not cause this.
    requireSupportedEncoding(role === 'anyone' ? 'identity' : SUPPORTED_ENCODINGS),
    express.json({ limit: bodyBytesMax, type: () => true, verify: requireUtf8 }),
    (request, response, next) => {
      const body: unknown = request.body ?? {};
      if (!isJsonObject(body)) {
        sendError(response, 400, 'the body must be a JSON object');
        return;
      }
      request.body = body;
      next();
    },
  ];
}

/**
 * `supported`: the value of the header `Accept-Encoding` of a 415. Without this check, express.json would accept zstd on Node 22.15 and later, and
 * refuse it on older versions.
 */
function requireSupportedEncoding(supported: string): RequestHandler {
  return (request, response, next) => {
    const encoding = request.get('content-encoding')?.toLowerCase() || 'identity';
    if (['identity', ...supported.split(', ')].includes(encoding)) return next();
    response.set('Accept-Encoding', supported);
    const message = supported === 'identity' ? 'the body of this call must not be compressed' : UNSUPPORTED_ENCODING;
    return sendError(response, 415, message);
  };
}

/** Express itself silently replaces invalid UTF-8 with U+FFFD. */
function requireUtf8(_request: unknown, _response: unknown, body: Buffer): void {
  if (!isUtf8(body)) throw Object.assign(new Error('invalid UTF-8'), { status: 400 });
}
