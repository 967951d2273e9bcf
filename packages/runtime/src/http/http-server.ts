import http, { type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Logger } from '../logger.ts';
import { answerRefused, lastResponse, originForm, pathOf, type Refuse } from './refused-requests.ts';

/** An Express application: a request listener with the prototypes of its requests and responses. */
export type HttpApp = RequestListener & { readonly request: object; readonly response: object };

export interface HttpServerOptions {
  readonly app: HttpApp;
  readonly refuse: Refuse;
  readonly host: string;
  readonly port: number;
  /** The path of a Unix socket on which the server listens, instead of `host` and `port`. */
  readonly path?: string;
  readonly logger: Logger;
  readonly limits?: Partial<HttpLimits>;
}

export interface HttpLimits {
  readonly headerBytesMax: number;
  readonly headersTimeoutMs: number;
  /** The time limit for receiving a whole request with its body. A slower request is answered with 408. */
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
  /** Stops accepting connections, lets requests in progress finish, and closes the remaining connections after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/** Resolves when the server listens. Rejects with the error of the system, such as EADDRINUSE or EACCES. */
export async function startHttpServer({
  app,
  refuse,
  host,
  port,
  path,
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
  // RFC 9110, 10.1.1: a server may ignore an unknown expectation.
  server.on('checkExpectation', serve);
  server.on('connect', (request, socket) => {
    socket.on('error', () => socket.destroy());
    serve(request, lastResponse(request));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ ...(path === undefined ? { port, host } : { path }), backlog: 1024 }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  // Once the server listens, the only error is a connection that cannot be accepted (EMFILE). The next connection may succeed.
  server.on('error', (error) => logger.error({ err: error }, 'the HTTP server could not accept a connection'));

  return {
    port: path === undefined ? (server.address() as AddressInfo).port : port,
    close(graceMs) {
      closing = true;
      return new Promise((resolve) => {
        const cut = setTimeout(() => server.closeAllConnections(), graceMs);
        // The connections are checked again and again, because a keep-alive connection can become idle after the close has begun.
        const idle = setInterval(() => {
          server.closeIdleConnections();
          // Browsers open connections in advance. Node does not count a connection as idle before its first request.
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
 * Returns classes of requests and responses with the prototypes of the application, so that Express need not change the prototype of each object.
 * Such a change costs more than the rest of a small request (117 µs of CPU per request, 53 µs without).
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
 * V8 reserves space in an object for the properties that its constructor and the inherited constructors assign. Without inheritance,
 * V8 reserves no space, and puts Node's thirty properties into an array that it copies at every third property.
 */
function inheritSlots(type: object, parent: object): void {
  Object.setPrototypeOf(type, parent);
}
