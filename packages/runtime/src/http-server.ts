import http, { type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Logger } from './logger.ts';
import { answerRefused, lastResponse, originForm, pathOf, type Refuse } from './refused-requests.ts';

/** An Express application: a listener with the prototypes of its requests and responses. */
export type HttpApp = RequestListener & { readonly request: object; readonly response: object };

export interface HttpServerOptions {
  readonly app: HttpApp;
  readonly refuse: Refuse;
  readonly host: string;
  readonly port: number;
  readonly logger: Logger;
  readonly limits?: Partial<HttpLimits>;
}

export interface HttpLimits {
  readonly headerBytesMax: number;
  readonly headersTimeoutMs: number;
  /** For the whole request, body included: a slow sender is cut off with 408. */
  readonly requestTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly connectionsMax: number;
}

const LIMITS: HttpLimits = {
  headerBytesMax: 16 * 1024,
  headersTimeoutMs: 5_000,
  requestTimeoutMs: 10_000,
  keepAliveTimeoutMs: 65_000,
  connectionsMax: 20_000,
};
const TIMEOUT_CHECK_MS = 500;
const IDLE_CHECK_MS = 25;

export interface HttpServer {
  readonly port: number;
  /** Stops accepting, lets the requests under way end (their connections close after them), and cuts the rest after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/** Listens. Rejects with the system's error (EADDRINUSE, EACCES). */
export async function startHttpServer({
  app,
  refuse,
  host,
  port,
  logger,
  limits,
}: HttpServerOptions): Promise<HttpServer> {
  const limit = { ...LIMITS, ...limits };
  let closing = false;
  const server = http.createServer({
    ...prototypesOf(app),
    maxHeaderSize: limit.headerBytesMax,
    headersTimeout: Math.min(limit.headersTimeoutMs, limit.requestTimeoutMs),
    requestTimeout: limit.requestTimeoutMs,
    keepAliveTimeout: limit.keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_MS, limit.requestTimeoutMs),
    requireHostHeader: false,
  });
  server.maxConnections = limit.connectionsMax;
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const arrived = answerRefused(server, refuse);
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    arrived(response);
    if (closing) response.shouldKeepAlive = false;
    if (request.headers.host === undefined && request.httpVersion === '1.1') {
      response.shouldKeepAlive = false;
      refuse({ response, path: pathOf(request.url ?? ''), status: 400, message: 'the Host header is missing' });
      return;
    }
    const { url = '' } = request;
    if (!url.startsWith('/')) request.url = originForm(url);
    app(request, response);
  };
  server.on('request', serve);
  // An expectation that is not known may be passed over (RFC 9110, 10.1.1).
  server.on('checkExpectation', serve);
  server.on('connect', (request, socket) => {
    socket.on('error', () => socket.destroy());
    serve(request, lastResponse(request));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, backlog: 1024 }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  // After listening there are errors of accept alone (EMFILE): the next connection may succeed.
  server.on('error', (error) => logger.error({ err: error }, 'the HTTP server could not accept'));

  return {
    port: (server.address() as AddressInfo).port,
    close(graceMs) {
      closing = true;
      return new Promise((resolve) => {
        const cut = setTimeout(() => server.closeAllConnections(), graceMs);
        // A keep-alive connection whose last answer went out after the close began is idle from then on.
        const idle = setInterval(() => {
          server.closeIdleConnections();
          // Opened ahead, as browsers do: to Node it is not idle before its first request.
          for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
        }, IDLE_CHECK_MS);
        server.close(() => {
          clearTimeout(cut);
          clearInterval(idle);
          resolve();
        });
      });
    },
  };
}

type Constructors = { IncomingMessage: typeof IncomingMessage; ServerResponse: typeof ServerResponse };

/**
 * Classes whose prototypes already are the application's own, so that Express, which sets them on every request, finds
 * nothing to change: swapping a live object's prototype costs more than all the rest of a small request.
 */
function prototypesOf(app: HttpApp): Constructors {
  function Request(this: IncomingMessage, socket: Socket): void {
    (http.IncomingMessage as unknown as (this: object, socket: Socket) => void).call(this, socket);
  }
  inheritSlots(Request, http.IncomingMessage);
  Request.prototype = app.request;
  function Response(this: ServerResponse, request: IncomingMessage, options: object): void {
    (http.ServerResponse as unknown as (this: object, request: IncomingMessage, options: object) => void).call(
      this,
      request,
      options,
    );
  }
  inheritSlots(Response, http.ServerResponse);
  Response.prototype = app.response;
  return { IncomingMessage: Request, ServerResponse: Response } as unknown as Constructors;
}

/**
 * V8 makes room in an object for as many properties as its constructor, and the ones that it inherits from, assign. A constructor
 * that inherits from none gets room for none: the thirty that Node assigns go to an array that is copied for every third of them.
 */
function inheritSlots(type: object, parent: object): void {
  Object.setPrototypeOf(type, parent);
}
